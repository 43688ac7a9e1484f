#include "model/ranking.h"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "model/json.h"
#include "tests/support/golden.h"

namespace etl {
namespace {

Contender Entrant(double value, std::int64_t ms, std::uint8_t digest,
                  EvidenceLevel evidence = EvidenceLevel::kReported) {
  Contender c;
  c.value = value;
  c.observed_at = Instant{ms};
  c.digest.bytes.fill(digest);
  c.evidence = evidence;
  return c;
}

Contender Interval(double value, double low, double high, std::uint8_t digest) {
  Contender c = Entrant(value, 0, digest);
  c.low = low;
  c.high = high;
  return c;
}

// Indices and ranks as text: "2:1 0:2".
std::string Text(const std::vector<Ranked>& ranked) {
  std::string out;
  for (const Ranked& r : ranked)
    out += (out.empty() ? "" : " ") + std::to_string(r.index) + ":" + std::to_string(r.rank);
  return out;
}

TEST(Rank, IsDenseOverEqualValues) {
  EXPECT_EQ(Text(Rank({Entrant(30, 1, 1), Entrant(10, 2, 2), Entrant(20, 3, 3), Entrant(10, 1, 4),
                       Entrant(40, 5, 5)})),
            "1:1 3:1 2:2 0:3 4:4");
  EXPECT_EQ(Text(Rank({})), "");
}

TEST(Rank, OrdersATieByEvidenceThenNewerThenDigest) {
  EXPECT_EQ(Text(Rank({Entrant(5, 1, 9), Entrant(5, 1, 3), Entrant(5, 2, 8),
                       Entrant(5, 0, 7, EvidenceLevel::kReproducible)})),
            "3:1 2:1 1:1 0:1");
}

TEST(Rank, TiesARunWhoseIntervalOverlapsEveryMembersOfTheChain) {
  // 2 overlaps 1 but not 0, so it starts a new chain.
  EXPECT_EQ(Text(Rank({Interval(10, 8, 12, 1), Interval(13, 11, 15, 2), Interval(16, 14, 18, 3)})),
            "0:1 1:1 2:2");
  EXPECT_EQ(Text(Rank({Interval(10, 8, 20, 1), Interval(13, 11, 15, 2), Interval(16, 14, 18, 3)})),
            "0:1 1:1 2:1");
  // Touching ends overlap.
  EXPECT_EQ(Text(Rank({Interval(10, 8, 12, 1), Interval(13, 12, 14, 2)})), "0:1 1:1");
}

TEST(Rank, NeedsAnIntervalOnEveryMemberToTieByInterval) {
  EXPECT_EQ(Text(Rank({Entrant(10, 0, 1), Interval(11, 9, 13, 2)})), "0:1 1:2");
  EXPECT_EQ(Text(Rank({Interval(10, 8, 12, 1), Entrant(11, 0, 2)})), "0:1 1:2");
  // A run with an equal value joins without an interval; from then on only equal values join.
  EXPECT_EQ(
      Text(Rank({Interval(10, 8, 12, 1), Entrant(10, 0, 2), Interval(11, 9, 13, 3), Entrant(11, 0, 4)})),
      "0:1 1:1 2:2 3:2");
  Contender half = Entrant(11, 0, 3);
  half.low = 9;
  EXPECT_EQ(Text(Rank({Interval(10, 8, 12, 1), half})), "0:1 1:2");
}

TEST(RecordHistory, IsTheStrictRunningMinimum) {
  const std::vector<Contender> runs = {Entrant(30, 5, 1), Entrant(20, 7, 2), Entrant(20, 6, 3),
                                       Entrant(50, 1, 4), Entrant(10, 9, 5), Entrant(10, 9, 4),
                                       Entrant(11, 10, 6)};
  EXPECT_EQ(RecordHistory(runs), (std::vector<std::size_t>{3, 0, 2, 5}));
  EXPECT_TRUE(RecordHistory({}).empty());
}

TEST(RecordHistory, AnEqualLaterValueNeverTakesTheRecord) {
  EXPECT_EQ(RecordHistory({Entrant(5, 2, 1), Entrant(5, 1, 2)}), (std::vector<std::size_t>{1}));
}

TEST(IneligibleReasons, ComeInAFixedOrder) {
  using Reasons = std::vector<std::string>;
  EXPECT_EQ(IneligibleReasons({"passed", false, false, 1.0}), Reasons{});
  EXPECT_EQ(IneligibleReasons({"incorrect_numerical", true, true, {}}),
            (Reasons{"STATUS_INCORRECT_NUMERICAL", "RETRACTED", "SUPERSEDED", "MISSING_PRIMARY_METRIC"}));
  EXPECT_EQ(IneligibleReasons({"timeout", false, false, 1.0}), Reasons{"STATUS_TIMEOUT"});
  EXPECT_EQ(IneligibleReasons({"passed", true, false, 1.0}), Reasons{"RETRACTED"});
  EXPECT_EQ(IneligibleReasons({"passed", false, true, 1.0}), Reasons{"SUPERSEDED"});
}

TEST(IneligibleReasons, TakeAValueOfZeroOrBelowAsNoMetric) {
  for (const double value :
       {0.0, -0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(IneligibleReasons({"passed", false, false, value}),
              std::vector<std::string>{"MISSING_PRIMARY_METRIC"});
  }
  EXPECT_TRUE(IneligibleReasons({"passed", false, false, 5e-324}).empty());
}

TEST(Evidence, IsReproducibleOnlyWithSourceIdentityAndRawEvidence) {
  BenchmarkRun run;
  ImplementationRevision revision;
  EXPECT_EQ(EvidenceOf(run, nullptr), EvidenceLevel::kReported);
  // Every combination of the three parts; only all three make it.
  for (int parts = 0; parts < 8; ++parts) {
    revision.source.reset();
    revision.project_revision.commit.reset();
    run.evidence.reset();
    if (parts & 1) revision.source.emplace();
    if (parts & 2) revision.project_revision.commit = std::string(40, 'a');
    if (parts & 4) run.evidence.emplace().raw_samples.emplace();
    EXPECT_EQ(EvidenceOf(run, &revision),
              parts == 7 ? EvidenceLevel::kReproducible : EvidenceLevel::kReported);
    EXPECT_EQ(EvidenceOf(run, nullptr), EvidenceLevel::kReported);
  }
  revision.project_revision.commit.reset();
  revision.project_revision.tree_digest.emplace();
  EXPECT_EQ(EvidenceOf(run, &revision), EvidenceLevel::kReproducible);
  run.evidence.reset();
  run.timing.emplace().raw_samples.emplace();
  EXPECT_EQ(EvidenceOf(run, &revision), EvidenceLevel::kReproducible);
}

TEST(Evidence, HasAName) {
  EXPECT_EQ(EvidenceName(EvidenceLevel::kReported), "reported");
  EXPECT_EQ(EvidenceName(EvidenceLevel::kReproducible), "reproducible");
  EXPECT_EQ(EvidenceName(EvidenceLevel::kVerified), "verified");
  EXPECT_EQ(EvidenceName(EvidenceLevel::kReplicated), "replicated");
}

// The definitions again, as directly as they can be said.

bool NaiveBefore(const Contender& a, const Contender& b) {
  const auto key = [](const Contender& c) {
    return std::make_tuple(c.value, -static_cast<int>(c.evidence), -c.observed_at.ms, c.digest);
  };
  return key(a) < key(b);
}

std::string NaiveRank(const std::vector<Contender>& runs) {
  std::vector<Ranked> out;
  std::vector<bool> placed(runs.size());
  std::vector<const Contender*> chain;
  std::uint32_t rank = 0;
  for (std::size_t n = 0; n < runs.size(); ++n) {
    std::size_t best = runs.size();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!placed[i] && (best == runs.size() || NaiveBefore(runs[i], runs[best]))) best = i;
    }
    placed[best] = true;
    const Contender& next = runs[best];
    const bool overlaps_all = std::all_of(chain.begin(), chain.end(), [&](const Contender* member) {
      return member->low && member->high && next.low && next.high && *next.low <= *member->high &&
             *member->low <= *next.high;
    });
    if (chain.empty() || (chain.back()->value != next.value && !overlaps_all)) {
      chain.clear();
      ++rank;
    }
    chain.push_back(&next);
    out.push_back({best, rank});
  }
  return Text(out);
}

std::vector<std::size_t> NaiveRecords(const std::vector<Contender>& runs) {
  std::vector<std::size_t> records;
  const auto earlier = [&](std::size_t a, std::size_t b) {
    return std::tie(runs[a].observed_at, runs[a].digest) < std::tie(runs[b].observed_at, runs[b].digest);
  };
  for (std::size_t i = 0; i < runs.size(); ++i) {
    bool record = true;
    for (std::size_t j = 0; j < runs.size(); ++j)
      record = record && !(earlier(j, i) && runs[j].value <= runs[i].value);
    if (record) records.push_back(i);
  }
  std::sort(records.begin(), records.end(), earlier);
  return records;
}

TEST(RankingProperty, EqualsTheNaiveDefinitionsOnRandomGroupsInAnyOrder) {
  std::mt19937 random(20260304);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 3000; ++round) {
    // Few values, instants and evidence levels, so that ties of every kind occur; digests differ.
    std::vector<Contender> runs(below(25));
    const std::uint32_t interval_share = below(3);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      runs[i] = Entrant(1 + below(8), below(5), 0, static_cast<EvidenceLevel>(below(4)));
      runs[i].digest.bytes[0] = static_cast<std::uint8_t>(below(256));
      runs[i].digest.bytes[31] = static_cast<std::uint8_t>(i);
      if (below(2) < interval_share) {
        runs[i].low = runs[i].value - below(3);
        runs[i].high = runs[i].value + below(3);
      }
    }
    ASSERT_EQ(Text(Rank(runs)), NaiveRank(runs)) << "round " << round;
    ASSERT_EQ(RecordHistory(runs), NaiveRecords(runs)) << "round " << round;

    std::vector<Contender> shuffled = runs;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    const auto a = Rank(runs);
    const auto b = Rank(shuffled);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      ASSERT_EQ(runs[a[i].index].digest, shuffled[b[i].index].digest);
      ASSERT_EQ(a[i].rank, b[i].rank);
    }
  }
}

TEST(RankingProperty, TheOrderIsStrictAndTotalOverDifferentDigests) {
  std::mt19937 random(7);
  std::vector<Contender> runs;
  for (int i = 0; i < 60; ++i) {
    runs.push_back(Entrant(static_cast<double>(random() % 3), static_cast<std::int64_t>(random() % 3),
                           static_cast<std::uint8_t>(i), static_cast<EvidenceLevel>(random() % 2)));
  }
  for (const auto& a : runs) {
    for (const auto& b : runs) EXPECT_EQ(RanksBefore(a, b) + RanksBefore(b, a), a.digest == b.digest ? 0 : 1);
  }
}

// The golden leaderboard.

struct GoldenGroup {
  std::vector<Contender> contenders;
  std::vector<std::string> ids;
};

TEST(GoldenRanking, EveryStandingAndRecordHistoryComesOut) {
  ETL_GOLDEN(dir);
  const std::string lines = test::ReadFile(dir + "/sol-execbench/expected.jsonl");
  std::map<std::string, GoldenGroup> groups;
  std::vector<json::Document> standings;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    auto document = json::Document::Parse(std::string_view(lines).substr(begin, end - begin));
    begin = end + 1;
    ASSERT_TRUE(document);
    const json::Value root = document->root();
    if (root.Find("kind").AsString() == "Standing") standings.push_back(*std::move(document));
    if (root.Find("kind").AsString() != "BenchmarkRun") continue;
    GoldenGroup& group = groups[std::string(root.Find("comparisonKey").AsString())];
    Contender c;
    c.value = *root.Find("primaryValue").AsDouble();
    c.observed_at = *ParseCanonicalInstant(root.Find("observedAt").AsString());
    c.digest = *ParseDigest(root.Find("digest").AsString());
    group.contenders.push_back(c);
    group.ids.emplace_back(root.Find("externalId").AsString());
  }
  EXPECT_GT(standings.size(), 100U);
  EXPECT_EQ(standings.size(), groups.size());
  for (const auto& document : standings) {
    const json::Value standing = document.root();
    const GoldenGroup& group = groups.at(std::string(standing.Find("comparisonKey").AsString()));
    std::vector<std::string> expected, actual;
    for (const auto entry : standing.Find("entries").elements()) {
      expected.push_back(std::string(entry.Find("externalId").AsString()) + " " +
                         std::string(entry.Find("rank").NumberText()) + " " +
                         std::to_string(*entry.Find("primaryValue").AsDouble()));
    }
    for (const Ranked& ranked : Rank(group.contenders)) {
      actual.push_back(group.ids[ranked.index] + " " + std::to_string(ranked.rank) + " " +
                       std::to_string(group.contenders[ranked.index].value));
    }
    EXPECT_EQ(actual, expected) << standing.Find("comparisonKey").AsString();

    std::vector<std::string> expected_records, actual_records;
    for (const auto record : standing.Find("records").elements()) {
      expected_records.push_back(std::string(record.Find("at").AsString()) + " " +
                                 std::string(record.Find("externalId").AsString()) + " " +
                                 std::string(record.Find("previous").AsString()));
    }
    std::string previous;
    for (const std::size_t index : RecordHistory(group.contenders)) {
      actual_records.push_back(group.contenders[index].observed_at.Text() + " " + group.ids[index] + " " +
                               previous);
      previous = group.ids[index];
    }
    EXPECT_EQ(actual_records, expected_records) << standing.Find("comparisonKey").AsString();
  }
}

}  // namespace
}  // namespace etl
