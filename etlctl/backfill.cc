#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "adapters/adapter.h"
#include "config/settings.h"
#include "daemon/network.h"
#include "daemon/source_visit.h"
#include "daemon/visit.h"
#include "etlctl/commands.h"
#include "etlctl/progress.h"
#include "etlctl/settings_file.h"
#include "etlctl/visit_summary.h"
#include "fetch/http_transport.h"
#include "fetch/transport.h"
#include "model/instant.h"

namespace etl::ctl {
namespace {

Status CheckOptions(const VisitCommandOptions& options) {
  const std::string command = options.poll ? "poll" : "backfill";
  if (!options.from.empty() && !options.base_url.empty())
    return Fail(UsageError(command, "--from reads a folder, --base-url the network", "give one of the two"));
  if (options.from.empty() && !options.captured_at.empty())
    return Fail(UsageError(command,
                           "--captured-at is for saved responses; the network's are dated as they arrive",
                           "leave it out, or name a folder with --from"));
  return {};
}

// Hands a request to stop on to a transport that may be waiting for an answer.
class StopRelay {
 public:
  StopRelay(const std::atomic<bool>& stop, HttpTransport& transport)
      : thread_([&stop, &transport](const std::stop_token& done) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any wake;
          while (!done.stop_requested() && !stop)
            wake.wait_for(lock, done, std::chrono::milliseconds(50), [&] { return stop.load(); });
          if (stop) transport.Stop();
        }) {}

 private:
  std::jthread thread_;
};

// For a dry run: the store as it is, or none where there is none yet.
Result<std::shared_ptr<Store>> OpenForDryRun(const Session& session) {
  auto store = session.Open(Store::Mode::kRead);
  if (!store && store.error().code == "STORE_MISSING") return std::shared_ptr<Store>();
  return store;
}

// A folder, or the network with what hands a request to stop on to it.
struct Place {
  std::unique_ptr<Transport> folder;
  std::unique_ptr<HttpTransport> network;
  std::optional<StopRelay> relay;
  std::string Describe() const { return folder ? folder->Describe() : network->Describe(); }
};

Result<VisitOptions> OptionsFor(const Session& session, const VisitCommandOptions& command,
                                const SourceSettings& source) {
  VisitOptions visit = VisitOptionsOf(source, command.poll);
  visit.goal.kernels = command.kernels;
  visit.goal.rows_max = command.limit;
  visit.goal.follow.accept_shrunken = command.accept_shrunken;
  visit.dry_run = command.dry_run;
  visit.stop = session.stop;
  if (!command.captured_at.empty()) {
    ETL_TRY(visit.captured_at, ParseSourceInstant(command.captured_at));
  }
  return visit;
}

VisitResult VisitPlace(Adapter& adapter, Place& place, Store* store, Clock& clock, VisitOptions options) {
  if (place.network) return VisitOverNetwork(adapter, *place.network, store, clock, std::move(options));
  options.goal.local = place.folder->local();
  return RunVisit(adapter, *place.folder, store, clock, options);
}

}  // namespace

Result<Exit> RunVisitCommand(const Session& session, const VisitCommandOptions& options) {
  ETL_CHECK_OK(CheckOptions(options));
  ETL_TRY(const std::unique_ptr<Adapter> adapter, FindAdapter(options.source));
  if (options.now && session.host != nullptr) return PollNow(session, options.source);
  SettingsFile file = SettingsFileOf(session);
  ETL_TRY(const Settings settings, LoadSettingsFile(file));
  const SourceSettings source = settings.Source(options.source);
  ETL_TRY(VisitOptions visit, OptionsFor(session, options, source));
  const FetchSettings fetch =
      FetchSettingsOf(*adapter, source, options.base_url, session.store_dir + "/fetch");
  if (options.from.empty()) ETL_CHECK_OK(fetch.Validate());  // before a store is made for nothing
  Place place;
  if (!options.from.empty()) {
    ETL_TRY(place.folder, OpenFolder(session.Path(options.from)));
  }
  ETL_TRY(const std::shared_ptr<void> turn, session.HoldSource(options.source));
  ETL_TRY(const std::shared_ptr<Store> store,
          options.dry_run ? OpenForDryRun(session) : session.Open(Store::Mode::kWrite, true));
  if (!place.folder) {
    ETL_TRY(place.network, OpenHttp(fetch, session.clock));
    place.relay.emplace(*session.stop, *place.network);
  }
  ProgressLine progress(session.out);
  visit.progress = [&](const VisitProgress& now) { progress.Update(now); };
  const VisitResult result = VisitPlace(*adapter, place, store.get(), session.clock, std::move(visit));
  progress.Clear();
  Status closed = store ? session.Close(*store) : Status();
  if (session.out.json()) {
    session.out.DataLine(result.Json());
  } else {
    WriteVisitSummary(session.out, result, place.Describe());
  }
  if (result.failure) Report(session.out, *result.failure);
  const Exit exit = ExitForVisit(result, *session.stop);
  if (!closed && exit == Exit::kDone) return Fail(std::move(closed).error());
  return exit;
}

}  // namespace etl::ctl
