// What the adapter makes of the golden leaderboard, line by line of what must come out.

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/adapter.h"
#include "fetch/transport.h"
#include "model/canonical_json.h"
#include "model/ranking.h"
#include "tests/adapters/visit_support.h"
#include "tests/support/golden.h"

namespace etl::test {
namespace {

struct Golden {
  Visited visited;
  std::vector<std::string> expected;
  std::map<std::string, std::map<std::string, const EntryDraft*>>
      by_kind;  // kind -> scope + external id -> entry
};

Upstream Through(Transport& transport) {
  return [&transport](const std::string& key) {
    const auto response = transport.Fetch(key);
    if (!response) {
      ADD_FAILURE() << response.error().Message();
      return std::string();
    }
    return response->status == 200 ? response->bytes : std::string();
  };
}

Golden VisitGolden(const std::string& dir, Reading reading = Reading::kFull) {
  auto transport = OpenFolder(dir + "/sol-execbench");
  auto adapter = MakeAdapter("sol-execbench");
  Golden golden;
  golden.visited = Visit(*adapter, Through(**transport), {}, reading);
  for (const EntryDraft& entry : golden.visited.draft.entries) {
    golden.by_kind[std::string(KindName(entry.kind))][entry.scope + " " + entry.external_id] = &entry;
  }
  std::istringstream lines(ReadFile(dir + "/sol-execbench/expected.jsonl"));
  for (std::string line; std::getline(lines, line);) golden.expected.push_back(line);
  return golden;
}

std::string Text(json::Value value, std::string_view member) {
  return std::string(value.Find(member).AsString());
}

void CheckRun(const Golden& golden, const EntryDraft& entry, json::Value line) {
  const auto run = json::Document::Parse(entry.identity);
  ASSERT_TRUE(run);
  const json::Value spec = run->root().Find("spec");
  for (const char* member :
       {"implementationDigest", "workloadDigest", "protocolDigest", "environmentDigest"}) {
    EXPECT_EQ(Text(spec, member), Text(line, member)) << member;
  }
  EXPECT_EQ(Text(spec, "observedAt"), Text(line, "observedAt"));
  ASSERT_TRUE(entry.ranking);
  EXPECT_EQ(entry.ranking->comparison_key.Text(), Text(line, "comparisonKey"));
  EXPECT_EQ(entry.ranking->value, line.Find("primaryValue").AsDouble());
  EXPECT_EQ(entry.ranking->observed_at.Text(), Text(line, "observedAt"));
  EXPECT_EQ(entry.ranking->profile, "source_native");
  EXPECT_EQ(entry.state, EntryState::kPassed);
  EXPECT_TRUE(entry.reasons.empty());
  const std::string id = " " + entry.external_id;
  EXPECT_EQ(golden.by_kind.at("ImplementationRevision").at(id)->digest.Text(),
            Text(line, "implementationDigest"));
  EXPECT_EQ(golden.by_kind.at("Submission").at(id)->state, EntryState::kPassed);
}

void CheckExcluded(const Golden& golden, const EntryDraft& entry, const std::string& why) {
  static const std::map<std::string, std::vector<std::string>> kReasons = {
      {"running", {"NOT_FINISHED"}},
      {"disqualified", {"DISQUALIFIED"}},
      {"no_latency", {"MISSING_PRIMARY_METRIC"}},
      {"zero_latency", {"MISSING_PRIMARY_METRIC"}},
      {"failed", {"STATUS_FAILED", "NOT_CORRECT", "MISSING_PRIMARY_METRIC"}},
      {"incorrect", {"NOT_CORRECT"}},
      {"below_speed_of_light", {"BELOW_SPEED_OF_LIGHT"}},
  };
  ASSERT_TRUE(kReasons.count(why)) << why;
  // The set names one reason a row; some of its bad rows are under the bound as well.
  std::vector<std::string> reasons = entry.reasons;
  if (reasons.size() > 1 && reasons.back() == "BELOW_SPEED_OF_LIGHT") reasons.pop_back();
  EXPECT_EQ(reasons, kReasons.at(why)) << why;
  EXPECT_EQ(entry.state, why == "running" ? EntryState::kPending : EntryState::kExcluded);
  EXPECT_TRUE(entry.identity.empty());
  EXPECT_TRUE(entry.content);
  EXPECT_EQ(golden.by_kind.at("BenchmarkRun").count(" " + entry.external_id), 0U);
}

void CheckStanding(const Golden& golden, json::Value line) {
  std::vector<const EntryDraft*> runs;
  for (const auto& [id, entry] : golden.by_kind.at("BenchmarkRun")) {
    if (entry->ranking->comparison_key.Text() == Text(line, "comparisonKey")) runs.push_back(entry);
  }
  std::vector<Contender> contenders;
  for (const EntryDraft* run : runs) {
    contenders.push_back(
        {run->ranking->value, EvidenceLevel::kReported, run->ranking->observed_at, run->digest, {}, {}});
  }
  const auto ranked = Rank(contenders);
  const json::Value entries = line.Find("entries");
  ASSERT_EQ(ranked.size(), entries.size());
  std::size_t i = 0;
  for (const json::Value expected : entries.elements()) {
    EXPECT_EQ(runs[ranked[i].index]->external_id, Text(expected, "externalId"));
    EXPECT_EQ(ranked[i].rank, expected.Find("rank").AsInt64());
    EXPECT_EQ(runs[ranked[i].index]->ranking->value, expected.Find("primaryValue").AsDouble());
    ++i;
  }
  const auto history = RecordHistory(contenders);
  const json::Value records = line.Find("records");
  ASSERT_EQ(history.size(), records.size());
  i = 0;
  for (const json::Value expected : records.elements()) {
    EXPECT_EQ(runs[history[i]]->external_id, Text(expected, "externalId"));
    EXPECT_EQ(runs[history[i]]->ranking->observed_at.Text(), Text(expected, "at"));
    EXPECT_EQ(i == 0 ? "" : runs[history[i - 1]]->external_id, Text(expected, "previous"));
    ++i;
  }
}

TEST(SolExecbenchGolden, YieldsEveryExpectedLine) {
  ETL_GOLDEN(dir);
  const Golden golden = VisitGolden(dir);
  std::map<std::string, std::size_t> checked;
  for (const std::string& text : golden.expected) {
    SCOPED_TRACE(text.substr(0, 300));
    const auto document = json::Document::Parse(text);
    ASSERT_TRUE(document);
    const json::Value line = document->root();
    const std::string kind = Text(line, "kind");
    ++checked[kind];
    if (kind == "Standing") {
      CheckStanding(golden, line);
      continue;
    }
    const std::string scope = kind == "WorkloadCase" ? Text(line, "kernel") : "";
    const auto& entries = golden.by_kind.at(kind);
    const auto entry = entries.find(scope + " " + Text(line, "externalId"));
    ASSERT_NE(entry, entries.end());
    if (kind == "Submission") {
      CheckExcluded(golden, *entry->second, Text(line, "why"));
      continue;
    }
    EXPECT_EQ(entry->second->digest.Text(), Text(line, "digest"));
    EXPECT_EQ(entry->second->digest, Sha256(entry->second->identity));
    if (kind == "BenchmarkRun") CheckRun(golden, *entry->second, line);
  }
  EXPECT_EQ(checked["Standing"], 174U);
  EXPECT_EQ(checked["BenchmarkRun"], 390U);
  EXPECT_EQ(checked["WorkloadCase"], 1983U);
}

TEST(SolExecbenchGolden, IsWholeAndFreeOfFaults) {
  ETL_GOLDEN(dir);
  const Golden golden = VisitGolden(dir);
  EXPECT_TRUE(golden.visited.errors.empty());
  EXPECT_TRUE(golden.visited.shortfalls.empty());
  EXPECT_TRUE(golden.visited.draft.quarantine.empty());
  EXPECT_TRUE(golden.visited.draft.drift.empty());
  EXPECT_EQ(golden.visited.rows, 652U);
  EXPECT_EQ(golden.visited.scopes, 119U);
  EXPECT_EQ(golden.visited.scopes_done, 119U);
  EXPECT_EQ(Count(golden.visited.draft, Kind::kSubmission), 652U);
  EXPECT_EQ(Count(golden.visited.draft, Kind::kBenchmarkRun), 390U);
  EXPECT_EQ(Count(golden.visited.draft, Kind::kImplementationRevision), 390U);
}

TEST(SolExecbenchGolden, MakesNothingButValidManifests) {
  ETL_GOLDEN(dir);
  const Golden golden = VisitGolden(dir);
  for (const EntryDraft& entry : golden.visited.draft.entries) {
    SCOPED_TRACE(std::string(KindName(entry.kind)) + " " + entry.external_id);
    const auto metadata = json::Document::Parse(entry.metadata);
    ASSERT_TRUE(metadata);
    EXPECT_EQ(json::Canonical(metadata->root()), entry.metadata);
    if (entry.kind == Kind::kSubmission) continue;
    const auto manifest = json::Document::Parse(JoinManifest(entry.identity, entry.metadata));
    ASSERT_TRUE(manifest);
    const auto faults = CheckManifest(manifest->root());
    EXPECT_TRUE(faults.empty()) << faults[0].Message();
    EXPECT_EQ(entry.metadata.find("not republished"), std::string::npos);
  }
}

TEST(SolExecbenchGolden, AWalkAloneAsksTheSameAndDraftsNothing) {
  ETL_GOLDEN(dir);
  const Golden full = VisitGolden(dir);
  const Golden walk = VisitGolden(dir, Reading::kWalkOnly);
  EXPECT_EQ(walk.visited.asked, full.visited.asked);
  EXPECT_EQ(walk.visited.rows, full.visited.rows);
  EXPECT_EQ(walk.visited.scopes_done, full.visited.scopes_done);
  EXPECT_TRUE(walk.visited.draft.entries.empty());
  EXPECT_TRUE(walk.visited.contexts.empty() || walk.visited.contexts.begin()->second.empty());
}

}  // namespace
}  // namespace etl::test
