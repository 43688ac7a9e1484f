// The newest states, standings and record histories depend on the set of snapshots, not on the order in which
// they are taken in.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/daemon/hostile_support.h"
#include "tests/support/backfill.h"
#include "tests/support/manual_clock.h"
#include "tests/support/small_drafts.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

const std::string kExample = std::string(ETL_SOURCE_DIR) + "/fixtures/leaderboard/";

std::vector<Snapshot> At(int point) {
  auto snapshots = ResponsesOf(kExample + std::to_string(point));
  for (Snapshot& s : snapshots) s.captured_at = Instant{1'780'000'000'000 + point * 86'400'000LL};
  return snapshots;
}

void WriteFile(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

bool IsPage(const Snapshot& s) {
  return s.request.starts_with("submissions");
}

std::string StateOf(const std::vector<Snapshot>& snapshots) {
  ManualClock clock;
  const auto store = OpenStore("", clock);
  TakeIn(*store, snapshots);
  const auto report = store->Verify();
  EXPECT_TRUE(report && report->fault_count == 0)
      << (report->faults.empty() ? "" : report->faults[0].Message());
  return ExportOf(*store);
}

TEST(Order, PagesInAnyOrderAndRepeatedGiveTheSameExport) {
  const auto snapshots = At(3);
  const std::string expected = StateOf(snapshots);
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    std::mt19937 random(seed);
    std::vector<Snapshot> rest, pages;
    for (const Snapshot& s : snapshots) {
      (IsPage(s) ? pages : rest).push_back(s);
      if (IsPage(s) && random() % 3 == 0) pages.push_back(s);
    }
    std::shuffle(pages.begin(), pages.end(), random);
    rest.insert(rest.end(), pages.begin(), pages.end());
    ASSERT_EQ(Difference(StateOf(rest), expected), "") << "seed " << seed;
  }
}

TEST(Order, SnapshotsOfThreePointsInAnyOrderLeaveTheSameNewestState) {
  std::vector<Snapshot> all;
  for (int point = 1; point <= 3; ++point)
    for (Snapshot& s : At(point)) all.push_back(std::move(s));
  const std::string expected = NewestOf(StateOf(all));
  std::reverse(all.begin(), all.end());
  ASSERT_EQ(Difference(NewestOf(StateOf(all)), expected), "") << "newest first";
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    std::mt19937 random(seed);
    std::shuffle(all.begin(), all.end(), random);
    ASSERT_EQ(Difference(NewestOf(StateOf(all)), expected), "") << "seed " << seed;
  }
}

TEST(Order, AnAnswerThatComesBackUnchangedIsNewerThanWhatContradictedIt) {
  // The same page at times 1 and 3, another page with a changed row at time 2: whatever the order, time 3
  // counts.
  const auto first = At(1), second = At(2);
  std::vector<Snapshot> base, page_a, page_b;
  for (const Snapshot& s : first) {
    if (!IsPage(s)) base.push_back(s);
    if (s.request.starts_with("submissions?kernel_id=19&")) page_a.push_back(s);
  }
  for (const Snapshot& s : second)
    if (s.request.starts_with("submissions?kernel_id=19&")) page_b.push_back(s);
  ASSERT_EQ(page_a.size(), 1u);
  ASSERT_EQ(page_b.size(), 1u);
  page_b[0].request = "submissions?kernel_id=19&limit=50&offset=1";
  Snapshot again = page_a[0];
  again.captured_at.ms += 5 * 86'400'000LL;
  const auto state = [&](std::vector<Snapshot> order) {
    order.insert(order.begin(), base.begin(), base.end());
    return NewestOf(StateOf(order));
  };
  const std::string expected = state({page_a[0], page_b[0], again});
  EXPECT_EQ(Difference(state({page_a[0], again, page_b[0]}), expected), "");
  EXPECT_EQ(Difference(state({again, page_b[0], page_a[0]}), expected), "");
  EXPECT_EQ(Difference(state({page_b[0], page_a[0], again}), expected), "");
  EXPECT_FALSE(Difference(state({page_a[0], page_b[0]}), expected).empty());
}

TEST(Order, AnAlreadyKnownSnapshotAddsNothing) {
  ManualClock clock;
  const auto store = OpenStore("", clock);
  const auto snapshots = At(1);
  TakeIn(*store, snapshots);
  const auto sequence = store->sequence();
  TakeIn(*store, snapshots);
  EXPECT_EQ(store->sequence(), sequence);
}

TEST(Order, ALateSnapshotIsKeptInTheHistoryWithoutBecomingTheNewest) {
  ManualClock clock;
  const auto store = OpenStore("", clock);
  TakeIn(*store, At(2));
  TakeIn(*store, At(1));
  const auto versions = store->GetVersions({"sol-execbench", "submission/70140", ""}, Kind::kBenchmarkRun);
  ASSERT_TRUE(versions.has_value());
  ASSERT_EQ(versions->size(), 2u);
  EXPECT_FALSE(versions->at(0).late);
  EXPECT_TRUE(versions->at(1).late);
  const auto entry = store->GetEntry({"sol-execbench", "submission/70140", ""});
  EXPECT_EQ(entry->at(Kind::kBenchmarkRun).version, 1u);
}

TEST(Order, ALateSnapshotTakenInAgainAppendsNothing) {
  ManualClock clock;
  const auto store = OpenStore("", clock);
  TakeIn(*store, At(2));
  TakeIn(*store, At(1));
  const auto sequence = store->sequence();
  const std::string before = ExportOf(*store);
  TakeIn(*store, At(1));
  EXPECT_EQ(store->sequence(), sequence);
  EXPECT_EQ(Difference(ExportOf(*store), before), "");
}

TEST(Order, AUsersNameIsThatOfTheNewestRowWhateverTheOrderOfPages) {
  std::vector<Snapshot> details, pages;
  for (const Snapshot& s : At(1)) {
    if (s.request == "kernels/41") details.push_back(s);
    if (!s.request.starts_with("submissions?kernel_id=41&")) continue;
    const std::string row = s.bytes.substr(
        s.bytes.find("{\"id\""), s.bytes.find('\n', s.bytes.find("{\"id\"")) - s.bytes.find("{\"id\""));
    ASSERT_FALSE(row.empty());
    const auto page = [&](int offset, const std::string& id, const std::string& name) {
      std::string text = std::regex_replace(row.substr(0, row.rfind('}') + 1), std::regex("\"id\": ?[0-9]+"),
                                            "\"id\":" + id);
      text =
          std::regex_replace(text, std::regex("\"username\": ?\"[^\"]*\""), "\"username\":\"" + name + "\"");
      Snapshot p = s;
      p.request = "submissions?kernel_id=41&limit=50&offset=" + std::to_string(offset);
      p.bytes = "{\"data\":{\"submissions\":[" + text + "],\"total\":3,\"offset\":0,\"limit\":50}}";
      p.digest = Sha256(p.bytes);
      pages.push_back(std::move(p));
    };
    page(0, "90", "north");
    page(1, "100", "north");
    page(2, "95", "south");
  }
  ASSERT_EQ(pages.size(), 3u);
  std::vector<std::size_t> order{0, 1, 2};
  std::string expected;
  do {
    std::vector<Snapshot> all = details;
    for (const std::size_t i : order) all.push_back(pages[i]);
    const std::string state = NewestOf(StateOf(all));
    if (expected.empty()) expected = state;
    EXPECT_EQ(Difference(state, expected), "");
  } while (std::next_permutation(order.begin(), order.end()));
}

// One kernel of 60 rows in two pages, with row 111 on both: as it is, and faster.
void WriteTwoFacedRow(const std::string& dir, bool faster_first) {
  std::vector<std::string> rows;
  for (int id = 160; id > 101; --id) rows.push_back(PlainRow(id).Text());
  const std::string faster = PlainRow(111).Set("latency_ms", "0.25").Text();
  rows.insert(rows.begin(), PlainRow(111).Text());
  (faster_first ? rows.front() : rows[50]) = faster;
  WriteFile(dir + "/kernels.json", ListOf({ListItem(5, "005_toy", 60).Text()}));
  WriteFile(dir + "/kernels/5.json", Detail(PlainKernel()));
  WriteFile(dir + "/submissions/5.json", Page(rows));
}

TEST(Order, ARowThatTwoPagesTellDifferentlyIsTheSameAtEveryReadingAndAddsNothing) {
  std::vector<std::string> states;
  for (const bool faster_first : {true, false}) {
    TempDir dir{"two_faced"};
    WriteTwoFacedRow(dir.path(), faster_first);
    ManualClock clock;
    const auto store = OpenStore("", clock);
    ASSERT_FALSE(Backfill(*store, dir.path(), clock).failure);
    const auto sequence = store->sequence();
    const std::string before = ExportOf(*store);
    for (int again = 1; again <= 3; ++again) {
      clock.AdvanceMs(86'400'000);
      const VisitResult result = Backfill(*store, dir.path(), clock);
      EXPECT_EQ(result.changes, 0u) << "reading " << again;
      EXPECT_EQ(store->sequence(), sequence) << "reading " << again;
    }
    EXPECT_EQ(Difference(ExportOf(*store), before), "");
    EXPECT_EQ(store->GetVersions({"sol-execbench", "submission/111", ""}, Kind::kSubmission)->size(), 2u);
    const auto report = store->Verify();
    EXPECT_EQ(report->fault_count, 0u) << report->faults.front().Message();
    states.push_back(NewestOf(before));
  }
  EXPECT_EQ(Difference(states[0], states[1]), "");
}

// A row seen unchanged in a later page, which is then confirmed: a late page in between is older than that.
TEST(Order, AConfirmationCountsForRowsThatWereFirstSeenElsewhere) {
  const auto state = [](const std::vector<int>& order) {
    ManualClock clock;
    const auto store = OpenStore("", clock);
    SmallSource source;
    const std::vector<std::pair<int, double>> a{{10, 50.0}, {11, 60.0}},
        b{{12, 70.0}, {10, 50.0}, {11, 60.0}}, c{{12, 70.0}, {10, 40.0}, {11, 60.0}};
    const auto confirm = [&](const Ingest& page, std::int64_t at) {
      EXPECT_TRUE(
          store->Confirm("small", page.snapshot->request, page.snapshot->digest, Instant{at}).has_value());
    };
    const Ingest page_a = source.Page(1, a, 1), page_b = source.Page(1, b, 2), page_c = source.Page(1, c, 3),
                 page_b_again = source.Page(1, b, 4);
    const Ingest* const pages[] = {&page_a, &page_b, &page_c, &page_b_again};
    for (const int step : order) {
      if (step == 5) {
        confirm(page_b, 4);
      } else {
        EXPECT_TRUE(store->Commit(*pages[step - 1]).has_value());
      }
    }
    const auto report = store->Verify();
    EXPECT_EQ(report->fault_count, 0u);
    return NewestOf(ExportOf(*store));
  };
  EXPECT_EQ(Difference(state({1, 2, 5, 3}), state({1, 2, 3, 4})), "");
}

TEST(Order, AProcessThatDiesBeforeRowsAreReadAgainLeavesThatToTheNext) {
  ManualClock clock;
  const auto undisturbed = OpenStore("", clock), killed = OpenStore("", clock);
  for (Store* store : {undisturbed.get(), killed.get()}) TakeIn(*store, At(1));
  TakeIn(*undisturbed, At(2));
  // The commit that moves a kernel's bound, and nothing after it.
  const auto adapter = MakeAdapter("sol-execbench");
  for (const Snapshot& s : At(2)) {
    if (s.request != "kernels" && s.request != "kernels/31") continue;
    Request request;
    request.key = s.request;
    Ingest ingest;
    ingest.snapshot = &s;
    ingest.adapter = adapter->version();
    ingest.draft = std::move(adapter->Accept(request, s, "", Reading::kFull, {})->draft);
    ASSERT_TRUE(killed->Commit(ingest).has_value());
  }
  EXPECT_EQ(killed->PendingContexts("sol-execbench")->size(), 1u);
  TakeIn(*killed, At(2));
  EXPECT_TRUE(killed->PendingContexts("sol-execbench")->empty());
  EXPECT_EQ(Difference(ExportOf(*killed), ExportOf(*undisturbed)), "");
}

TEST(Order, ARunMeasuredAgainBeforeItWasDisqualifiedIsTheOneThatWasRetracted) {
  ManualClock clock;
  const auto in_order = OpenStore("", clock), late = OpenStore("", clock);
  SmallSource source;
  const auto commit = [](Store& store, const Ingest& ingest) {
    ASSERT_TRUE(store.Commit(ingest).has_value());
  };
  const Ingest first = source.Page(1, {{1, 100.0}}, 1), again = source.Page(2, {{1, 90.0}}, 3),
               out = source.Page(3, {{1, 0.0}}, 5);
  for (const Ingest* page : {&first, &again, &out}) commit(*in_order, *page);
  for (const Ingest* page : {&first, &out, &again}) commit(*late, *page);
  EXPECT_EQ(Difference(NewestOf(ExportOf(*late)), NewestOf(ExportOf(*in_order))), "");
  const EntryName name{"small", "submission/1", ""};
  EXPECT_EQ(late->GetEntry(name)->at(Kind::kBenchmarkRun).digest,
            in_order->GetEntry(name)->at(Kind::kBenchmarkRun).digest);
}

}  // namespace
}  // namespace etl::test
