// The commands on a store that was filled from the example leaderboard at its three points in time.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/canonical_json.h"
#include "model/digest.h"
#include "model/json.h"
#include "model/manifest.h"
#include "tests/etlctl/ctl.h"
#include "tests/support/temp_dir.h"

namespace etl::ctl {
namespace {

using test::Ctl;
using test::Ran;
using ::testing::HasSubstr;
using ::testing::Not;
using Args = std::vector<std::string>;

const std::string kExample = std::string(ETL_SOURCE_DIR) + "/fixtures/leaderboard/";
constexpr const char* kNight = "2026-10-01T00:00:00Z";

json::Document Parsed(const std::string& text) {
  auto document = json::Document::Parse(text);
  if (!document) throw std::runtime_error(document.error().Message() + " in " + text);
  return *std::move(document);
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class Commands : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = std::make_unique<etl::test::TempDir>("ctl");
    for (const char* point : {"1", "2", "3"}) {
      const Ran ran = Ctl({"--store", dir_->File("store"), "backfill", "--source", "sol-execbench", "--from",
                           kExample + point, "--captured-at", std::string("2026-10-0") + point + "T00:00:00Z",
                           "-o", "json"});
      if (ran.exit != 0) throw std::runtime_error(ran.out + ran.err);
      results_.push_back(Lines(ran.out).back());
    }
  }
  static void TearDownTestSuite() {
    results_.clear();
    dir_.reset();
  }

  static Ran On(Args args) {
    args.insert(args.end(), {"--store", dir_->File("store")});
    return Ctl(args);
  }
  static std::string DigestOfRun(const std::string& row) {
    const auto document = Parsed(On({"get", "run", "sol-execbench:submission/" + row, "-o", "json"}).out);
    return std::string(document.root().Find("digest").AsString());
  }
  static std::unique_ptr<etl::test::TempDir> dir_;
  static std::vector<std::string> results_;
};
std::unique_ptr<etl::test::TempDir> Commands::dir_;
std::vector<std::string> Commands::results_;

TEST_F(Commands, BackfillEndsWithItsResultAsOneObject) {
  const auto document = Parsed(results_[0]);
  const json::Value result = document.root();
  EXPECT_EQ(result.Find("source").AsString(), "sol-execbench");
  EXPECT_EQ(result.Find("visit").AsString(), "full");
  EXPECT_EQ(result.Find("runs").AsInt64(), 336);
  for (const char* name : {"requests", "snapshots", "entries", "groupsRecomputed", "quarantined", "gaps",
                           "drift", "changes", "epoch", "sequence", "elapsedSeconds"}) {
    EXPECT_TRUE(result.Find(name)) << name;
  }
}

TEST_F(Commands, BackfillOfTheSameAgainChangesNothingAndSaysSo) {
  const etl::test::TempDir dir("ctl");
  const Args args{"backfill",      "--source", "sol-execbench", "--from",     kExample + "1",
                  "--captured-at", kNight,     "--store",       dir.File("s")};
  const Ran first = Ctl(args);
  EXPECT_EQ(first.exit, 0) << first.err;
  EXPECT_THAT(first.out, Not(HasSubstr("Nothing changed")));
  const std::string before = Ctl({"export", "--store", dir.File("s")}).out;
  const Ran again = Ctl(args);
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("Nothing changed: the store had all of it already."));
  EXPECT_EQ(Ctl({"export", "--store", dir.File("s")}).out, before);
}

TEST_F(Commands, DryRunMakesNoStore) {
  const etl::test::TempDir dir("ctl");
  const Ran ran = Ctl({"backfill", "--source", "sol-execbench", "--from", kExample + "1", "--dry-run",
                       "--store", dir.File("s")});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("Dry run: nothing was written."));
  EXPECT_EQ(Ctl({"status", "--store", dir.File("s")}).exit, 4);
}

TEST_F(Commands, ALimitMakesTheVisitPartialAndIsNoFailure) {
  const etl::test::TempDir dir("ctl");
  const Ran ran = Ctl({"backfill", "--source", "sol-execbench", "--from", kExample + "1", "--limit", "60",
                       "--store", dir.File("s"), "-o", "json"});
  EXPECT_EQ(ran.exit, 0) << ran.err << ran.out;
  EXPECT_EQ(Parsed(Lines(ran.out).back()).root().Find("visit").AsString(), "partial");
}

TEST_F(Commands, BackfillReadsAFolderOfDefinitionFiles) {
  const etl::test::TempDir dir("ctl");
  std::filesystem::create_directories(dir.File("toy"));
  std::ofstream(dir.File("toy/definition.json"))
      << R"({"name": "toy_scale", "op_type": "toy", "axes": {"n": {"type": "var"}},)"
      << R"( "inputs": {"x": {"shape": ["n"], "dtype": "float32"}}, "outputs": {"y": {"shape": ["n"], "dtype": "float32"}}})";
  std::ofstream(dir.File("toy/workload.jsonl")) << R"({"axes": {"n": 64}})"
                                                << "\n";
  const Ran ran =
      Ctl({"backfill", "--source", "sol-execbench", "--from", dir.path(), "--store", dir.File("s")});
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  const Ran object = Ctl({"get", "object", "toy_scale", "-o", "manifest", "--store", dir.File("s")});
  EXPECT_EQ(object.exit, 0) << object.err;
  EXPECT_THAT(object.out, HasSubstr("\"family\":\"toy\""));
}

TEST_F(Commands, AKernelThatIsNotThereMakesTheVisitIncomplete) {
  const etl::test::TempDir dir("ctl");
  const Ran ran = Ctl({"backfill", "--source", "sol-execbench", "--from", kExample + "1", "--kernel",
                       "999_absent", "--store", dir.File("s")});
  EXPECT_EQ(ran.exit, 3) << ran.err << ran.out;
}

TEST_F(Commands, GetRunTakesADigestAPrefixAndAName) {
  const std::string digest = DigestOfRun("70021");
  for (const std::string& id :
       {digest, digest.substr(7), digest.substr(7, 16), digest.substr(0, 20), std::string("submission/70021"),
        std::string("sol-execbench:submission/70021")}) {
    const Ran ran = On({"get", "run", id, "-o", "json"});
    EXPECT_EQ(ran.exit, 0) << id << ran.err;
    EXPECT_EQ(Parsed(ran.out).root().Find("digest").AsString(), digest) << id;
  }
}

TEST_F(Commands, GetRunGivesTheExactCanonicalManifest) {
  const Ran ran = On({"get", "run", "submission/70021", "-o", "manifest"});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const std::string manifest = ran.out.substr(0, ran.out.size() - 1);
  const auto canonical = json::Canonicalize(manifest);
  ASSERT_TRUE(canonical);
  EXPECT_EQ(*canonical, manifest);
  const auto document = Parsed(manifest);
  const auto read = ReadManifest(document.root());
  ASSERT_TRUE(read) << read.error().Message();
  EXPECT_EQ(DigestOf(read->spec).Text(), DigestOfRun("70021"));
}

TEST_F(Commands, GetRunShowsRankGroupVersionsAndProvenance) {
  const auto document = Parsed(On({"get", "run", "submission/70021", "-o", "json"}).out);
  const json::Value run = document.root();
  EXPECT_EQ(run.Find("rank").AsInt64(), 1);
  EXPECT_EQ(run.Find("kernel").AsString(), "005_scalar_drift_adam");
  EXPECT_TRUE(run.At({"group", "comparisonKey"}).IsString());
  EXPECT_EQ(run.At({"provenance", "request"}).AsString().substr(0, 11), "submissions");
  EXPECT_TRUE(run.At({"provenance", "snapshot"}).IsString());
  EXPECT_EQ(run.Find("versions").size(), 1U);
  const Ran table = On({"get", "run", "submission/70021"});
  EXPECT_THAT(table.out, HasSubstr("Scalar drift adam"));
  EXPECT_THAT(table.out, HasSubstr("Provenance\n"));
  EXPECT_THAT(table.out, HasSubstr("Versions\n"));
}

TEST_F(Commands, GetRunSaysThatARunWasRetractedAndWhy) {
  const auto document = Parsed(On({"get", "run", "submission/70206", "-o", "json"}).out);
  EXPECT_EQ(document.root().Find("state").AsString(), "retracted");
  EXPECT_TRUE(document.root().Find("rank").IsNull());
  EXPECT_TRUE(document.root().At({"group", "comparisonKey"}).IsString());
  EXPECT_EQ(document.root().Find("versions").size(), 2U);
  const Ran page = On({"get", "run", "submission/70206", "-o", "page"});
  EXPECT_EQ(page.exit, 0);
  EXPECT_THAT(page.out, HasSubstr("!! RETRACTED: "));
  EXPECT_THAT(page.out, HasSubstr("DISQUALIFIED"));
}

TEST_F(Commands, GetRunLeadsFromASupersededRunToTheNewerOne) {
  const auto document = Parsed(On({"get", "entry", "submission/70140", "-o", "json"}).out);
  std::string first;
  for (const json::Value kind : document.root().Find("kinds").elements()) {
    if (kind.Find("kind").AsString() != "BenchmarkRun") continue;
    EXPECT_EQ(kind.Find("versions").size(), 2U);
    for (const json::Value version : kind.Find("versions").elements()) {
      first = std::string(version.Find("digest").AsString());
      break;
    }
  }
  ASSERT_FALSE(first.empty());
  const auto old = Parsed(On({"get", "run", first, "-o", "json"}).out);
  EXPECT_EQ(old.root().Find("state").AsString(), "superseded");
  EXPECT_EQ(old.root().Find("supersededBy").AsString(), DigestOfRun("70140"));
  EXPECT_TRUE(old.root().Find("rank").IsNull());
}

TEST_F(Commands, GetRunOfARowThatNeverPassedSaysWhy) {
  const Ran ran = On({"get", "run", "submission/70011"});
  EXPECT_EQ(ran.exit, 4);
  EXPECT_THAT(ran.err, HasSubstr("NOT_FOUND at submission/70011"));
  EXPECT_THAT(ran.err, HasSubstr("no BenchmarkRun came of it"));
  EXPECT_EQ(On({"get", "entry", "submission/70011"}).exit, 0);
}

TEST_F(Commands, GetListsWhatAnAmbiguousIdMayMean) {
  std::map<std::string, int> starts;
  for (const std::string& line : Lines(On({"export"}).out)) {
    const auto document = Parsed(line);
    if (document.root().Find("type").AsString() == "object")
      ++starts[std::string(document.root().Find("digest").AsString().substr(7, 4))];
  }
  const auto shared =
      std::find_if(starts.begin(), starts.end(), [](const auto& start) { return start.second > 1; });
  ASSERT_NE(shared, starts.end()) << "over a thousand digests, and no two begin with the same 4 digits";
  const Ran ran = On({"get", "object", shared->first});
  EXPECT_EQ(ran.exit, 4);
  EXPECT_THAT(ran.err, HasSubstr("AMBIGUOUS at " + shared->first));
  EXPECT_THAT(ran.err, HasSubstr("\n    sha256:" + shared->first));
  EXPECT_EQ(On({"get", "object", "abc"}).exit, 4);
  EXPECT_EQ(On({"get", "object", "sha256:abc"}).exit, 2);
  EXPECT_EQ(On({"get", "object", "sha256:" + std::string(64, '0')}).exit, 4);
}

TEST_F(Commands, RanksShowsEveryGroupOfAKernel) {
  const Ran ran = On({"ranks", "--kernel", "005_scalar_drift_adam", "-o", "json"});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto document = Parsed(ran.out);
  EXPECT_EQ(document.root().Find("groups").size(), 2U);
  std::size_t runs = 0;
  for (const json::Value group : document.root().Find("groups").elements()) {
    std::int64_t before = 0;
    for (const json::Value line : group.Find("standing").elements()) {
      ++runs;
      const std::int64_t rank = line.Find("rank").AsInt64().value_or(-1);
      EXPECT_TRUE(rank == before || rank == before + 1);
      before = rank;
      EXPECT_NE(line.Find("user").AsString(), "");
    }
  }
  EXPECT_EQ(runs, 40U);
  const Ran table = On({"ranks", "--kernel", "005_scalar_drift_adam", "--top", "3"});
  EXPECT_THAT(table.out, HasSubstr("RANK"));
  EXPECT_THAT(table.out, HasSubstr("submission/70021"));
  EXPECT_THAT(table.out, HasSubstr("3 of "));
}

TEST_F(Commands, NamesOfPeopleCannotBreakALine) {
  const etl::test::TempDir dir("ctl");
  std::filesystem::copy(kExample + "1", dir.File("saved"), std::filesystem::copy_options::recursive);
  const std::string path = dir.File("saved/submissions/41.json");
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::string rows = text.str();
  const std::string from = "\"username\": \"oxbow\"";
  const std::size_t at = rows.find(from);
  ASSERT_NE(at, std::string::npos);
  rows.replace(at, from.size(), R"("username": "ox\n\u001b[2J\u202ebow")");
  std::ofstream(path) << rows;
  const Args fill{"backfill",        "--source", "sol-execbench", "--from",
                  dir.File("saved"), "--store",  dir.File("s")};
  ASSERT_EQ(Ctl(fill).exit, 0);
  const Ran ran = Ctl({"ranks", "--kernel", "008_names_rotary_embed", "--store", dir.File("s")});
  EXPECT_THAT(ran.out, HasSubstr("ox\\n\\x1b[2J\\u{202e}bow"));
  EXPECT_EQ(ran.out.find('\x1b'), std::string::npos);
}

TEST_F(Commands, RanksLookBackInTime) {
  const auto leader = [](const Ran& ran) {
    const auto document = Parsed(Lines(ran.out).front());
    for (const json::Value line : document.root().Find("standing").elements()) {
      return std::string(line.Find("externalId").AsString());
    }
    return std::string();
  };
  const auto now = Parsed(On({"get", "run", "submission/70216", "-o", "json"}).out);
  EXPECT_EQ(now.root().Find("rank").AsInt64(), 1);
  const std::string key(now.root().At({"group", "comparisonKey"}).AsString());
  EXPECT_EQ(leader(On({"ranks", key, "-o", "jsonl"})), "submission/70216");
  const std::string then = std::to_string(Parsed(results_[0]).root().Find("sequence").AsInt64().value_or(0));
  const std::string epoch(Parsed(results_[0]).root().Find("epoch").AsString());
  EXPECT_EQ(leader(On({"ranks", key, "-o", "jsonl", "--as-of", then})), "submission/70206");
  EXPECT_EQ(leader(On({"ranks", key, "-o", "jsonl", "--as-of", epoch + ":" + then})), "submission/70206");
  EXPECT_EQ(On({"ranks", key, "--as-of", "soon"}).exit, 2);
  EXPECT_EQ(On({"ranks", key, "--as-of", "99999999"}).exit, 4);
  EXPECT_EQ(On({"ranks", "--kernel", "nobody_knows"}).exit, 4);
}

TEST_F(Commands, RanksKeepTheGroupsOfEarlierVersionsForThoseWhoAsk) {
  const auto count = [](const Ran& ran) { return Lines(ran.out).size(); };
  const std::string kernel = "003_quill_nvfp4_matmul";
  const std::size_t now = count(On({"ranks", "--kernel", kernel, "-o", "jsonl"}));
  const std::size_t all = count(On({"ranks", "--kernel", kernel, "-o", "jsonl", "--all"}));
  EXPECT_GT(now, 0U);
  EXPECT_GT(all, now);
}

TEST_F(Commands, RecordsComeNewestFirst) {
  const Ran ran = On({"records", "-o", "jsonl", "--top", "20"});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto lines = Lines(ran.out);
  ASSERT_EQ(lines.size(), 20U);
  std::string before = "9";
  for (const std::string& line : lines) {
    const std::string at(Parsed(line).root().Find("at").AsString());
    EXPECT_LE(at, before);
    before = at;
  }
  EXPECT_THAT(On({"records", "--kernel", "005_scalar_drift_adam"}).out, HasSubstr("submission/70021"));
}

TEST_F(Commands, HistorySaysWhatChangedAndWhy) {
  const Ran ran = On({"history", "submission/70140"});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("first seen"));
  EXPECT_THAT(ran.out, HasSubstr("the source answers otherwise than before"));
  EXPECT_THAT(ran.out, HasSubstr("row.latency_ms  "));
  EXPECT_THAT(ran.out, HasSubstr("spec.timing.latencyNs.mean  "));
  const Ran left = On({"history", "submission/70206", "-o", "json"});
  EXPECT_THAT(left.out, HasSubstr("\"why\":\"its row does not pass any more\""));
  EXPECT_THAT(left.out, HasSubstr("\"path\":\"row.is_disqualified\",\"before\":false,\"after\":true"));
  // The row of 70130 never changed: its kernel's bound did.
  EXPECT_THAT(On({"history", "submission/70130"}).out,
              HasSubstr("read again, because what it is read with changed"));
}

TEST_F(Commands, CompareMarksDifferencesAndSaysWhenValuesMayNotBeCompared) {
  const Ran one = On({"compare", "submission/70021", "submission/70058"});
  EXPECT_EQ(one.exit, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("In one comparison group"));
  EXPECT_THAT(one.out, HasSubstr("fastest"));
  EXPECT_THAT(one.out, HasSubstr("* differs"));
  const Ran apart = On({"compare", "submission/70021", "submission/70140"});
  EXPECT_THAT(apart.out, HasSubstr("NOT in one comparison group: operation, workload"));
  EXPECT_THAT(apart.out, Not(HasSubstr("fastest")));
  const auto document = Parsed(On({"compare", "submission/70021", "submission/70140", "-o", "json"}).out);
  EXPECT_FALSE(document.root().Find("comparable").IsTrue());
  EXPECT_EQ(document.root().Find("runs").size(), 2U);
}

TEST_F(Commands, ChangesGoOnWhereTheReaderStopped) {
  const Ran first = On({"changes", "--limit", "5", "-o", "json"});
  ASSERT_EQ(first.exit, 0) << first.err;
  const auto document = Parsed(first.out);
  EXPECT_EQ(document.root().Find("changes").size(), 5U);
  EXPECT_TRUE(document.root().Find("more").IsTrue());
  const std::string next(document.root().Find("next").AsString());
  const Ran second = On({"changes", "--since", next, "--limit", "1", "-o", "jsonl"});
  EXPECT_EQ(Parsed(second.out).root().Find("sequence").AsInt64(), 6);
  const std::string last(Parsed(results_[2]).root().Find("epoch").AsString());
  const Ran none =
      On({"changes", "--since",
          last + ":" + std::to_string(Parsed(results_[2]).root().Find("sequence").AsInt64().value_or(0))});
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, HasSubstr("nothing changed since then"));
  EXPECT_EQ(On({"changes", "--since", "x:y"}).exit, 2);
  EXPECT_EQ(On({"changes", "--since", "00000000:1"}).exit, 4);
}

TEST_F(Commands, DriftAndGapsAndQuarantineAreListed) {
  EXPECT_THAT(On({"drift"}).out, HasSubstr("energy_joules"));
  EXPECT_EQ(On({"gaps"}).exit, 0);
  EXPECT_EQ(On({"quarantine", "list"}).exit, 0);
  EXPECT_EQ(On({"quarantine", "show", "ab"}).exit, 2);
  EXPECT_EQ(On({"quarantine", "show", "abcdef"}).exit, 4);
}

TEST_F(Commands, QuarantineShowGivesTheExactBytes) {
  const etl::test::TempDir dir("ctl");
  std::filesystem::copy(kExample + "1", dir.File("saved"), std::filesystem::copy_options::recursive);
  const std::string row = R"({"id": "not a number"})";
  std::ofstream(dir.File("saved/submissions/58.json"))
      << R"({"data":{"submissions":[)" << row << R"(],"total":1,"offset":0,"limit":50}})";
  const Args store{"--store", dir.File("s")};
  const auto on = [&](Args args) {
    args.insert(args.end(), store.begin(), store.end());
    return Ctl(args);
  };
  on({"backfill", "--source", "sol-execbench", "--from", dir.File("saved")});
  const Ran list = on({"quarantine", "list", "-o", "json"});
  const auto document = Parsed(list.out);
  ASSERT_EQ(document.root().Find("quarantine").size(), 1U) << list.out;
  for (const json::Value item : document.root().Find("quarantine").elements()) {
    const Ran shown = on({"quarantine", "show", std::string(item.Find("id").AsString())});
    EXPECT_EQ(shown.exit, 0) << shown.err;
    EXPECT_EQ(shown.out, row);
    EXPECT_THAT(shown.err, HasSubstr(std::string(item.Find("code").AsString())));
  }
}

TEST_F(Commands, StatusGivesTheStoreAtAGlance) {
  const auto document = Parsed(On({"status", "-o", "json"}).out);
  EXPECT_EQ(document.root().Find("sequence").AsInt64(),
            Parsed(results_[2]).root().Find("sequence").AsInt64());
  EXPECT_EQ(document.root().At({"counts", "entries", "Submission"}).AsInt64(), 612);
  EXPECT_EQ(document.root().At({"counts", "rankedRuns"}).AsInt64(), 549);
  for (const json::Value source : document.root().Find("sources").elements()) {
    EXPECT_EQ(source.At({"lastVisit", "state"}).AsString(), "full");
    EXPECT_EQ(source.At({"lastVisit", "result", "visit"}).AsString(), "full");
  }
  EXPECT_THAT(On({"status"}).out, HasSubstr("sol-execbench  backfill  full"));
}

TEST_F(Commands, VerifyRebuildAndBackupAgreeOnTheRoot) {
  const auto root_of = [](const Args& args) {
    const Ran ran = Ctl(args);
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    const auto document = Parsed(ran.out);
    EXPECT_TRUE(document.root().Find("clean").IsTrue());
    return std::string(document.root().Find("root").AsString());
  };
  const etl::test::TempDir dir("ctl");
  const std::string root = root_of({"verify", "-o", "json", "--store", dir_->File("store")});
  EXPECT_EQ("sha256:" + Sha256(On({"export"}).out).Hex(), root);
  const Ran rebuilt = On({"rebuild", dir.File("again")});
  ASSERT_EQ(rebuilt.exit, 0) << rebuilt.err;
  EXPECT_EQ(root_of({"verify", "-o", "json", "--store", dir.File("again")}), root);
  const Ran twice = On({"rebuild", dir.File("again")});
  EXPECT_EQ(twice.exit, 1);
  EXPECT_THAT(twice.err, HasSubstr("REBUILD_TARGET"));
  EXPECT_EQ(On({"backup", "create", "--to", dir.File("copies")}).exit, 0);
  EXPECT_THAT(On({"backup", "list", "--from", dir.File("copies")}).out, HasSubstr("SEQUENCE"));
  const Ran restored = On({"backup", "restore", "--from", dir.File("copies"), "--to", dir.File("restored")});
  EXPECT_EQ(restored.exit, 0) << restored.err;
  EXPECT_EQ(root_of({"verify", "-o", "json", "--store", dir.File("restored")}), root);
}

TEST_F(Commands, AStoreIsNotRebuiltOntoItself) {
  const std::string store = dir_->File("store");
  for (const std::string& target :
       {store, store + "/", store + "/../store", store + "/db", store + "/db/new"}) {
    const Ran ran = On({"rebuild", target});
    EXPECT_EQ(ran.exit, 1) << target;
    EXPECT_THAT(ran.err, HasSubstr("REBUILD_TARGET at " + target));
    EXPECT_THAT(ran.err, HasSubstr("onto itself"));
  }
  EXPECT_EQ(On({"verify"}).exit, 0);
}

TEST_F(Commands, SequenceZeroIsTheStateBeforeTheFirstChange) {
  EXPECT_EQ(On({"export", "--as-of", "0"}).out, "");
  EXPECT_EQ(On({"export", "--as-of", "0"}).exit, 0);
  EXPECT_EQ(On({"changes", "--since", "0", "-o", "json"}).out, On({"changes", "-o", "json"}).out);
  EXPECT_EQ(On({"ranks", "--kernel", "005_scalar_drift_adam", "--as-of", "0"}).exit, 4);
}

TEST_F(Commands, ARefusedAnswerIsNamedOnce) {
  const etl::test::TempDir dir("ctl");
  std::filesystem::copy(kExample + "1", dir.File("saved"), std::filesystem::copy_options::recursive);
  std::ofstream(dir.File("saved/submissions/58.json")) << "<html>";
  const Ran filled =
      Ctl({"backfill", "--source", "sol-execbench", "--from", dir.File("saved"), "--store", dir.File("s")});
  EXPECT_EQ(filled.exit, 3) << filled.err;
  const auto document = Parsed(Ctl({"quarantine", "list", "-o", "json", "--store", dir.File("s")}).out);
  ASSERT_EQ(document.root().Find("quarantine").size(), 1U);
  for (const json::Value item : document.root().Find("quarantine").elements()) {
    const std::string where(item.Find("where").AsString());
    EXPECT_EQ(where.find("submissions?"), 0U) << where;
    EXPECT_EQ(where.find("submissions?", 1), std::string::npos) << where;
  }
}

TEST_F(Commands, ExportLooksBackInTime) {
  const std::string then = std::to_string(Parsed(results_[0]).root().Find("sequence").AsInt64().value_or(0));
  const etl::test::TempDir dir("ctl");
  Ctl({"backfill", "--source", "sol-execbench", "--from", kExample + "1", "--captured-at", kNight, "--store",
       dir.File("s")});
  EXPECT_EQ(On({"export", "--as-of", then}).out, Ctl({"export", "--store", dir.File("s")}).out);
}

}  // namespace
}  // namespace etl::ctl
