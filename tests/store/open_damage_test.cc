// Files of a store that are gone or wrong: every opening says so in one line, and none makes it worse.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/head.h"
#include "store/kv.h"
#include "store/store.h"
#include "tests/support/golden.h"
#include "tests/support/manual_clock.h"
#include "tests/support/small_drafts.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class OpenDamaged : public testing::Test {
 protected:
  void SetUp() override {
    const auto store = Open(Store::Mode::kWrite, true);
    ASSERT_TRUE(store.has_value());
    for (int page = 1; page <= 2; ++page) {
      ASSERT_TRUE((*store)->Commit(source_.Page(page, {{page, 100.0}})).has_value());
      ASSERT_TRUE((*store)->Sync().has_value());
    }
  }
  std::string Dir() const { return dir_.File("store"); }
  Result<std::unique_ptr<Store>> Open(Store::Mode mode, bool create = false) {
    Store::Options options;
    options.mode = mode;
    options.create = create;
    options.holder = "the test";
    return Store::Open(Dir(), options, clock_);
  }
  // By every way there is.
  void ExpectDamage(const std::string& where) {
    for (const auto& [mode, create] :
         {std::pair{Store::Mode::kRead, false}, std::pair{Store::Mode::kWrite, false},
          std::pair{Store::Mode::kWrite, true}}) {
      const auto store = Open(mode, create);
      ASSERT_FALSE(store.has_value()) << static_cast<int>(mode) << create;
      EXPECT_EQ(store.error().errc, Errc::kCorrupt) << store.error().Message();
      EXPECT_EQ(store.error().code, "STORE_DAMAGED") << store.error().Message();
      EXPECT_THAT(store.error().where, HasSubstr(where));
      EXPECT_EQ(store.error().what.find('\n'), std::string::npos);
      EXPECT_FALSE(store.error().fix.empty());
    }
  }
  // That writing is refused with it, that reading goes on, and that verify names it.
  void ExpectHeadFault(const std::string& what) {
    const auto written = Open(Store::Mode::kWrite);
    ASSERT_FALSE(written.has_value());
    EXPECT_EQ(written.error().code, "STORE_DAMAGED");
    EXPECT_EQ(written.error().errc, Errc::kCorrupt);
    EXPECT_EQ(written.error().where, Dir() + "/HEAD");
    EXPECT_THAT(written.error().what, HasSubstr(what));
    const auto read = Open(Store::Mode::kRead);
    ASSERT_TRUE(read.has_value()) << read.error().Message();
    const auto report = (*read)->Verify();
    ASSERT_EQ(report->fault_count, 1u);
    EXPECT_EQ(report->faults[0].where, Dir() + "/HEAD");
  }
  fs::path DbFile(const std::string& start, const std::string& extension) {
    for (const auto& file : fs::directory_iterator(Dir() + "/db"))
      if (file.path().filename().string().starts_with(start) && file.path().extension() == extension)
        return file.path();
    return {};
  }
  static void Write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  TempDir dir_{"open"};
  ManualClock clock_;
  SmallSource source_;
};

TEST_F(OpenDamaged, AMissingCurrentIsDamageAndNotAStoreThatIsNotThere) {
  fs::remove(Dir() + "/db/CURRENT");
  ExpectDamage("db/CURRENT");
  EXPECT_FALSE(fs::exists(Dir() + "/db/CURRENT"));
}

TEST_F(OpenDamaged, ACurrentThatSaysSomethingElseIsDamage) {
  for (const char* text : {"", "\n", "MANIFEST-000999\n", "MANIFEST-0000", "nonsense\n", "LOCK\n"}) {
    SCOPED_TRACE(text);
    Write(Dir() + "/db/CURRENT", text);
    ExpectDamage("db");
  }
}

TEST_F(OpenDamaged, AManifestThatIsGoneEmptyOrAlteredIsDamage) {
  const fs::path manifest = DbFile("MANIFEST", "");
  ASSERT_FALSE(manifest.empty());
  std::string bytes = ReadFile(manifest.string());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  Write(manifest, bytes);
  ExpectDamage("db");
  Write(manifest, "");
  ExpectDamage("db");
  fs::remove(manifest);
  ExpectDamage("db");
}

TEST_F(OpenDamaged, AMissingTableIsDamage) {
  const fs::path table = DbFile("", ".sst");
  ASSERT_FALSE(table.empty());
  fs::remove(table);
  ExpectDamage("db");
}

TEST_F(OpenDamaged, ADatabaseThatIsGoneIsDamageWhereItsHeadIsLeft) {
  fs::remove_all(Dir() + "/db");
  ExpectDamage("db");
  fs::remove(Dir() + "/HEAD");
  EXPECT_EQ(Open(Store::Mode::kRead).error().code, "STORE_MISSING");
}

TEST_F(OpenDamaged, AStoreThatWasInterruptedWhileBeingMadeIsMadeAgain) {
  fs::remove_all(Dir());
  fs::create_directories(Dir() + "/db");
  Write(Dir() + "/db/MANIFEST-000001", "");
  EXPECT_EQ(Open(Store::Mode::kRead).error().code, "STORE_MISSING");
  EXPECT_TRUE(Open(Store::Mode::kWrite, true).has_value());
}

TEST_F(OpenDamaged, AMissingHeadIsNamed) {
  fs::remove(Dir() + "/HEAD");
  ExpectHeadFault("missing");
}

TEST_F(OpenDamaged, AnAlteredByteOfHeadIsNamedWhereverItLies) {
  const std::string bytes = ReadFile(Dir() + "/HEAD");
  ASSERT_EQ(bytes.size(), 128u);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string bad = bytes;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    Write(Dir() + "/HEAD", bad);
    ExpectHeadFault(at < 64 ? "line 1" : "line 2");
  }
  Write(Dir() + "/HEAD", bytes.substr(0, 100));
  ExpectHeadFault("100 bytes");
  Write(Dir() + "/HEAD", bytes + "x");
  ExpectHeadFault("129 bytes");
}

TEST_F(OpenDamaged, AHeadOfAnotherStoreIsNamed) {
  const auto other = Store::Open(dir_.File("other"), {Store::Mode::kWrite, true, false, "x"}, clock_);
  ASSERT_TRUE(other.has_value());
  ASSERT_TRUE((*other)->Sync().has_value());
  fs::copy_file(dir_.File("other/HEAD"), Dir() + "/HEAD", fs::copy_options::overwrite_existing);
  ExpectHeadFault("epoch");
}

TEST_F(OpenDamaged, AnEmptyHeadSaysThatNothingWasAcknowledged) {
  Write(Dir() + "/HEAD", "");
  const auto store = Open(Store::Mode::kWrite);
  ASSERT_TRUE(store.has_value()) << store.error().Message();
  EXPECT_EQ((*store)->Verify()->fault_count, 0u);
}

TEST_F(OpenDamaged, AHeadWithOneLineKeepsItWhenTheNextIsWritten) {
  fs::remove(Dir() + "/HEAD");
  const auto head = HeadFile::Open(Dir());
  ASSERT_TRUE((*head)->Write({"0a1b2c3d", 7}).has_value());
  const auto again = HeadFile::Open(Dir());
  ASSERT_TRUE((*again)->Write({"0a1b2c3d", 9}).has_value());
  EXPECT_EQ(ReadFile(Dir() + "/HEAD").size(), 128u);
  EXPECT_EQ((*HeadFile::Read(Dir()))->sequence, 9u);
}

TEST_F(OpenDamaged, AMissingLockFileDoesNotKeepReadersOut) {
  fs::remove(Dir() + "/LOCK");
  EXPECT_TRUE(Open(Store::Mode::kRead).has_value());
  EXPECT_TRUE(Open(Store::Mode::kWrite).has_value());
}

TEST_F(OpenDamaged, AMissingLockFileDoesNotLetTwoWritersIn) {
  const auto first = Open(Store::Mode::kWrite);
  ASSERT_TRUE(first.has_value());
  fs::remove(Dir() + "/LOCK");
  const auto second = Open(Store::Mode::kWrite);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, "STORE_LOCKED") << second.error().Message();
}

TEST_F(OpenDamaged, TheNameThatAKilledWriterLeftIsNotTheHolders) {
  const pid_t child = fork();
  if (child == 0) {
    const auto store = Open(Store::Mode::kWrite);
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_THAT(ReadFile(Dir() + "/LOCK"), HasSubstr("process " + std::to_string(child)));
  const auto reader = Open(Store::Mode::kRead);
  ASSERT_TRUE(reader.has_value());
  const auto writer = Open(Store::Mode::kWrite);
  ASSERT_FALSE(writer.has_value());
  EXPECT_EQ(writer.error().code, "STORE_LOCKED");
  EXPECT_EQ(writer.error().what, "readers have the store open");
}

}  // namespace
}  // namespace etl::test
