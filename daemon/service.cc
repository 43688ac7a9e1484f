#include "daemon/service.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <spdlog/fmt/fmt.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "adapters/adapter.h"
#include "config/settings.h"
#include "daemon/health.h"
#include "daemon/http_server.h"
#include "daemon/intake.h"
#include "daemon/listen.h"
#include "daemon/log.h"
#include "daemon/metrics.h"
#include "daemon/notify.h"
#include "daemon/polling.h"
#include "daemon/visit.h"
#include "serve/site.h"

namespace etl {
namespace {

constexpr std::int64_t kStopMs = 1300;      // for visits and commands to end, of the two seconds
constexpr std::int64_t kHttpStopMs = 300;   // of those, for answers on their way
constexpr std::int64_t kTickMaxMs = 5'000;  // the loop turns at least this often
constexpr std::int64_t kBusyTickMs = 1000;  // and this often while visits run, to watch the disk
constexpr std::int64_t kExtendMs = 15'000;  // how much longer a start is said to take, each time
constexpr int kExtendTimes = 360;           // half an hour at a third of that
constexpr std::uint64_t kResumeShare = 10;  // ingestion resumes a tenth above the reserve

Steady SteadyNow() {
  struct timespec now {};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return {std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000};
}

std::uint64_t FreeBytes(const std::string& dir) {
  struct statvfs disk {};
  if (::statvfs(dir.c_str(), &disk) != 0) return UINT64_MAX;  // its own failure will be told by who writes
  return std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

// Tells the service manager, while it lives, that the start goes on.
class StartExtender {
 public:
  StartExtender()
      : thread_([](const std::stop_token& done) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any wake;
          for (int i = 0; i < kExtendTimes && !done.stop_requested(); ++i) {
            notify::ExtendTimeout(kExtendMs);
            wake.wait_for(lock, done, std::chrono::milliseconds(kExtendMs / 3), [] { return false; });
          }
        }) {}

 private:
  std::jthread thread_;
};

// What only a new start takes up.
std::vector<std::string> NeedingRestart(const Settings& before, const Settings& after) {
  std::vector<std::string> keys;
  const auto differ = [&](bool same, const char* key) {
    if (!same) keys.emplace_back(key);
  };
  differ(before.store == after.store, "[store] dir");
  differ(before.control == after.control, "[control]");
  differ(before.serve == after.serve, "[serve]");
  differ(before.log.format == after.log.format, "[log] format");
  return keys;
}

class Service {
 public:
  Service(ServiceOptions options, Settings settings, const CommandRunner& runner)
      : options_(std::move(options)),
        settings_(std::move(settings)),
        runner_(runner),
        signals_(io_),
        timer_(io_),
        site_(serve::SiteHooks{[this] { return MetricsText(); }, [this] { return NotReady(); }}),
        metrics_(ETL_VERSION) {}

  Log& OpenLog() {
    log_ = Log::Open(settings_.log, clock_, stderr);
    return *log_;
  }

  Status Start() {
    notify::Status("opening the store");
    // First, so that it can be asked how the start goes on. Where a daemon holds the store too, that says
    // more than its port.
    const Status listening = Listen();
    if (!listening && (listening.error().code != "SERVE_IN_USE" || Store::WriterOf(StoreDir()).empty()))
      return listening;
    Store::Options open;
    open.mode = Store::Mode::kWrite;
    open.create = true;
    open.holder = "etld (control " + settings_.control.socket + ")";
    {
      const StartExtender extender;
      ETL_TRY(store_, Store::Open(StoreDir(), open, clock_));
    }
    ETL_CHECK_OK(listening);
    Polling::Parts parts;
    parts.store = store_.get();
    parts.clock = &clock_;
    parts.log = log_.get();
    parts.steady = SteadyNow;
    parts.wake = [this] { Wake(); };
    parts.seed = std::random_device()();
    parts.visited = [this](const VisitResult& result, const std::optional<HostReport>& network) {
      metrics_.Visit(result, network);
    };
    polling_ = std::make_unique<Polling>(std::move(parts));
    ETL_CHECK_OK(polling_->Configure(settings_));
    ControlOptions control;
    control.path = settings_.control.socket;
    control.access = {::geteuid(), settings_.control.read_group, settings_.control.admin_group};
    ETL_TRY(control_,
            ControlServer::Listen(control, [this](ControlSession& session) { return Serve(session); }));
    started_ = true;
    site_.SetStore(store_.get());
    return {};
  }

  void Loop() {
    log_->Write(LogLevel::kInfo, "start",
                fmt::format("serving {} at {}:{}", store_->dir(), store_->epoch(), store_->sequence()),
                {{"version", ETL_VERSION},
                 {"store", store_->dir()},
                 {"control", settings_.control.socket},
                 {"listen", listen_}});
    // Only now: until here there is nothing that could be lost, and the default of SIGTERM ends a long
    // recovery at once.
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) signals_.add(signal);
    notify::Ready(StatusLine());
    AwaitSignal();
    Turn();
    io_.run();
  }

  // Everything that was taken in is durable afterwards. What does not end in time is cut off, and loses
  // nothing: commits are whole.
  int Stop() {
    notify::Stopping();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kStopMs);
    if (polling_) polling_->Stop();
    bool ended = !http_ || http_->Stop(kHttpStopMs);
    ended = (!control_ || control_->Stop(kStopMs - kHttpStopMs)) && ended;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    ended = (!polling_ || polling_->WaitForEnd(std::max<std::int64_t>(left.count(), 50))) && ended;
    const Status durable = store_->Sync();
    if (!durable) log_->Write(LogLevel::kError, "stop", durable.error().Message());
    log_->Write(LogLevel::kInfo, "stop", fmt::format("stopped at {}:{}", store_->epoch(), store_->sequence()),
                {{"complete", ended ? "yes" : "a visit or a command was cut off"}});
    const int exit = durable ? 0 : 1;
    if (!ended) ::_exit(exit);  // threads still use what would be taken away
    started_ = false;
    http_.reset();
    polling_.reset();
    const Status closed = store_->Close();
    return closed ? exit : 1;
  }

 private:
  friend class Host;

  std::string StoreDir() const {
    return options_.store_dir.empty() ? settings_.store.dir : options_.store_dir;
  }

  Status Listen() {
    const ServeSettings& serve = settings_.serve;
    ListeningSocket socket = TakeInherited("api");
    if (socket.fd() < 0) {
      ETL_TRY(socket, ListenOn(serve.listen_address, static_cast<std::uint16_t>(serve.listen_port)));
    }
    listen_ = socket.Address();
    HttpOptions options;
    options.connections_max = static_cast<std::size_t>(serve.connections_max);
    options.request_deadline_ms = static_cast<std::int64_t>(serve.request_deadline_s * 1000);
    ETL_TRY(http_,
            HttpServer::Start(
                std::move(socket), options,
                [this](const serve::Request& request) { return site_.Answer(request); },
                [this] { return site_.version(); }, [this](const HttpDone& done) { metrics_.Http(done); }));
    http_started_ = true;
    return {};
  }

  // Both on threads of the HTTP server, which may ask before the start is over.
  std::vector<std::string> NotReady() {
    if (!started_) return {"the store is being opened"};
    const std::lock_guard lock(settings_mutex_);
    return NotReadyReasons(polling_->Report(), settings_, no_space_, clock_.Now());
  }
  std::string MetricsText() {
    MetricsFacts facts;
    facts.now = clock_.Now();
    facts.intake_pending = Intake::PendingEverywhere();
    if (http_started_) {
      facts.http_connections = http_->connections();
      facts.http_in_flight = http_->in_flight();
      facts.http_accepted = http_->accepted();
      facts.http_turned_away = http_->turned_away();
    }
    if (started_) {
      facts.sources = polling_->Report();
      facts.epoch = store_->epoch();
      facts.sequence = store_->sequence();
      facts.store = store_->Health();
      facts.disk_free_bytes = FreeBytes(store_->dir());
      facts.ingestion_paused = no_space_;
      const std::lock_guard lock(settings_mutex_);
      facts.disk_reserve_bytes = static_cast<std::uint64_t>(settings_.disk.reserve_bytes);
    }
    return metrics_.Text(facts);
  }

  void Wake() {
    boost::asio::post(io_, [this] { timer_.cancel(); });
  }

  void AwaitSignal() {
    signals_.async_wait([this](const boost::system::error_code& error, int signal) {
      if (error) return;
      if (signal != SIGHUP) {
        io_.stop();
        return;
      }
      notify::Reloading();
      (void)Reload();  // what is wrong is in the log; the old settings go on
      notify::Ready(StatusLine());
      AwaitSignal();
    });
  }

  // One turn of the working loop: it feeds the watchdog as the last of its work, and only while the visits
  // show that they live.
  void Turn() {
    const Steady now = SteadyNow();
    WatchDisk();
    if (store_->failed() && !no_space_ && now.ms >= resume_after_.ms) Resume(now);
    const Steady next = polling_->Tick(no_space_);
    if (polling_->Stalled()) {
      log_->Write(LogLevel::kError, "stalled", "a visit shows no sign of life; the watchdog is not fed");
    } else {
      notify::Watchdog();
    }
    if (const std::string line = StatusLine(); line != status_line_) {
      status_line_ = line;
      notify::Status(line);
    }
    std::int64_t wait_ms = std::min(next.ms - now.ms, polling_->running() > 0 ? kBusyTickMs : kTickMaxMs);
    if (const std::int64_t watchdog_ms = notify::WatchdogMs(); watchdog_ms > 0)
      wait_ms = std::min(wait_ms, watchdog_ms / 3);
    timer_.expires_after(std::chrono::milliseconds(std::max<std::int64_t>(wait_ms, 1)));
    timer_.async_wait([this](const boost::system::error_code&) { Turn(); });
  }

  void WatchDisk() {
    std::uint64_t reserve = 0;
    {
      const std::lock_guard lock(settings_mutex_);
      reserve = static_cast<std::uint64_t>(settings_.disk.reserve_bytes);
    }
    const std::uint64_t free = FreeBytes(store_->dir());
    const bool before = no_space_;
    no_space_ = free < (before ? reserve + reserve / kResumeShare : reserve);
    if (no_space_ == before) return;
    log_->Write(no_space_ ? LogLevel::kError : LogLevel::kInfo, "disk",
                no_space_ ? "too little free space: nothing new is taken in, serving goes on"
                          : "there is free space again: ingestion goes on",
                {{"freeBytes", std::to_string(free)}, {"reserveBytes", std::to_string(reserve)}});
  }

  // A write failed since; what it was that failed it may be gone. RocksDB wants room for a memtable before
  // it writes again after a full disk.
  void Resume(Steady now) {
    resume_after_.ms = now.ms + kBusyTickMs;
    const Status resumed = store_->Resume();
    log_->Write(resumed ? LogLevel::kInfo : LogLevel::kError, "resume",
                resumed ? "the store takes writes again" : resumed.error().Message());
  }

  std::string StatusLine() const {
    std::string line = fmt::format("{}:{}", store_->epoch(), store_->sequence());
    for (const SourceReport& source : polling_->Report())
      line += fmt::format("; {} {}{}", source.source, source.state,
                          source.last_visit.empty() ? "" : ", last visit " + source.last_visit);
    return line;
  }

  // Any thread.
  Result<std::vector<std::string>> Reload() {
    const std::lock_guard reloading(reload_mutex_);
    auto loaded = LoadServiceSettings(options_);
    Status taken;
    if (!loaded) {
      taken = Fail(loaded.error());
    } else {
      taken = polling_->Configure(*loaded);
    }
    if (!taken) {
      log_->Write(LogLevel::kError, "reload", "the settings are not taken up: " + taken.error().Message());
      return Fail(taken.error());
    }
    const std::lock_guard lock(settings_mutex_);
    const std::vector<std::string> later = NeedingRestart(settings_, *loaded);
    settings_ = *std::move(loaded);
    log_->SetLevel(settings_.log.level);
    log_->Write(LogLevel::kInfo, "reload", "the settings are taken up",
                {{"afterRestart", fmt::format("{}", fmt::join(later, ", "))}});
    Wake();
    return later;
  }

  int Serve(ControlSession& session);

  ServiceOptions options_;
  std::mutex reload_mutex_, settings_mutex_;
  Settings settings_;  // settings_mutex_, once started
  const CommandRunner& runner_;
  SystemClock clock_;
  boost::asio::io_context io_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer timer_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Polling> polling_;
  std::unique_ptr<ControlServer> control_;
  std::atomic<bool> no_space_{false};
  Steady resume_after_;
  std::atomic<bool> started_{false}, http_started_{false};  // what they name may be used
  serve::Site site_;
  Metrics metrics_;
  std::string listen_;                // address that the API answers on
  std::unique_ptr<HttpServer> http_;  // asks all of the above: goes first
  std::string status_line_;
};

// The daemon, as one command sees it.
class Host final : public CommandHost {
 public:
  Host(Service& service, ControlSession& session) : service_(service), session_(session) {}

  Store& store() override { return *service_.store_; }
  const std::atomic<bool>& stop() const override { return session_.stop(); }
  std::string user() const override { return UserNameOf(session_.peer().uid); }
  bool may_change() const override { return session_.access() == Access::kChange; }
  std::string settings_file() const override { return service_.options_.settings_file; }
  Result<std::shared_ptr<void>> HoldSource(const std::string& source) override {
    return service_.polling_->turns().Take(source, session_.stop());
  }
  std::vector<SourceReport> Sources() override { return service_.polling_->Report(); }
  Status PollNow(const std::string& source) override { return service_.polling_->PollNow(source); }
  Status Pause(const std::string& source) override { return service_.polling_->Pause(source); }
  Status Resume(const std::string& source) override { return service_.polling_->Resume(source); }
  Result<std::vector<std::string>> Reload() override { return service_.Reload(); }
  Status Drain(bool on) override {
    service_.polling_->Drain(on);
    while (on && service_.polling_->running() > 0) {
      if (session_.stop())
        return Fail(Errc::kStopped, "STOPPED", "drain", "told to stop while visits were still under way",
                    "the daemon drains on; see `etlctl sources`");
      (void)service_.polling_->WaitForEnd(50);
    }
    return on ? service_.store_->Sync() : Status();
  }

 private:
  Service& service_;
  ControlSession& session_;
};

int Service::Serve(ControlSession& session) {
  Host host(*this, session);
  return runner_(host, session);
}

}  // namespace

Result<Settings> LoadServiceSettings(const ServiceOptions& options) {
  const Environment environment = ProcessEnvironment();
  auto settings = LoadSettings(options.settings_file, environment, nullptr, AdapterSlugs());
  if (!settings && settings.error().code == "CONFIG_MISSING" && !options.settings_named)
    settings = ParseSettings("", "", environment);
  if (settings) ETL_CHECK_OK(Polling::Check(*settings));
  return settings;
}

int ServiceExit(const Error& error) {
  if (error.code == "STORE_LOCKED" || error.code == "CONTROL_IN_USE" || error.code == "SERVE_IN_USE")
    return 5;
  if (error.errc == Errc::kCorrupt || error.code == "STORE_FORMAT") return 6;
  if (error.errc == Errc::kInvalid || error.code == "CONFIG_MISSING") return 2;
  return 1;
}

int RunService(const ServiceOptions& options, const CommandRunner& runner) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);   // until there is something to reload
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the size limit is an error of its write, told like any other
  auto settings = LoadServiceSettings(options);
  if (!settings) {
    std::fprintf(stderr, "etld: %s\n", settings.error().Message().c_str());
    notify::Status(settings.error().Message());
    return ServiceExit(settings.error());
  }
  Service service(options, *std::move(settings), runner);
  Log& log = service.OpenLog();
  if (const Status started = service.Start(); !started) {
    log.Write(LogLevel::kError, "start", started.error().Message(), {{"code", started.error().code}});
    notify::Status(started.error().Message());
    return ServiceExit(started.error());
  }
  service.Loop();
  return service.Stop();
}

}  // namespace etl
