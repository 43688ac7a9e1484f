#include "store/store.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/store_impl.h"
#include "tests/support/manual_clock.h"
#include "tests/support/small_drafts.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

class StoreOnDisk : public testing::Test {
 protected:
  std::string Dir() const { return dir_.File("store"); }
  Result<std::unique_ptr<Store>> Open(Store::Mode mode, bool create = false) {
    Store::Options options;
    options.mode = mode;
    options.create = create;
    options.holder = "the test";
    return Store::Open(Dir(), options, clock_);
  }
  TempDir dir_{"store"};
  ManualClock clock_;
};

TEST_F(StoreOnDisk, AMissingStoreIsSaidToBeMissingAndIsNotMade) {
  const auto store = Open(Store::Mode::kRead);
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().code, "STORE_MISSING");
  EXPECT_EQ(store.error().errc, Errc::kNotFound);
  EXPECT_EQ(store.error().where, Dir());
  EXPECT_FALSE(std::filesystem::exists(Dir()));
}

TEST_F(StoreOnDisk, ASecondWriterIsRefusedAndToldWhoHoldsItSinceWhen) {
  const auto first = Open(Store::Mode::kWrite, true);
  ASSERT_TRUE(first.has_value()) << first.error().Message();
  for (const auto mode : {Store::Mode::kWrite, Store::Mode::kRead}) {
    const auto second = Open(mode);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code, "STORE_LOCKED");
    EXPECT_NE(second.error().what.find("the test, process " + std::to_string(getpid()) +
                                       ", since 2026-01-01T00:00:00.000Z"),
              std::string::npos)
        << second.error().what;
  }
  ASSERT_TRUE((*first)->Close().has_value());
  EXPECT_TRUE(Open(Store::Mode::kRead).has_value());
}

TEST_F(StoreOnDisk, ADeadHolderLeavesNoLock) {
  const pid_t child = fork();
  if (child == 0) {
    const auto store = Open(Store::Mode::kWrite, true);
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(Open(Store::Mode::kWrite).has_value());
}

TEST_F(StoreOnDisk, ACommitSurvivesReopeningWithItsSequenceAndEpoch) {
  std::string epoch;
  std::uint64_t sequence = 0;
  {
    const auto store = Open(Store::Mode::kWrite, true);
    SmallSource source;
    ASSERT_TRUE((*store)->Commit(source.Page(1, {{1, 100.0}, {2, 90.0}})).has_value());
    epoch = (*store)->epoch();
    sequence = (*store)->sequence();
    EXPECT_GT(sequence, 0u);
  }
  const auto store = Open(Store::Mode::kRead);
  ASSERT_TRUE(store.has_value());
  EXPECT_EQ((*store)->epoch(), epoch);
  EXPECT_EQ((*store)->sequence(), sequence);
  EXPECT_EQ((*store)->Count()->ranked_runs, 2u);
}

TEST_F(StoreOnDisk, AStoreOfANewerFormatIsRefusedInOneLine) {
  { const auto store = Open(Store::Mode::kWrite, true); }
  SetStoredFormat(Dir(), 99);
  const auto store = Open(Store::Mode::kWrite);
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().code, "STORE_FORMAT");
  EXPECT_NE(store.error().what.find("format 99"), std::string::npos);
}

// An older program ignores what is new in a format: once it could, it must not open the store any more.
TEST_F(StoreOnDisk, AStoreOfAnOlderFormatIsReadAsItIsAndRaisedByWhoMayWrite) {
  {
    const auto store = Open(Store::Mode::kWrite, true);
    SmallSource source;
    ASSERT_TRUE((*store)->Commit(source.Page(1, {{1, 100.0}})).has_value());
  }
  SetStoredFormat(Dir(), 1);
  const auto format = [&](Store::Mode mode) {
    const auto store = Open(mode);
    EXPECT_TRUE(store.has_value());
    EXPECT_EQ((*store)->Count()->ranked_runs, 1u);
    EXPECT_EQ((*store)->Verify()->fault_count, 0u);
    return static_cast<const StoreImpl&>(**store).format();
  };
  EXPECT_EQ(format(Store::Mode::kRead), 1);
  EXPECT_EQ(format(Store::Mode::kRead), 1) << "reading changes nothing";
  EXPECT_EQ(format(Store::Mode::kWrite), kFormatNumber);
  EXPECT_EQ(format(Store::Mode::kRead), kFormatNumber);
}

TEST_F(StoreOnDisk, CommitsThatWereAcknowledgedAndAreGoneAreToldAsDamage) {
  {
    const auto store = Open(Store::Mode::kWrite, true);
    SmallSource source;
    ASSERT_TRUE((*store)->Commit(source.Page(1, {{1, 100.0}})).has_value());
    ASSERT_TRUE((*store)->Sync().has_value());
  }
  AcknowledgeMore(Dir(), 3);
  // However often it is tried, and by whom: a refused opening takes nothing away.
  for (const auto mode : {Store::Mode::kWrite, Store::Mode::kRead, Store::Mode::kWrite}) {
    const auto store = Open(mode);
    ASSERT_FALSE(store.has_value());
    EXPECT_EQ(store.error().code, "STORE_LOST_COMMITS");
    EXPECT_EQ(store.error().errc, Errc::kCorrupt);
  }
}

constexpr int kNoMount = 77;

// In a child: a file system of this size over `dir`, seen by nobody else. False where that is not permitted.
bool MountSmallDisk(const std::string& dir, const char* size) {
  const std::string user = std::to_string(getuid()), group = std::to_string(getgid());
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
    std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
  }
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return mount("none", dir.c_str(), "tmpfs", 0, size) == 0;
}

// What a writer meets whose disk fills up, and who opens the store after it once there is room. 0: all is
// well.
int FillUpDisk(const std::string& dir,
               const std::function<Result<std::unique_ptr<Store>>(bool create)>& open) {
  if (!MountSmallDisk(dir, "size=4m")) return kNoMount;
  const std::string ballast = dir + "/ballast";
  std::ofstream(ballast) << std::string(2 << 20, 'x');
  std::uint64_t acknowledged = 0;
  {
    SmallSource source;
    const auto store = open(true);
    if (!store) return 10;
    bool refused = false;
    for (int page = 1; page < 20'000 && !refused; ++page) {
      const auto done = (*store)->Commit(source.Page(page, {{page * 10, 50.0}, {page * 10 + 1, 51.0}}));
      const auto synced = done ? (*store)->Sync() : Status();
      if (done && synced) {
        acknowledged = (*store)->sequence();
        continue;
      }
      const Error& error = done ? synced.error() : done.error();
      if (error.code != "STORE_WRITE" || error.errc != Errc::kUnavailable) return 11;
      refused = true;
    }
    if (!refused) return 12;
    const auto after = (*store)->Commit(source.Page(30'000, {{7, 1.0}}));
    if (after || after.error().code != "STORE_WRITE") return 13;
  }
  std::filesystem::remove(ballast);
  SmallSource source;
  const auto store = open(false);
  if (!store) return 14;
  if (acknowledged == 0 || (*store)->sequence() < acknowledged) return 15;
  const auto report = (*store)->Verify();
  if (!report || report->fault_count != 0) return 16;
  return (*store)->Commit(source.Page(30'000, {{7, 1.0}})) && (*store)->Sync() ? 0 : 17;
}

// The child is this program begun anew: one forked here would lack the database's own threads, and wait for
// them.
TEST_F(StoreOnDisk, AFileSystemThatIsFullRefusesClearlyAndLosesNothingThatWasAcknowledged) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::filesystem::create_directories(Dir());
  int code = -1;
  const auto ended = [&](int status) {
    code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return code == 0 || code == kNoMount;
  };
  const auto fill_up = [&] {
    const int result = FillUpDisk(Dir(), [&](bool create) { return Open(Store::Mode::kWrite, create); });
    umount2(Dir().c_str(), MNT_DETACH);
    std::filesystem::remove_all(dir_.path());
    _exit(result);
  };
  EXPECT_EXIT(fill_up(), ended, "") << "with " << code;
  if (code == kNoMount)
    GTEST_SKIP() << "a test may not mount a file system here; the limit of a file's size stands for it below";
}

// A disk that fills up: the size limit of a file stands for it, since it fails a write just as a full disk
// does.
TEST_F(StoreOnDisk, AFullDiskLeavesNothingHalfWrittenAndTheStoreOpensAgain) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const auto store = Open(Store::Mode::kWrite, true);
    SmallSource source;
    if (!(*store)->Commit(source.Page(1, {{1, 100.0}, {2, 90.0}})) || !(*store)->Sync()) _exit(10);
    rlimit limit{64 << 10, 64 << 10};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(11);
    for (int page = 2; page < 200; ++page) {
      const auto done = (*store)->Commit(source.Page(page, {{page * 10, 50.0}, {page * 10 + 1, 51.0}}));
      if (done) continue;
      if (done.error().code != "STORE_WRITE" || done.error().errc != Errc::kUnavailable) _exit(12);
      // From here on it refuses clearly instead of writing on top.
      const auto after = (*store)->Commit(source.Page(999, {{7, 1.0}}));
      _exit(!after && after.error().code == "STORE_WRITE" ? 0 : 13);
    }
    _exit(14);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 0);
  const auto store = Open(Store::Mode::kWrite);
  ASSERT_TRUE(store.has_value()) << store.error().Message();
  const auto report = (*store)->Verify();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->fault_count, 0u) << report->faults[0].Message();
  EXPECT_GE((*store)->Count()->ranked_runs, 2u);
  SmallSource source;
  EXPECT_TRUE((*store)->Commit(source.Page(500, {{5000, 10.0}})).has_value());
}

TEST_F(StoreOnDisk, ABackupRestoresTheSameExportUnderANewEpoch) {
  const std::string backups = dir_.File("backups"), restored = dir_.File("restored");
  std::string expected, epoch;
  {
    const auto store = Open(Store::Mode::kWrite, true);
    SmallSource source;
    ASSERT_TRUE((*store)->Commit(source.Page(1, {{1, 100.0}, {2, 90.0}})).has_value());
    expected = ExportText(**store);
    epoch = (*store)->epoch();
    ASSERT_TRUE((*store)->CreateBackup(backups).has_value());
    ASSERT_TRUE((*store)->Commit(source.Page(2, {{3, 10.0}})).has_value());
  }
  ASSERT_EQ(Store::ListBackups(backups)->size(), 1u);
  EXPECT_EQ(Store::ListBackups(backups)->front().epoch, epoch);
  ASSERT_TRUE(Store::RestoreBackup(backups, 0, restored, clock_).has_value());
  Store::Options options;
  const auto store = Store::Open(restored, options, clock_);
  ASSERT_TRUE(store.has_value()) << store.error().Message();
  EXPECT_EQ(ExportText(**store), expected);
  EXPECT_NE((*store)->epoch(), epoch);
  // The old epoch's sequences still mean what they meant; those it went on to without us do not.
  EXPECT_TRUE((*store)->ResolveAsOf(epoch + ":1").has_value());
  EXPECT_EQ((*store)->ResolveAsOf(epoch + ":4000").error().code, "AS_OF_RANGE");
  EXPECT_EQ((*store)->ResolveAsOf("ffffffff:1").error().code, "AS_OF_EPOCH");
  const auto again = Store::RestoreBackup(backups, 0, restored, clock_);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, "RESTORE_TARGET");
  EXPECT_EQ(Store::RestoreBackup(backups, 77, dir_.File("other"), clock_).error().code, "BACKUP_MISSING");
  EXPECT_EQ(Store::ListBackups(dir_.File("none")).error().code, "BACKUP_MISSING");
}

TEST_F(StoreOnDisk, ADraftThatBreaksItsRulesIsRefusedAndWritesNothing) {
  const auto store = Open(Store::Mode::kWrite, true);
  SmallSource source;
  Ingest bad = source.Page(1, {{1, 100.0}});
  bad.draft.entries[0].external_id = std::string("a\0b", 3);
  const auto done = (*store)->Commit(bad);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, "INGEST");
  EXPECT_EQ((*store)->sequence(), 0u);
}

TEST_F(StoreOnDisk, QuestionsForWhatIsNotThereHaveTheirCodes) {
  const auto store = Open(Store::Mode::kWrite, true);
  SmallSource source;
  ASSERT_TRUE((*store)->Commit(source.Page(1, {{1, 100.0}})).has_value());
  EXPECT_EQ((*store)->GetObject(Sha256("none")).error().code, "OBJECT_MISSING");
  EXPECT_EQ((*store)->GetEntry({"small", "submission/9", ""}).error().code, "ENTRY_MISSING");
  EXPECT_EQ((*store)->GetGroup(Sha256("none")).error().code, "GROUP_MISSING");
  EXPECT_EQ((*store)->GetBytes(Sha256("none")).error().code, "SNAPSHOT_MISSING");
  EXPECT_EQ((*store)->GetCommit(4711).error().code, "COMMIT_MISSING");
  EXPECT_EQ((*store)->FindObjects("12", 3).error().code, "DIGEST_PREFIX");
  EXPECT_EQ((*store)->FindObjects("xyzw", 3).error().code, "DIGEST_PREFIX");
  EXPECT_EQ((*store)->ResolveAsOf("soon").error().code, "AS_OF_PATTERN");
  EXPECT_EQ((*store)->ResolveAsOf("1990-01-01T00:00:00Z").error().code, "AS_OF_RANGE");
  EXPECT_EQ((*store)->ResolveAsOf("99999").error().code, "AS_OF_RANGE");
}

TEST_F(StoreOnDisk, ADigestPrefixFindsExactlyTheObjectsThatStartWithIt) {
  const auto store = Open(Store::Mode::kWrite, true);
  SmallSource source;
  std::vector<std::pair<int, double>> rows;
  for (int i = 1; i <= 300; ++i) rows.emplace_back(i, 100.0 + i);
  ASSERT_TRUE((*store)->Commit(source.Page(1, rows)).has_value());
  const auto entry = (*store)->GetEntry({"small", "submission/17", ""});
  const Digest digest = *entry->at(Kind::kBenchmarkRun).digest;
  for (const std::size_t n : {12u, 13u, 32u, 64u}) {
    const auto found = (*store)->FindObjects(digest.Hex().substr(0, n), 10);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(*found, std::vector<Digest>{digest}) << n;
  }
  EXPECT_EQ((*store)->FindObjects(digest.Text(), 10)->size(), 1u);
}

TEST_F(StoreOnDisk, SequencesAreGapFree) {
  const auto store = Open(Store::Mode::kWrite, true);
  SmallSource source;
  for (int page = 1; page < 6; ++page)
    ASSERT_TRUE(
        (*store)->Commit(source.Page(page, {{page, 100.0 - page}, {page + 1, 99.5 - page}})).has_value());
  std::uint64_t expected = 1;
  ASSERT_TRUE((*store)
                  ->ForEachChange(0,
                                  [&](const CommitInfo&, const Change& change) {
                                    EXPECT_EQ(change.sequence, expected++);
                                    return true;
                                  })
                  .has_value());
  EXPECT_EQ(expected, (*store)->sequence() + 1);
  std::size_t after = 0;
  ASSERT_TRUE(
      (*store)->ForEachChange(3, [&](const CommitInfo&, const Change&) { return ++after > 0; }).has_value());
  EXPECT_EQ(after, (*store)->sequence() - 3);
}

}  // namespace
}  // namespace etl::test
