#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "adapters/adapter.h"
#include "daemon/visit.h"
#include "etlctl/commands.h"
#include "etlctl/progress.h"
#include "etlctl/stop_signal.h"
#include "etlctl/visit_summary.h"
#include "fetch/transport.h"
#include "model/instant.h"

namespace etl::ctl {
namespace {

Status CheckOptions(const BackfillOptions& options) {
  if (options.from.empty()) {
    return Fail(UsageError(
        "backfill", "--from DIR is needed: this build reads saved responses, not the network",
        "save the source's answers into a folder (kernels.json, kernels/ID.json, submissions/ID.json) "
        "and name it with --from"));
  }
  return {};
}

Result<std::unique_ptr<Adapter>> FindAdapter(const std::string& slug) {
  std::unique_ptr<Adapter> adapter = MakeAdapter(slug);
  if (adapter) return adapter;
  return Fail(Errc::kInvalid, "SOURCE_UNKNOWN", slug, "there is no source of this name",
              fmt::format("sources: {}", fmt::join(AdapterSlugs(), ", ")));
}

// For a dry run: the store as it is, or none where there is none yet.
Result<std::unique_ptr<Store>> OpenForDryRun(const Session& session) {
  auto store = session.Open(Store::Mode::kRead);
  if (!store && store.error().code == "STORE_MISSING") return std::unique_ptr<Store>();
  return store;
}

}  // namespace

Result<Exit> Backfill(const Session& session, const BackfillOptions& options) {
  ETL_CHECK_OK(CheckOptions(options));
  ETL_TRY(const std::unique_ptr<Adapter> adapter, FindAdapter(options.source));
  VisitOptions visit;
  visit.goal.kernels = options.kernels;
  visit.goal.rows_max = options.limit;
  visit.dry_run = options.dry_run;
  if (!options.captured_at.empty()) {
    ETL_TRY(visit.captured_at, ParseSourceInstant(options.captured_at));
  }
  ETL_TRY(const std::unique_ptr<Transport> transport, OpenFolder(options.from));
  visit.goal.local = transport->local();
  ETL_TRY(const std::unique_ptr<Store> store,
          options.dry_run ? OpenForDryRun(session) : session.Open(Store::Mode::kWrite, true));

  const StopSignal stop;
  ProgressLine progress(session.out);
  visit.progress = [&](const VisitProgress& now) { progress.Update(now); };
  visit.stop = stop.flag();
  const VisitResult result = RunVisit(*adapter, *transport, store.get(), session.clock, visit);
  progress.Clear();

  Status closed = store ? store->Close() : Status();
  if (session.out.json()) {
    session.out.DataLine(result.Json());
  } else {
    WriteVisitSummary(session.out, result, transport->Describe());
  }
  if (result.failure) Report(session.out, *result.failure);
  const Exit exit = ExitForVisit(result, stop.stopped());
  if (!closed && exit == Exit::kDone) return Fail(std::move(closed).error());
  return exit;
}

}  // namespace etl::ctl
