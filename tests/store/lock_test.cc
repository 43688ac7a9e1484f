#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "store/store.h"
#include "tests/support/manual_clock.h"
#include "tests/support/small_drafts.h"
#include "tests/support/temp_dir.h"

namespace etl {
namespace {

Store::Options Writing() {
  Store::Options options;
  options.mode = Store::Mode::kWrite;
  options.create = true;
  options.holder = "etld (control /run/x.sock)";
  return options;
}

TEST(StoreLock, NamesTheWriterForAsLongAsItHasTheStoreOpen) {
  const test::TempDir dir;
  test::ManualClock clock(Instant{1'700'000'000'000});
  EXPECT_EQ(Store::WriterOf(dir.path()), "");
  const auto store = Store::Open(dir.path(), Writing(), clock);
  ASSERT_TRUE(store) << store.error().Message();
  EXPECT_TRUE(Store::WriterOf(dir.path()).starts_with("etld (control /run/x.sock), process "));
  ASSERT_TRUE((*store)->Close());
  EXPECT_EQ(Store::WriterOf(dir.path()), "");
}

TEST(StoreLock, IsNotRefusedByThoseWhoAskForTheWriter) {
  const test::TempDir dir;
  test::ManualClock clock(Instant{1'700'000'000'000});
  std::atomic<bool> done{false};
  std::thread asking([&] {
    while (!done) (void)Store::WriterOf(dir.path());
  });
  int refused = 0;
  for (int i = 0; i < 20; ++i) {
    const auto store = Store::Open(dir.path(), Writing(), clock);
    if (!store) ++refused;
  }
  done = true;
  asking.join();
  EXPECT_EQ(refused, 0);
}

TEST(StoreWrites, OfSeveralThreadsTakeTurns) {
  Store::Options options = Writing();
  options.in_memory = true;
  test::ManualClock clock(Instant{1'700'000'000'000});
  const auto opened = Store::Open("", options, clock);
  ASSERT_TRUE(opened) << opened.error().Message();
  Store& store = **opened;
  std::vector<std::thread> writers;
  std::atomic<int> failed{0};
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([&, w] {
      const std::string source = "source-" + std::to_string(w);
      for (int i = 0; i < 50; ++i) {
        Snapshot snapshot;
        snapshot.source = source;
        snapshot.request = "r/" + std::to_string(i);
        snapshot.bytes = source + std::to_string(i);
        snapshot.digest = Sha256(snapshot.bytes);
        snapshot.captured_at = Instant{1'700'000'000'000};
        Ingest ingest;
        ingest.snapshot = &snapshot;
        ingest.adapter = "test/1";
        if (!store.Commit(ingest)) ++failed;
        if (!store.PutCursor(source, {"c", std::to_string(i)}, snapshot.captured_at)) ++failed;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failed, 0);
  std::uint64_t next = 1;
  ASSERT_TRUE(store.ForEachCommit(0, [&](const CommitInfo& commit) {
    EXPECT_EQ(commit.first, next);
    next = commit.last + 1;
    return true;
  }));
  EXPECT_EQ(next, store.sequence() + 1);
  EXPECT_EQ(store.Count()->snapshots, 200U);
}

}  // namespace
}  // namespace etl
