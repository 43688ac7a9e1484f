// The real program with its store on a small disk, which the test fills and empties.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/json.h"
#include "tests/etlctl/ctl.h"
#include "tests/support/etld_process.h"
#include "tests/support/loopback_upstream.h"
#include "tests/support/temp_dir.h"

namespace etl {
namespace {

namespace fs = std::filesystem;
using ctl::test::Ctl;
using ctl::test::Ran;
using test::EtldProcess;
using ::testing::HasSubstr;

// A tmpfs that only the daemon sees at its store's place; the test reaches it by way of /proc.
class SmallDisk : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("unshare --mount true 2>/dev/null") != 0)
      GTEST_SKIP() << "needs the right to mount a small disk (root)";
    test::LoopbackOptions options;
    options.folder = std::string(ETL_SOURCE_DIR) + "/fixtures/leaderboard/1";
    upstream_ = std::make_unique<test::LoopbackUpstream>(options);
    fs::create_directories(store());
    test::EtldOptions etld;
    etld.program = ETLD_PATH;
    etld.dir = dir_.path();
    etld.settings = test::EtldSettings(dir_.path(), upstream_->base_url());
    const std::string script = "mount -t tmpfs -o size=12m none '" + store() + "' && exec \"$@\"";
    etld.wrapper = {"unshare", "--mount", "sh", "-c", script, "sh"};
    daemon_ = std::make_unique<EtldProcess>(std::move(etld));
    ASSERT_TRUE(daemon_->Notified("READY=1")) << daemon_->Log();
    ASSERT_TRUE(daemon_->Until([&] { return Source("lastVisit") == "full"; })) << daemon_->Log();
  }
  std::string store() const { return dir_.File("store"); }
  // The disk as the daemon sees it.
  std::string Disk() const { return "/proc/" + std::to_string(daemon_->pid()) + "/root" + store(); }
  // Leaves this much free.
  void FillTo(std::uint64_t free) const {
    const std::uint64_t now = fs::space(Disk()).available;
    std::ofstream filler(Disk() + "/filler", std::ios::app);
    if (now > free) filler << std::string(now - free, 'x');
  }
  void Empty() const { fs::remove(Disk() + "/filler"); }
  void Grow() const {
    const std::string command = "nsenter --mount --target " + std::to_string(daemon_->pid()) +
                                " mount -o remount,size=256m '" + store() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  // Over the control socket, whose store is where this process does not see it.
  Ran Etlctl(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--store", Disk()});
    return Ctl(arguments);
  }
  std::string Source(std::string_view member) const {
    const auto document = json::Document::Parse(Etlctl({"sources", "-o", "json"}).out);
    if (!document) return {};
    for (const json::Value source : document->root().Find("sources").elements())
      return std::string(source.Find(member).AsString());
    return {};
  }

  test::TempDir dir_{"disk"};
  std::unique_ptr<test::LoopbackUpstream> upstream_;
  std::unique_ptr<EtldProcess> daemon_;
};

TEST_F(SmallDisk, NearlyFullPausesWhatIsTakenInAndNothingElse) {
  FillTo(500'000);
  ASSERT_TRUE(daemon_->Until([&] { return Source("state") == "no space"; })) << daemon_->Log();
  upstream_->SetFolder(std::string(ETL_SOURCE_DIR) + "/fixtures/leaderboard/2");
  EXPECT_EQ(Etlctl({"export"}).exit, 0);
  EXPECT_EQ(Etlctl({"verify"}).exit, 0);
  Empty();
  const std::string before = Source("lastFull");
  ASSERT_TRUE(daemon_->Until([&] { return Source("lastFull") > before; })) << daemon_->Log();
  EXPECT_EQ(Etlctl({"verify"}).exit, 0);
  daemon_->Signal(SIGTERM);
  EXPECT_EQ(daemon_->Wait(), 0) << daemon_->Log();
}

// Somebody else fills the disk to the last byte between two looks at it.
TEST_F(SmallDisk, FullToTheLastByteLosesNothingAndIsGotOver) {
  ASSERT_EQ(Etlctl({"pause", "sol-execbench"}).exit, 0);
  upstream_->SetFolder(std::string(ETL_SOURCE_DIR) + "/fixtures/leaderboard/2");
  FillTo(0);
  const Ran poll = Etlctl({"poll", "--source", "sol-execbench"});
  EXPECT_NE(poll.exit, 0) << poll.out;
  EXPECT_THAT(poll.out + poll.err, HasSubstr("STORE_WRITE"));
  EXPECT_EQ(Etlctl({"export"}).exit, 0) << "what is there is served";
  Empty();
  Grow();  // RocksDB waits for room for a memtable
  ASSERT_TRUE(daemon_->Until([&] {
    return Etlctl({"poll", "--source", "sol-execbench"}).exit == 0;
  })) << daemon_->Log();
  const Ran verified = Etlctl({"verify"});
  EXPECT_EQ(verified.exit, 0) << verified.out;
  const std::string exported = Etlctl({"export"}).out;
  daemon_->Signal(SIGTERM);
  EXPECT_EQ(daemon_->Wait(), 0) << daemon_->Log();
}

}  // namespace
}  // namespace etl
