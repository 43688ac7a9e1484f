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
#include "daemon/visit.h"
#include "etlctl/commands.h"
#include "etlctl/json_out.h"
#include "etlctl/progress.h"
#include "etlctl/stop_signal.h"
#include "etlctl/visit_summary.h"
#include "fetch/http_transport.h"
#include "fetch/transport.h"
#include "model/instant.h"

namespace etl::ctl {
namespace {

constexpr std::string_view kSettingsFile = "/etc/etld/etld.toml";

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

// The named file, else $ETL_CONFIG, else the usual one where it is there.
Result<Settings> SettingsOf(const Session& session) {
  const Environment environment = ProcessEnvironment();
  std::string file = session.settings_file;
  if (file.empty()) file = environment("ETL_CONFIG").value_or("");
  if (!file.empty()) return LoadSettings(file, environment);
  auto usual = LoadSettings(std::string(kSettingsFile), environment);
  if (!usual && usual.error().code == "CONFIG_MISSING") return ParseSettings("", "", environment);
  return usual;
}

// Hands a request to stop on to a transport that may be waiting for an answer.
class StopRelay {
 public:
  StopRelay(const StopSignal& signal, HttpTransport& transport)
      : thread_([&signal, &transport](const std::stop_token& done) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any wake;
          while (!done.stop_requested() && !signal.stopped())
            wake.wait_for(lock, done, std::chrono::milliseconds(50), [&] { return signal.stopped(); });
          if (signal.stopped()) transport.Stop();
        }) {}

 private:
  std::jthread thread_;
};

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

std::string NetworkJson(const HostReport& report) {
  JsonObject object;
  object.Text("host", report.host)
      .Count("requests", report.requests)
      .Count("retries", report.retries)
      .Count("notModified", report.not_modified)
      .Count("failures", report.failures)
      .Count("wireBytes", report.wire_bytes)
      .Count("bodyBytes", report.body_bytes)
      .Text("breaker", ToString(report.breaker));
  if (report.breaker != BreakerState::kClosed) object.Text("breakerUntil", report.breaker_until);
  return object.Text("lastError", report.last_error).Done();
}

}  // namespace

Result<Exit> RunVisitCommand(const Session& session, const VisitCommandOptions& options) {
  ETL_CHECK_OK(CheckOptions(options));
  ETL_TRY(const std::unique_ptr<Adapter> adapter, FindAdapter(options.source));
  ETL_TRY(const Settings settings, SettingsOf(session));
  const SourceSettings source = settings.Source(options.source);
  VisitOptions visit;
  visit.goal.kernels = options.kernels;
  visit.goal.rows_max = options.limit;
  visit.goal.poll = options.poll;
  visit.goal.leaderboards = !options.poll;
  visit.goal.follow = RulesOf(source.poll);
  visit.goal.follow.accept_shrunken = options.accept_shrunken;
  visit.unconditional_every = static_cast<std::uint64_t>(source.poll.unconditional_every);
  visit.dry_run = options.dry_run;
  if (!options.captured_at.empty()) {
    ETL_TRY(visit.captured_at, ParseSourceInstant(options.captured_at));
  }
  const FetchSettings fetch =
      FetchSettingsOf(*adapter, source, options.base_url, session.store_dir + "/fetch");
  if (options.from.empty()) ETL_CHECK_OK(fetch.Validate());  // before a store is made for nothing
  const StopSignal stop;
  std::unique_ptr<Transport> folder;
  if (!options.from.empty()) {
    ETL_TRY(folder, OpenFolder(options.from));
  }
  ETL_TRY(const std::unique_ptr<Store> store,
          options.dry_run ? OpenForDryRun(session) : session.Open(Store::Mode::kWrite, true));
  std::unique_ptr<HttpTransport> network;
  std::optional<StopRelay> relay;
  if (!folder) {
    ETL_TRY(network, OpenHttp(fetch, session.clock));
    relay.emplace(stop, *network);
  }
  Transport& transport = folder ? *folder : *network;
  visit.goal.local = transport.local();
  visit.goal.window = transport.live();

  ProgressLine progress(session.out);
  visit.progress = [&](const VisitProgress& now) { progress.Update(now); };
  visit.stop = stop.flag();
  const VisitResult result = RunVisit(*adapter, transport, store.get(), session.clock, visit);
  progress.Clear();

  if (network && store && !options.dry_run && !result.failure) {
    // For `status`; a store that cannot take it any more has said so in the result.
    (void)store->PutCursor(options.source, {"network", NetworkJson(network->Report())}, session.clock.Now());
  }
  Status closed = store ? store->Close() : Status();
  if (session.out.json()) {
    session.out.DataLine(result.Json());
  } else {
    WriteVisitSummary(session.out, result, transport.Describe());
  }
  if (result.failure) Report(session.out, *result.failure);
  const Exit exit = ExitForVisit(result, stop.stopped());
  if (!closed && exit == Exit::kDone) return Fail(std::move(closed).error());
  return exit;
}

}  // namespace etl::ctl
