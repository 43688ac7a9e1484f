// The real program against the loopback upstream, from start to stop.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/json.h"
#include "tests/etlctl/ctl.h"
#include "tests/support/etld_process.h"
#include "tests/support/loopback_actions.h"
#include "tests/support/loopback_upstream.h"
#include "tests/support/temp_dir.h"

namespace etl {
namespace {

namespace fs = std::filesystem;
using ctl::test::Ctl;
using ctl::test::Ran;
using test::EtldProcess;
using test::EtldSettings;
using test::LoopbackUpstream;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string Picture(int number) {
  return std::string(ETL_SOURCE_DIR) + "/fixtures/leaderboard/" + std::to_string(number);
}

class Daemon : public testing::Test {
 protected:
  explicit Daemon(int picture = 1) {
    test::LoopbackOptions options;
    options.folder = Picture(picture);
    options.etag = test::LoopbackOptions::Etag::kStrong;
    upstream_ = std::make_unique<LoopbackUpstream>(options);
  }

  std::unique_ptr<EtldProcess> Start(const std::string& more = {},
                                     std::vector<std::pair<std::string, std::string>> environment = {}) {
    test::EtldOptions options;
    options.program = ETLD_PATH;
    options.dir = dir_.path();
    options.settings = EtldSettings(dir_.path(), upstream_->base_url(), more);
    options.environment = std::move(environment);
    return std::make_unique<EtldProcess>(std::move(options));
  }
  std::unique_ptr<EtldProcess> Ready(const std::string& more = {}) {
    auto daemon = Start(more);
    EXPECT_TRUE(daemon->Notified("READY=1")) << daemon->Log();
    return daemon;
  }
  Ran Etlctl(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--store", store()});
    return Ctl(arguments);
  }
  std::string store() const { return dir_.File("store"); }
  // A member of what `etlctl sources` says of the source; numbers as their text, "" for null.
  std::string Source(std::string_view member) const {
    const Ran ran = Etlctl({"sources", "-o", "json"});
    const auto document = json::Document::Parse(ran.out);
    if (!document) return {};
    for (const json::Value source : document->root().Find("sources").elements()) {
      const json::Value value = source.Find(member);
      return std::string(value.IsString() ? value.AsString() : value.NumberText());
    }
    return {};
  }
  bool Full(EtldProcess& daemon) const {
    return daemon.Until([&] { return Source("lastVisit") == "full"; });
  }
  // What a store says that was filled by hand from these pictures, one after the other.
  std::string ExportByHand(std::initializer_list<int> pictures) {
    const std::string other = dir_.File("by-hand");
    fs::remove_all(other);
    std::ofstream(dir_.File("hand.toml")) << EtldSettings(dir_.path(), upstream_->base_url());
    for (const int picture : pictures) {
      upstream_->SetFolder(Picture(picture));
      const Ran ran =
          Ctl({"--store", other, "--config", dir_.File("hand.toml"), "poll", "--source", "sol-execbench"});
      EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    }
    return Ctl({"--store", other, "export"}).out;
  }

  test::TempDir dir_{"etld"};
  std::unique_ptr<LoopbackUpstream> upstream_;
};

TEST_F(Daemon, FollowsTheSourceAndLeavesWhatAPollByHandWould) {
  const auto daemon = Ready();
  ASSERT_TRUE(Full(*daemon)) << daemon->Log();
  for (const int picture : {2, 3}) {
    const std::string before = Etlctl({"export"}).out;
    upstream_->SetFolder(Picture(picture));
    ASSERT_TRUE(daemon->Until([&] { return Etlctl({"export"}).out != before; })) << daemon->Log();
    // One more whole visit, so that nothing of the picture is left unread.
    const std::string last = Source("lastFull");
    ASSERT_TRUE(daemon->Until([&] { return Source("lastFull") > last; })) << daemon->Log();
  }
  const std::string exported = Etlctl({"export"}).out;
  daemon->Signal(SIGTERM);
  EXPECT_EQ(daemon->Wait(), 0) << daemon->Log();
  EXPECT_EQ(exported, ExportByHand({1, 2, 3}));
  EXPECT_EQ(Etlctl({"verify"}).exit, 0);
}

TEST_F(Daemon, TellsTheServiceManagerOfItsLife) {
  const auto daemon = Ready();
  ASSERT_TRUE(Full(*daemon)) << daemon->Log();
  EXPECT_TRUE(daemon->Notified("STATUS=")) << daemon->Log();
  EXPECT_THAT(daemon->notifications().front(), StartsWith("STATUS=opening the store"));
  EXPECT_TRUE(daemon->Notified("EXTEND_TIMEOUT_USEC="));
  daemon->Signal(SIGTERM);
  EXPECT_EQ(daemon->Wait(), 0) << daemon->Log();
  EXPECT_TRUE(daemon->Notified("STOPPING=1"));
}

TEST_F(Daemon, FeedsTheWatchdogForAsLongAsItsLoopTurns) {
  const auto daemon = Start({}, {{"WATCHDOG_USEC", "300000"}});
  const auto fed = [&] {
    return std::count(daemon->notifications().begin(), daemon->notifications().end(), "WATCHDOG=1");
  };
  ASSERT_TRUE(daemon->Until([&] { return daemon->Notified("WATCHDOG=1") && fed() >= 5; })) << daemon->Log();
  daemon->Signal(SIGSTOP);
  (void)daemon->Notified("WATCHDOG=1");  // takes in what was on its way
  const auto before = fed();
  ::usleep(700'000);  // more than two times what the manager would wait
  (void)daemon->Notified("WATCHDOG=1");
  EXPECT_EQ(fed(), before);
  daemon->Signal(SIGCONT);
  ASSERT_TRUE(daemon->Until([&] { return daemon->Notified("WATCHDOG=1") && fed() > before; }));
}

TEST_F(Daemon, LetsNoOtherHoldTheStoreAndSaysWhoDoes) {
  const auto daemon = Ready();
  const test::TempDir other("etld");
  test::EtldOptions options;
  options.program = ETLD_PATH;
  options.dir = other.path();
  options.settings = EtldSettings(other.path(), upstream_->base_url());
  options.arguments = {"--store", store()};
  EtldProcess second(std::move(options));
  EXPECT_EQ(second.Wait(), 5);
  EXPECT_THAT(second.Log(), HasSubstr("STORE_LOCKED"));
  EXPECT_THAT(second.Log(), HasSubstr("etld (control " + dir_.File("control") + "), process " +
                                      std::to_string(daemon->pid()) + ", since "));
}

TEST_F(Daemon, AnswersEveryCommandAsTheStoreItselfWould) {
  const auto daemon = Ready();
  ASSERT_TRUE(Full(*daemon)) << daemon->Log();
  ASSERT_EQ(Etlctl({"pause", "sol-execbench"}).exit, 0);
  const std::vector<std::vector<std::string>> commands{
      {"export"},
      {"changes", "-o", "jsonl"},
      {"records"},
      {"ranks", "--kernel", "001_lantern_softmax_pool", "-o", "json"},
      {"quarantine", "list"},
      {"review", "list", "--all"},
      {"drift"},
      {"gaps", "-o", "json"},
      {"verify", "-o", "json"},
      {"get", "run", "nothing:at-all"},
      {"ranks"},
      {"no-such-command"},
      {"get", "run", "--help"}};
  std::vector<Ran> asked;
  for (const auto& command : commands) asked.push_back(Etlctl(command));
  daemon->Signal(SIGTERM);
  ASSERT_EQ(daemon->Wait(), 0);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const Ran alone = Etlctl(commands[i]);
    EXPECT_EQ(asked[i].exit, alone.exit) << commands[i][0];
    EXPECT_EQ(asked[i].out, alone.out) << commands[i][0];
    EXPECT_EQ(asked[i].err, alone.err) << commands[i][0];
  }
}

TEST_F(Daemon, TakesADecisionAndABackfillWhileItFollows) {
  const auto daemon = Ready();
  ASSERT_TRUE(Full(*daemon)) << daemon->Log();
  const Ran backfill = Etlctl({"backfill", "--source", "sol-execbench", "--from", Picture(1), "-o", "json"});
  EXPECT_EQ(backfill.exit, 0) << backfill.err;
  EXPECT_THAT(backfill.out, HasSubstr("\"visit\":\"full\""));
  const Ran decided = Etlctl({"review", "admit", "submission/70015", "--reason", "a test"});
  EXPECT_EQ(decided.exit, 0) << decided.err;
  EXPECT_THAT(decided.out, HasSubstr("it has rank"));
  EXPECT_EQ(Etlctl({"backup", "create", "--to", dir_.File("backups")}).exit, 0);
  daemon->Signal(SIGTERM);
  EXPECT_EQ(daemon->Wait(), 0);
  EXPECT_EQ(Etlctl({"verify"}).exit, 0);
}

TEST_F(Daemon, RemembersOverAKillThatASourceIsPaused) {
  {
    const auto daemon = Ready();
    ASSERT_TRUE(Full(*daemon)) << daemon->Log();
    ASSERT_EQ(Etlctl({"pause", "sol-execbench"}).exit, 0);
    ASSERT_TRUE(daemon->Until([&] { return Source("state") == "paused"; }));
    daemon->Signal(SIGKILL);
    EXPECT_EQ(daemon->Wait(), 128 + SIGKILL);
  }
  EXPECT_EQ(Source("state"), "paused") << "without a daemon too";
  EXPECT_THAT(Source("whatToDo"), HasSubstr("etlctl resume sol-execbench"));
  const auto daemon = Ready();
  EXPECT_EQ(Source("state"), "paused");
  EXPECT_THAT(Source("whatToDo"), HasSubstr("etlctl resume sol-execbench"));
  EXPECT_EQ(Source("lastError"), "");
  const std::size_t requests = upstream_->count();
  ASSERT_EQ(Etlctl({"resume", "sol-execbench"}).exit, 0);
  ASSERT_TRUE(daemon->Until([&] { return upstream_->count() > requests; }));
}

TEST_F(Daemon, DrainsAndGoesOn) {
  const auto daemon = Ready();
  ASSERT_TRUE(Full(*daemon));
  ASSERT_EQ(Etlctl({"drain"}).exit, 0);
  const std::size_t requests = upstream_->count();
  EXPECT_EQ(Source("state"), "draining");
  EXPECT_EQ(upstream_->count(), requests);
  ASSERT_EQ(Etlctl({"drain", "--end"}).exit, 0);
  ASSERT_TRUE(daemon->Until([&] { return upstream_->count() > requests; }));
}

TEST_F(Daemon, KeepsItsSettingsWhereNewOnesAreWrong) {
  const auto daemon = Ready();
  ASSERT_TRUE(Full(*daemon));
  const std::string file = dir_.File("etld.toml"), good = EtldSettings(dir_.path(), upstream_->base_url());
  std::ofstream(file) << good << "intervall_min_s = 5\n";
  const Ran refused = Etlctl({"reload"});
  EXPECT_EQ(refused.exit, 2);
  EXPECT_THAT(refused.err, HasSubstr("CONFIG_UNKNOWN_KEY"));
  EXPECT_THAT(refused.err, HasSubstr("interval_min_s"));
  daemon->Signal(SIGHUP);
  ASSERT_TRUE(daemon->Until(
      [&] { return daemon->Log().find("the settings are not taken up") != std::string::npos; }));
  const std::string last = Source("lastFull");
  EXPECT_TRUE(daemon->Until([&] { return Source("lastFull") > last; })) << "it goes on as before";
  std::ofstream(file) << good << "enabled = false\n";
  EXPECT_EQ(Etlctl({"reload"}).exit, 0);
  EXPECT_TRUE(daemon->Until([&] { return Source("state") == "disabled"; })) << daemon->Log();
}

TEST_F(Daemon, TakesNothingInWhileTheDiskIsNearlyFullAndGoesOnByItself) {
  const std::string tight = "[log]\nlevel = \"info\"\n";
  test::EtldOptions options;
  options.program = ETLD_PATH;
  options.dir = dir_.path();
  std::string settings = EtldSettings(dir_.path(), upstream_->base_url(), tight);
  const std::string roomy = settings;
  settings.replace(settings.find("1048576"), 7, "1099511627776");
  options.settings = settings;
  EtldProcess daemon(std::move(options));
  ASSERT_TRUE(daemon.Notified("READY=1")) << daemon.Log();
  ASSERT_TRUE(daemon.Until([&] { return Source("state") == "no space"; })) << daemon.Log();
  EXPECT_EQ(upstream_->count(), 0U);
  EXPECT_THAT(daemon.Log(), HasSubstr("nothing new is taken in"));
  EXPECT_EQ(Etlctl({"status"}).exit, 0) << "serving goes on";
  std::ofstream(dir_.File("etld.toml")) << roomy;
  ASSERT_EQ(Etlctl({"reload"}).exit, 0);
  EXPECT_TRUE(Full(daemon)) << daemon.Log();
}

TEST_F(Daemon, SaysWhatASickSourceNeedsAndTriesLater) {
  upstream_->Put("kernels", "<html>down for maintenance</html>");
  const auto daemon = Ready();
  ASSERT_TRUE(daemon->Until([&] { return !Source("lastError").empty(); })) << daemon->Log();
  EXPECT_THAT(Source("whatToDo"), HasSubstr("etlctl quarantine list"));
  upstream_->Remove("kernels");
  EXPECT_TRUE(Full(*daemon)) << daemon->Log();
  EXPECT_EQ(Source("lastError"), "");
}

TEST_F(Daemon, LogsNoSecretOfAnUpstreamOrOfItsSettings) {
  upstream_->Always("kernels", test::Redirect(302, "https://user:hunter2@example.org/kernels?token=hunter2"));
  {
    const auto daemon = Ready();
    ASSERT_TRUE(daemon->Until([&] { return !Source("lastError").empty(); })) << daemon->Log();
    EXPECT_THAT(daemon->Log(), Not(HasSubstr("hunter2")));
    EXPECT_THAT(Source("lastError"), Not(HasSubstr("hunter2")));
    daemon->Signal(SIGTERM);
    EXPECT_EQ(daemon->Wait(), 0);
  }
  fs::remove(dir_.File("log"));
  test::EtldOptions options;
  options.program = ETLD_PATH;
  options.dir = dir_.path();
  options.settings = EtldSettings(dir_.path(), "https://user:hunter2@example.org");
  EtldProcess daemon(std::move(options));
  EXPECT_EQ(daemon.Wait(), 2);
  EXPECT_THAT(daemon.Log(), HasSubstr("CONFIG_VALUE"));
  EXPECT_THAT(daemon.Log(), Not(HasSubstr("hunter2")));
}

TEST_F(Daemon, EndsAtOnceWhileTheUpstreamIsSilent) {
  upstream_->AlwaysUnder("", test::Silence());
  const auto daemon = Ready();
  ASSERT_TRUE(daemon->Until([&] { return upstream_->count() > 0; }));
  daemon->Signal(SIGTERM);
  EXPECT_EQ(daemon->Wait(), 0) << daemon->Log();
  EXPECT_THAT(daemon->Log(), HasSubstr("\"event\":\"stop\""));
  EXPECT_THAT(daemon->Log(), Not(HasSubstr("cut off")));
}

TEST_F(Daemon, LosesNothingWhenItIsKilledAgainAndAgain) {
  unsigned delay_us = 1000;
  for (int round = 0; round < 12; ++round) {
    const auto daemon = Ready();
    ::usleep(delay_us);
    delay_us = delay_us * 3 / 2;
    daemon->Signal(SIGKILL);
    EXPECT_EQ(daemon->Wait(), 128 + SIGKILL);
  }
  const auto daemon = Ready();
  ASSERT_TRUE(Full(*daemon)) << daemon->Log();
  const std::string exported = Etlctl({"export"}).out;
  EXPECT_EQ(Etlctl({"verify"}).exit, 0);
  daemon->Signal(SIGTERM);
  EXPECT_EQ(daemon->Wait(), 0);
  EXPECT_EQ(exported, ExportByHand({1}));
}

TEST_F(Daemon, TellsAMonitorWhatNeedsSomebody) {
  {
    const auto daemon = Ready();
    ASSERT_TRUE(Full(*daemon)) << daemon->Log();
    const auto listed = json::Document::Parse(Etlctl({"quarantine", "list", "-o", "json"}).out);
    ASSERT_TRUE(listed);
    for (const json::Value item : listed->root().Find("quarantine").elements()) {
      const Ran waiting = Etlctl({"status", "--check"});
      EXPECT_EQ(waiting.exit, 3);
      EXPECT_THAT(waiting.out, HasSubstr("in quarantine"));
      const std::string id(item.Find("id").AsString());
      EXPECT_EQ(Etlctl({"quarantine", "drop", id, "--reason", "a test"}).exit, 0) << id;
    }
    const Ran well = Etlctl({"status", "--check"});
    EXPECT_EQ(well.exit, 0) << well.out;
    EXPECT_EQ(well.out, "All is well.\n");
    upstream_->AlwaysUnder("", test::Reply(500));
    ASSERT_TRUE(daemon->Until([&] { return Etlctl({"status", "--check"}).exit == 3; }));
    EXPECT_THAT(Etlctl({"status", "--check"}).out, HasSubstr("visits in a row failed: kernels: HTTP_BUSY"));
    daemon->Signal(SIGTERM);
    EXPECT_EQ(daemon->Wait(), 0);
  }
  const Ran alone = Etlctl({"status", "--check", "-o", "json"});
  EXPECT_EQ(alone.exit, 3);
  EXPECT_THAT(alone.out, HasSubstr("no daemon holds the store"));
}

// The shortest time between two polls that the upstream saw, in milliseconds.
std::int64_t ShortestPauseMs(const LoopbackUpstream& upstream) {
  std::int64_t shortest = INT64_MAX;
  std::optional<std::chrono::steady_clock::time_point> last;
  for (const test::LoopbackRequest& request : upstream.log()) {
    if (request.key != "kernels") continue;
    if (last)
      shortest = std::min<std::int64_t>(
          shortest, std::chrono::duration_cast<std::chrono::milliseconds>(request.when - *last).count());
    last = request.when;
  }
  return shortest;
}

TEST_F(Daemon, NeitherStopsNorHurriesWhereTheClockIsMovedByAYear) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's runtime and a preloaded clock do not go together";
#endif
  const std::string file = dir_.File("moved");
  const auto set = [&](std::int64_t days) {
    std::ofstream(file + ".new") << days * 86'400;
    fs::rename(file + ".new", file);
  };
  set(0);
  const auto daemon = Start({}, {{"LD_PRELOAD", MOVED_CLOCK_PATH}, {"MOVED_CLOCK_FILE", file}});
  ASSERT_TRUE(daemon->Notified("READY=1")) << daemon->Log();
  ASSERT_TRUE(Full(*daemon)) << daemon->Log();
  for (const std::int64_t offset : {366, -366, 0}) {
    set(offset);
    const std::size_t before = upstream_->CountOf("kernels");
    EXPECT_TRUE(daemon->Until([&] { return upstream_->CountOf("kernels") >= before + 5; }))
        << offset << daemon->Log();
    EXPECT_EQ(Source("lastVisit"), "full") << offset << daemon->Log();
  }
  EXPECT_GE(ShortestPauseMs(*upstream_), 85) << "the interval is 100 ms, give or take a tenth";
  daemon->Signal(SIGTERM);
  EXPECT_EQ(daemon->Wait(), 0);
  EXPECT_EQ(Etlctl({"verify"}).exit, 0);
}

}  // namespace
}  // namespace etl
