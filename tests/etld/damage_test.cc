// The real program over a store with a damaged file: what verifies is served, the rest is named.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/visit.h"
#include "store/store.h"
#include "tests/etlctl/ctl.h"
#include "tests/support/etld_process.h"
#include "tests/support/temp_dir.h"

namespace etl {
namespace {

namespace fs = std::filesystem;
using ctl::test::Ctl;
using ctl::test::Ran;
using test::EtldProcess;
using ::testing::HasSubstr;

class DamagedFile : public testing::Test {
 protected:
  void SetUp() override {
    const std::string pictures = std::string(ETL_SOURCE_DIR) + "/fixtures/leaderboard/";
    ASSERT_EQ(
        Ctl({"backfill", "--source", "sol-execbench", "--from", pictures + "1", "--store", store()}).exit, 0);
    SystemClock clock;
    Store::Options options;
    options.mode = Store::Mode::kWrite;
    const auto opened = Store::Open(store(), options, clock);
    ASSERT_TRUE(opened) << opened.error().Message();
    ASSERT_TRUE((*opened)->Compact());
    ASSERT_TRUE((*opened)->Close());
  }
  std::string store() const { return dir_.File("store"); }
  // The largest table of the database.
  std::string Table() const {
    fs::path largest;
    for (const auto& file : fs::directory_iterator(store() + "/db"))
      if (file.path().extension() == ".sst" && (largest.empty() || file.file_size() > fs::file_size(largest)))
        largest = file.path();
    return largest.string();
  }
  void Flip(const std::string& path, std::uintmax_t at) const {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 0x10));
  }
  test::EtldOptions Options() const {
    test::EtldOptions options;
    options.program = ETLD_PATH;
    options.dir = dir_.path();
    options.settings = test::EtldSettings(dir_.path(), "http://127.0.0.1:9", "enabled = false\n");
    return options;
  }
  Ran Etlctl(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--store", store()});
    return Ctl(arguments);
  }
  test::TempDir dir_{"damage"};
};

TEST_F(DamagedFile, IsNamedWhileAllElseIsServed) {
  const std::string table = Table();
  ASSERT_FALSE(table.empty());
  Flip(table, fs::file_size(table) / 2);
  EtldProcess daemon(Options());
  ASSERT_TRUE(daemon.Notified("READY=1")) << daemon.Log();
  EXPECT_EQ(Etlctl({"status"}).exit, 0);
  EXPECT_EQ(Etlctl({"sources"}).exit, 0);
  // Walks from both ends of the keys: at least one of these lists lies in blocks that are whole.
  int served = 0;
  for (const std::vector<std::string>& command : {std::vector<std::string>{"changes", "--limit", "5"},
                                                  {"records", "--top", "5"},
                                                  {"drift"},
                                                  {"gaps"},
                                                  {"quarantine", "list"}})
    served += Etlctl(command).exit == 0 ? 1 : 0;
  EXPECT_GE(served, 3);
  const Ran verified = Etlctl({"verify"});
  EXPECT_EQ(verified.exit, 6) << verified.out;
  EXPECT_THAT(verified.out + verified.err, HasSubstr(fs::path(table).filename().string()));
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait(), 0) << daemon.Log();
}

TEST_F(DamagedFile, ThatKeepsTheStoreFromOpeningIsAnExitThatIsNotTriedAgain) {
  fs::remove(Table());
  EtldProcess daemon(Options());
  EXPECT_EQ(daemon.Wait(), 6) << daemon.Log();
  EXPECT_THAT(daemon.Log(), HasSubstr("STORE_DAMAGED"));
}

}  // namespace
}  // namespace etl
