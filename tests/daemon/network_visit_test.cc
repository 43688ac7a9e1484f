// Visits over HTTP: the same as from a folder, whatever happens to the process or to the connection.
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "daemon/visit.h"
#include "fetch/http_transport.h"
#include "tests/daemon/poll_support.h"
#include "tests/support/backfill.h"
#include "tests/support/killed_child.h"
#include "tests/support/loopback_actions.h"
#include "tests/support/loopback_upstream.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

const std::string kExample = std::string(ETL_SOURCE_DIR) + "/fixtures/leaderboard/";

LoopbackOptions Example() {
  LoopbackOptions options;
  options.folder = kExample + "1";
  options.etag = LoopbackOptions::Etag::kStrong;
  return options;
}

std::unique_ptr<HttpTransport> Connect(const LoopbackUpstream& upstream, Clock& clock) {
  FetchSettings settings;
  settings.base_url = upstream.base_url();
  settings.contact = "tests@example.org";
  settings.requests_per_second = 0;
  settings.backoff_base_ms = 1;
  settings.idle_ms = 2'000;
  auto transport = OpenHttp(settings, clock);
  EXPECT_TRUE(transport.has_value()) << transport.error().Message();
  return *std::move(transport);
}

VisitOptions OptionsOf(bool poll) {
  VisitOptions options;
  options.goal.poll = poll;
  options.goal.window = true;
  options.goal.leaderboards = false;
  options.goal.follow.reread_s = 0;  // everything is due at every poll
  return options;
}

// The same, with nothing due for a while.
VisitOptions IdleOptions() {
  VisitOptions options = OptionsOf(true);
  options.goal.follow.reread_s = 3'600;
  return options;
}

VisitResult Visit(Store& store, const LoopbackUpstream& upstream, bool poll) {
  SystemClock clock;
  const auto adapter = MakeAdapter("sol-execbench");
  const auto transport = Connect(upstream, clock);
  return RunVisit(*adapter, *transport, &store, clock, OptionsOf(poll));
}

// Every validator belongs to bytes that are there.
void ExpectValidatorsHaveTheirData(const Store& store) {
  ASSERT_TRUE(store.ForEachCommit(0, [&](const CommitInfo& commit) {
    const auto request = store.FindRequest(commit.source, commit.request);
    EXPECT_TRUE(request && *request);
    EXPECT_FALSE((*request)->etag.empty());
    EXPECT_TRUE(store.GetBytes((*request)->snapshot).has_value()) << commit.request;
    return true;
  }));
}

TEST(NetworkVisit, BringsWhatAFolderBrings) {
  TempDir dir("network");
  SystemClock clock;
  LoopbackUpstream upstream(Example());
  const auto over_http = OpenStore(dir.File("http"), clock),
             from_folder = OpenStore(dir.File("folder"), clock);
  const VisitResult result = Visit(*over_http, upstream, false);
  EXPECT_EQ(result.visit, "full") << result.Json();
  Backfill(*from_folder, kExample + "1", clock);
  EXPECT_EQ(Difference(ExportOf(*over_http), ExportOf(*from_folder)), "");
  ExpectValidatorsHaveTheirData(*over_http);
  const VisitResult again = Visit(*over_http, upstream, false);
  EXPECT_EQ(again.changes, 0u);
  EXPECT_EQ(again.conditional.not_modified, again.requests);
}

// Nothing in it is unfinished.
void ServeOneQuietKernel(LoopbackUpstream& upstream) {
  upstream.Put("kernels", KernelList({{5, 0}}));
  upstream.Put("kernels/5", KernelDetail(5));
  upstream.Put(RowsKey(5), Rows({}));
}

TEST(NetworkVisit, AnIdlePollIsOneRequestOfLittle) {
  TempDir dir("network");
  SystemClock clock;
  LoopbackUpstream upstream(Example());
  ServeOneQuietKernel(upstream);
  const auto store = OpenStore(dir.File("store"), clock);
  const auto adapter = MakeAdapter("sol-execbench");
  const auto transport = Connect(upstream, clock);
  const VisitOptions options = IdleOptions();
  EXPECT_EQ(RunVisit(*adapter, *transport, store.get(), clock, options).visit, "full");
  const std::size_t requests = upstream.count();
  const std::uint64_t bytes = upstream.bytes_sent();
  const VisitResult idle = RunVisit(*adapter, *transport, store.get(), clock, options);
  EXPECT_EQ(idle.conditional.not_modified, 1u);
  EXPECT_EQ(upstream.count(), requests + 1);
  EXPECT_LE(upstream.bytes_sent() - bytes, 2'048u);
}

bool VisitAndDie(const std::string& store_dir, const LoopbackUpstream& upstream, bool poll,
                 std::uint64_t responses, unsigned delay_us) {
  return KilledWhile(
      [&](const std::function<void()>& tick) {
        SystemClock clock;
        auto store = OpenStore(store_dir, clock);
        const auto adapter = MakeAdapter("sol-execbench");
        const auto transport = Connect(upstream, clock);
        VisitOptions options = OptionsOf(poll);
        options.progress = [&](const VisitProgress&) { tick(); };
        RunVisit(*adapter, *transport, store.get(), clock, options);
        (void)store.release();  // closing would wait for threads of RocksDB, which a child has not
      },
      responses, delay_us);
}

TEST(NetworkCrash, BackfillsAndPollsKilledAtAnyMomentEndInTheSameExport) {
  TempDir dir("network-crash");
  SystemClock clock;
  LoopbackUpstream upstream(Example());
  std::string expected;
  {
    const auto store = OpenStore(dir.File("undisturbed"), clock);
    ASSERT_EQ(Visit(*store, upstream, false).visit, "full");
    for (const char* point : {"2", "3"}) {
      upstream.SetFolder(kExample + point);
      ASSERT_EQ(Visit(*store, upstream, true).visit, "full");
    }
    expected = NewestOf(ExportOf(*store));
  }
  const int rounds = CrashRounds();
  int killed = 0;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::mt19937 random(static_cast<unsigned>(round) + 1);
    const std::string store_dir = dir.File("store");
    std::filesystem::remove_all(store_dir);
    for (const char* point : {"1", "2", "3"}) {
      upstream.SetFolder(kExample + point);
      const bool poll = *point != '1';
      if (random() % 3 != 0)
        killed +=
            VisitAndDie(store_dir, upstream, poll, 1 + random() % 40, static_cast<unsigned>(random() % 3000))
                ? 1
                : 0;
      const auto store = OpenStore(store_dir, clock);
      ExpectValidatorsHaveTheirData(*store);
      ASSERT_EQ(Visit(*store, upstream, poll).visit, "full");
    }
    const auto store = OpenStore(store_dir, clock);
    ASSERT_EQ(Difference(NewestOf(ExportOf(*store)), expected), "");
    const auto report = store->Verify();
    ASSERT_TRUE(report && report->fault_count == 0) << report->faults[0].Message();
  }
  EXPECT_GT(killed, rounds) << "most visits must really have been killed";
}

std::uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::size_t OpenDescriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST(NetworkVisit, KeepsMemoryAndDescriptorsFlatOverTwoThousandPolls) {
  TempDir dir("network");
  SystemClock clock;
  LoopbackUpstream upstream(Example());
  ServeOneQuietKernel(upstream);
  const auto store = OpenStore(dir.File("store"), clock);
  const auto adapter = MakeAdapter("sol-execbench");
  const auto transport = Connect(upstream, clock);
  const VisitOptions options = IdleOptions();
  [[maybe_unused]] std::uint64_t bytes = 0;
  std::size_t descriptors = 0;
  for (int poll = 0; poll < 2'200; ++poll) {
    ASSERT_EQ(RunVisit(*adapter, *transport, store.get(), clock, options).visit, "full");
    if (poll != 200) continue;
    bytes = ResidentBytes();
    descriptors = OpenDescriptors();
  }
  EXPECT_LE(OpenDescriptors(), descriptors + 2);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LE(ResidentBytes(), bytes + (std::uint64_t{5} << 20));
#endif
}

TEST(NetworkVisit, OfASickSourceCostsAnotherNothing) {
  SystemClock clock;
  LoopbackUpstream sick(Example()), well(Example());
  sick.AlwaysUnder("", Silence());
  const auto sick_transport = Connect(sick, clock), well_transport = Connect(well, clock);
  std::thread waiting([&] { EXPECT_FALSE(sick_transport->Fetch("kernels").has_value()); });
  const auto store = OpenStore("", clock);
  const auto adapter = MakeAdapter("sol-execbench");
  EXPECT_EQ(RunVisit(*adapter, *well_transport, store.get(), clock, OptionsOf(false)).visit, "full");
  sick_transport->Stop();
  waiting.join();
}

}  // namespace
}  // namespace etl::test
