// The main job on the golden leaderboard: every expected line must come out of the store.
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "model/json.h"
#include "tests/support/backfill.h"
#include "tests/support/golden.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

// The export as sets that expected lines can be looked up in.
struct Exported {
  std::set<std::string> objects;                         // digests
  std::map<std::string, std::set<std::string>> entries;  // "kind external id" -> digests ("" for none)
  std::map<std::string, std::string> states;             // submission -> state
  std::map<std::string, std::string> standings;          // comparison key -> canonical standing and records
};

std::string StandingText(json::Value entries, json::Value records) {
  std::string out;
  for (const json::Value e : entries.elements()) {
    out.append(e.Find("externalId").AsString()).append(" ").append(e.Find("rank").NumberText()).append(" ");
    const json::Value value = e.Find("value") ? e.Find("value") : e.Find("primaryValue");
    out.append(value.NumberText()).append("\n");
  }
  for (const json::Value r : records.elements())
    out.append(r.Find("at").AsString())
        .append(" ")
        .append(r.Find("externalId").AsString())
        .append(" after ")
        .append(r.Find("previous").AsString())
        .append("\n");
  return out;
}

Exported Read(const std::string& text) {
  Exported out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const auto line = json::Document::Parse(std::string_view(text).substr(at, end - at));
    at = end + 1;
    if (!line) throw std::runtime_error(line.error().Message());
    const json::Value v = line->root();
    const auto type = v.Find("type").AsString();
    if (type == "object") {
      out.objects.emplace(v.Find("digest").AsString());
    } else if (type == "entry") {
      const std::string name =
          std::string(v.Find("kind").AsString()) + " " + std::string(v.Find("externalId").AsString());
      out.entries[name].emplace(v.Find("digest").AsString());
      out.states[name] = v.Find("state").AsString();
    } else {
      out.standings[std::string(v.Find("comparisonKey").AsString())] =
          StandingText(v.Find("standing"), v.Find("records"));
    }
  }
  return out;
}

TEST(GoldenBackfill, EveryExpectedLineComesOut) {
  ETL_GOLDEN(golden);
  ManualClock clock;
  const auto store = OpenStore("", clock);
  const VisitResult result = Backfill(*store, golden + "/sol-execbench", clock);
  ASSERT_EQ(result.visit, "full") << result.Json();
  EXPECT_EQ(result.quarantined, 0u);
  EXPECT_EQ(result.rows, 652u);
  EXPECT_EQ(result.runs, 390u);
  const Exported exported = Read(ExportOf(*store));
  const std::string expected = ReadFile(golden + "/sol-execbench/expected.jsonl");
  std::size_t lines = 0, standings = 0;
  for (std::size_t at = 0; at < expected.size();) {
    const std::size_t end = expected.find('\n', at);
    const std::string_view text = std::string_view(expected).substr(at, end - at);
    at = end == std::string::npos ? expected.size() : end + 1;
    if (text.empty()) continue;
    const auto line = json::Document::Parse(text);
    ASSERT_TRUE(line.has_value());
    const json::Value v = line->root();
    const std::string kind(v.Find("kind").AsString());
    ++lines;
    if (kind == "Standing") {
      ++standings;
      const auto it = exported.standings.find(std::string(v.Find("comparisonKey").AsString()));
      ASSERT_NE(it, exported.standings.end()) << text;
      EXPECT_EQ(it->second, StandingText(v.Find("entries"), v.Find("records")));
      continue;
    }
    const std::string name = kind + " " + std::string(v.Find("externalId").AsString());
    const auto it = exported.entries.find(name);
    ASSERT_NE(it, exported.entries.end()) << text;
    if (kind == "Submission") {
      EXPECT_NE(exported.states.at(name), "passed") << text;
      EXPECT_FALSE(exported.entries.contains("BenchmarkRun " + std::string(v.Find("externalId").AsString())))
          << text;
      continue;
    }
    const std::string digest(v.Find("digest").AsString());
    EXPECT_TRUE(it->second.contains(digest)) << text;
    EXPECT_TRUE(exported.objects.contains(digest)) << text;
    if (kind != "BenchmarkRun") continue;
    for (const char* part : {"implementationDigest", "workloadDigest", "protocolDigest", "environmentDigest"})
      EXPECT_TRUE(exported.objects.contains(std::string(v.Find(part).AsString()))) << text;
  }
  EXPECT_EQ(lines, 3047u);
  EXPECT_EQ(exported.standings.size(), standings);
}

TEST(GoldenBackfill, TheSeedRecordsHaveTheirDigestGroupAndRank) {
  ETL_GOLDEN(golden);
  ManualClock clock;
  const auto store = OpenStore("", clock);
  ASSERT_EQ(Backfill(*store, golden + "/sol-execbench", clock).visit, "full");
  struct Seed {
    const char *id, *run, *group;
    std::uint32_t rank;
  };
  const Seed seeds[] = {
      {"submission/37749", "sha256:db5f35ba20d6be3b13291966685408ca3300350db335d3a3a0eb135fce2aa685",
       "sha256:3ec1d57e98df6274eeb13f91715b326d2471b92e5e4c4440cb40aa55f4388f6e", 7},
      {"submission/14917", "sha256:486a757a54ba25c8de2165e2dd2b9696c234d1147241426c430e6334870d0e2b",
       "sha256:d2295cd48d469eac371b16811fe602142250945de43c8096185a60d49a58785c", 4}};
  for (const Seed& seed : seeds) {
    const auto entry = store->GetEntry({"sol-execbench", seed.id, ""});
    ASSERT_TRUE(entry.has_value());
    const Version& run = entry->at(Kind::kBenchmarkRun);
    EXPECT_EQ(run.digest->Text(), seed.run);
    const auto line = store->RankOf(run);
    ASSERT_TRUE(line && *line);
    EXPECT_EQ((*line)->rank, seed.rank);
    EXPECT_EQ(store->GetGroup(run.ranked->group)->key.Text(), seed.group);
  }
}

TEST(GoldenBackfill, RunAgainChangesNothing) {
  ETL_GOLDEN(golden);
  ManualClock clock;
  const auto store = OpenStore("", clock);
  const VisitResult first = Backfill(*store, golden + "/sol-execbench", clock);
  const std::string before = ExportOf(*store);
  clock.AdvanceMs(60'000);
  const VisitResult second = Backfill(*store, golden + "/sol-execbench", clock);
  EXPECT_EQ(second.visit, "full");
  EXPECT_EQ(second.changes, 0u);
  EXPECT_EQ(second.snapshots, 0u);
  EXPECT_EQ(second.entries_new + second.entries_changed, 0u);
  EXPECT_EQ(second.entries_unchanged, first.entries_new + first.entries_unchanged);
  EXPECT_EQ(second.runs, first.runs);
  EXPECT_EQ(second.sequence, first.sequence);
  EXPECT_EQ(Difference(ExportOf(*store), before), "");
}

TEST(GoldenBackfill, VerifyIsCleanAndRebuildGivesTheSameBytes) {
  ETL_GOLDEN(golden);
  TempDir dir("golden");
  ManualClock clock;
  const auto store = OpenStore(dir.File("store"), clock);
  ASSERT_EQ(Backfill(*store, golden + "/sol-execbench", clock).visit, "full");
  const auto report = store->Verify();
  ASSERT_TRUE(report.has_value());
  for (const Error& fault : report->faults) ADD_FAILURE() << fault.Message();
  ReplayClock replay;
  const auto target = OpenStore(dir.File("rebuilt"), replay);
  const auto rebuilt = Rebuild(*store, *target, replay, nullptr);
  ASSERT_TRUE(rebuilt.has_value()) << rebuilt.error().Message();
  EXPECT_EQ(Difference(ExportOf(*target), ExportOf(*store)), "");
  EXPECT_EQ(target->Verify()->root, report->root);
}

}  // namespace
}  // namespace etl::test
