#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "daemon/visit.h"
#include "etlctl/commands.h"
#include "etlctl/escape.h"
#include "etlctl/format.h"
#include "etlctl/json_out.h"

namespace etl::ctl {
namespace {

std::string ReportJson(const VerifyReport& report) {
  std::vector<std::string> faults;
  for (const Error& fault : report.faults) faults.push_back(FaultJson(fault));
  JsonObject object;
  object.Bool("clean", report.fault_count == 0).Count("faultCount", report.fault_count);
  if (report.fault_count == 0) {
    object.Text("root", report.root);
  } else {
    object.Null("root");
  }
  object.Count("objects", report.objects).Count("entries", report.entries).Count("versions", report.versions);
  object.Count("groups", report.groups).Count("snapshots", report.snapshots).Count("commits", report.commits);
  return object.Raw("faults", JsonArray(faults)).Done();
}

void WriteReport(Output& out, const VerifyReport& report) {
  for (const Error& fault : report.faults) {
    out.DataLine(out.Styled("fault", Style::kBad) + "  " + Safe(fault.code) + " at " + Safe(fault.where) +
                 ": " + Safe(fault.what));
    if (!fault.fix.empty()) out.DataLine("       fix: " + Safe(fault.fix));
  }
  if (report.fault_count > report.faults.size()) {
    out.DataLine(fmt::format("       and {} more", FormatCount(report.fault_count - report.faults.size())));
  }
  Fields fields;
  fields.Add("commits", FormatCount(report.commits));
  fields.Add("snapshots", FormatCount(report.snapshots));
  fields.Add("objects", FormatCount(report.objects));
  fields.Add("entries", FormatCount(report.entries));
  fields.Add("versions", FormatCount(report.versions));
  fields.Add("groups", FormatCount(report.groups));
  if (report.fault_count == 0) {
    fields.Add("root", report.root.Text());
    fields.Add("result", Cell("clean", Style::kGood));
  } else {
    fields.Add("result", Cell(FormatCount(report.fault_count) + " faults", Style::kBad));
  }
  fields.Write(out);
}

// A line for every whole per cent at most, and only on a terminal or every few seconds elsewhere.
class RebuildProgress {
 public:
  explicit RebuildProgress(Output& out) : out_(out), next_(std::chrono::steady_clock::now()) {}
  void operator()(std::uint64_t done, std::uint64_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_ && done != total) return;
    next_ = now + (out_.talk_is_terminal() ? std::chrono::milliseconds(200) : std::chrono::seconds(3));
    out_.Talk(fmt::format("{}rebuild: {} of {} snapshots{}", out_.talk_is_terminal() ? "\r" : "",
                          FormatCount(done), FormatCount(total),
                          out_.talk_is_terminal() && done != total ? "" : "\n"));
  }

 private:
  Output& out_;
  std::chrono::steady_clock::time_point next_;
};

// The new store must not lie where the old one is read from.
Status CheckTarget(const Session& session, const RebuildOptions& options) {
  std::error_code ec;
  const auto target = std::filesystem::weakly_canonical(options.target, ec);
  const auto database = std::filesystem::weakly_canonical(session.store_dir, ec) / "db" / "";
  if (!std::filesystem::equivalent(options.target, session.store_dir, ec) &&
      !(target / "").string().starts_with(database.string()))
    return {};
  return Fail(Errc::kConflict, "REBUILD_TARGET", options.target,
              "this is the store that is to be read: a store cannot be rebuilt onto itself",
              "name a folder that does not exist");
}

}  // namespace

Result<Exit> ExportStore(Output& out, const Store& store, const ExportOptions& options) {
  AsOf as_of;
  if (!options.as_of.empty()) {
    ETL_TRY(as_of, store.ResolveAsOf(options.as_of));
  }
  ETL_CHECK_OK(store.Export(as_of, [&](std::string_view line) -> Status {
    out.Data(line);
    return out.data_failed() ? out.Finish() : Status();
  }));
  return Exit::kDone;
}

Result<Exit> VerifyStore(Output& out, const Store& store) {
  ETL_TRY(const VerifyReport report, store.Verify());
  if (out.json()) {
    out.DataLine(ReportJson(report));
  } else {
    WriteReport(out, report);
  }
  return report.fault_count == 0 ? Exit::kDone : Exit::kDamage;
}

Result<Exit> RebuildStore(const Session& session, const RebuildOptions& typed) {
  const RebuildOptions options{session.Path(typed.target)};
  ETL_CHECK_OK(CheckTarget(session, options));
  ETL_TRY(const std::shared_ptr<Store> from, session.Open(Store::Mode::kRead));
  ReplayClock clock;
  Store::Options open;
  open.mode = Store::Mode::kWrite;
  open.create = true;
  ETL_TRY(const std::unique_ptr<Store> target, Store::Open(options.target, open, clock));
  RebuildProgress progress(session.out);
  ETL_CHECK_OK(Rebuild(*from, *target, clock, progress));
  const std::string epoch = target->epoch();
  const std::uint64_t sequence = target->sequence();
  ETL_CHECK_OK(target->Close());
  if (session.out.json()) {
    session.out.DataLine(
        JsonObject().Text("target", options.target).Text("epoch", epoch).Count("sequence", sequence).Done());
  } else {
    session.out.DataLine(fmt::format("Rebuilt into {}, {}:{}. `etlctl --store {} verify` checks it.",
                                     Safe(options.target), epoch, sequence, Safe(options.target)));
  }
  return Exit::kDone;
}

}  // namespace etl::ctl
