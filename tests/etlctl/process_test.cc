// What only a process of its own can show: exit statuses, signals, other holders, a damaged disk.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "daemon/visit.h"
#include "etlctl/stop_signal.h"
#include "store/store.h"
#include "tests/etlctl/ctl.h"
#include "tests/support/temp_dir.h"

namespace etl::ctl {
namespace {

namespace fs = std::filesystem;
using test::Ctl;
using test::Ran;
using ::testing::HasSubstr;

const std::string kExample = std::string(ETL_SOURCE_DIR) + "/fixtures/leaderboard/1";

// The program itself, by a shell; standard output only.
Ran Program(const std::string& arguments) {
  Ran ran;
  std::FILE* pipe = ::popen((std::string(ETLCTL_PATH) + " " + arguments).c_str(), "r");
  if (pipe == nullptr) return ran;
  char block[4096];
  while (const std::size_t got = std::fread(block, 1, sizeof(block), pipe)) ran.out.append(block, got);
  const int status = ::pclose(pipe);
  ran.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

void Fill(const std::string& store) {
  const Ran ran = Ctl({"backfill", "--source", "sol-execbench", "--from", kExample, "--store", store});
  ASSERT_EQ(ran.exit, 0) << ran.out << ran.err;
}

TEST(Program, GivesItsExitStatusToTheShell) {
  EXPECT_EQ(Program("--version").exit, 0);
  EXPECT_THAT(Program("--version").out, HasSubstr("etlctl "));
  EXPECT_EQ(Program("frobnicate 2>/dev/null").exit, 2);
  EXPECT_EQ(Program("status --store /nonexistent-store 2>/dev/null").exit, 4);
}

TEST(Program, KeepsDataAndTalkApart) {
  const etl::test::TempDir dir("ctl");
  Fill(dir.File("s"));
  EXPECT_EQ(Program("--store " + dir.File("s") + " gaps 2>/dev/null").out, "");
  EXPECT_THAT(Program("--store " + dir.File("s") + " gaps 2>&1").out,
              HasSubstr("no rows are known to be missing"));
}

TEST(Program, SaysWhenItsOutputDidNotArrive) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  const etl::test::TempDir dir("ctl");
  Fill(dir.File("s"));
  const Ran ran = Program("--store " + dir.File("s") + " export 2>&1 >/dev/full");
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, HasSubstr("OUTPUT_WRITE at standard output"));
}

TEST(Program, EndsWithStatus5WhereAnotherHoldsTheStore) {
  const etl::test::TempDir dir("ctl");
  Fill(dir.File("s"));
  SystemClock clock;
  Store::Options options;
  options.mode = Store::Mode::kWrite;
  options.holder = "someone else";
  const auto held = Store::Open(dir.File("s"), options, clock);
  ASSERT_TRUE(held) << held.error().Message();
  const Ran ran =
      Ctl({"backfill", "--source", "sol-execbench", "--from", kExample, "--store", dir.File("s")});
  EXPECT_EQ(ran.exit, 5);
  EXPECT_THAT(ran.err, HasSubstr("STORE_LOCKED"));
  EXPECT_THAT(ran.err, HasSubstr("someone else"));
}

TEST(Program, EndsWithStatus6WhereTheStoreIsDamaged) {
  const etl::test::TempDir dir("ctl");
  Fill(dir.File("s"));
  fs::path largest;
  std::uintmax_t bytes = 0;
  for (const auto& file : fs::directory_iterator(dir.File("s/db"))) {
    if (file.path().extension() != ".sst" || file.file_size() <= bytes) continue;
    largest = file.path();
    bytes = file.file_size();
  }
  ASSERT_FALSE(largest.empty());
  std::fstream file(largest, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(bytes / 2));
  const int byte = file.get();
  file.seekp(static_cast<std::streamoff>(bytes / 2));
  file.put(static_cast<char>(byte ^ 1));
  file.close();
  const Ran ran = Ctl({"verify", "--store", dir.File("s")});
  EXPECT_EQ(ran.exit, 6) << ran.out << ran.err;
}

// Every command that opens the store, one after the other.
const std::vector<std::vector<std::string>> kOpening{
    {"status"},
    {"get", "run", "submission/1"},
    {"get", "entry", "submission/1"},
    {"get", "object", "abcd"},
    {"ranks", "abcd"},
    {"records"},
    {"history", "submission/1"},
    {"compare", "abcd", "bcde"},
    {"changes"},
    {"quarantine", "list"},
    {"quarantine", "show", "abcd"},
    {"drift"},
    {"gaps"},
    {"export"},
    {"verify"},
    {"rebuild", "/nonexistent/new"},
    {"backup", "create"},
    {"backfill", "--source", "sol-execbench", "--from", kExample},
    {"backfill", "--dry-run", "--source", "sol-execbench", "--from", kExample}};

TEST(Program, EndsWithStatus6AndOneLineWhateverFileOfTheDatabaseIsWrong) {
  const etl::test::TempDir dir("ctl");
  Fill(dir.File("good"));
  const auto remove = [&](const std::string& start, const std::string& extension) {
    for (const auto& file : fs::directory_iterator(dir.File("s/db")))
      if (file.path().filename().string().starts_with(start) && file.path().extension() == extension)
        return fs::remove(file.path());
    return false;
  };
  const std::function<bool()> damages[] = {
      [&] { return remove("CURRENT", ""); },
      [&] { return static_cast<bool>(std::ofstream(dir.File("s/db/CURRENT")) << "MANIFEST-000099\n"); },
      [&] { return static_cast<bool>(std::ofstream(dir.File("s/db/CURRENT")) << "?"); },
      [&] { return remove("MANIFEST", ""); },
      [&] { return remove("", ".sst"); },
  };
  for (std::size_t i = 0; i < std::size(damages); ++i) {
    fs::remove_all(dir.File("s"));
    fs::copy(dir.File("good"), dir.File("s"), fs::copy_options::recursive);
    ASSERT_TRUE(damages[i]());
    for (std::vector<std::string> args : kOpening) {
      args.insert(args.end(), {"--store", dir.File("s")});
      const Ran ran = Ctl(args);
      EXPECT_EQ(ran.exit, 6) << i << ::testing::PrintToString(args) << ran.err;
      EXPECT_EQ(ran.out, "") << i << ::testing::PrintToString(args);
      EXPECT_THAT(ran.err, ::testing::StartsWith("etlctl: STORE_DAMAGED at " + dir.File("s")));
      EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 2) << ran.err;  // and what to do
    }
  }
}

TEST(Program, ReadsOnWithoutHeadOrLockAndVerifyNamesTheHead) {
  const etl::test::TempDir dir("ctl");
  Fill(dir.File("s"));
  fs::remove(dir.File("s/LOCK"));
  fs::remove(dir.File("s/HEAD"));
  EXPECT_EQ(Ctl({"status", "--store", dir.File("s")}).exit, 0);
  const Ran verified = Ctl({"verify", "--store", dir.File("s")});
  EXPECT_EQ(verified.exit, 6);
  EXPECT_THAT(verified.out, HasSubstr("STORE_DAMAGED at " + dir.File("s/HEAD")));
  const Ran written =
      Ctl({"backfill", "--source", "sol-execbench", "--from", kExample, "--store", dir.File("s")});
  EXPECT_EQ(written.exit, 6);
  EXPECT_THAT(written.err, HasSubstr("STORE_DAMAGED at " + dir.File("s/HEAD")));
  EXPECT_EQ(Ctl({"rebuild", dir.File("new"), "--store", dir.File("s")}).exit, 0);
  EXPECT_EQ(Ctl({"verify", "--store", dir.File("new")}).exit, 0);
}

TEST(StopSignal, TurnsTheFirstSignalIntoAFlag) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const StopSignal stop;
    EXPECT_FALSE(stop.stopped());
    std::raise(signal);
    EXPECT_TRUE(stop.stopped());
    // The second would end the process.
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_DFL);
  }
}

TEST(StopSignal, LeavesNothingBehind) {
  { const StopSignal stop; }
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_DFL);
  }
}

}  // namespace
}  // namespace etl::ctl
