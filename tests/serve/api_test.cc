#include "serve/api.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/json.h"
#include "serve/site.h"
#include "tests/support/backfill.h"
#include "tests/support/contract.h"
#include "tests/support/manual_clock.h"

namespace etl::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Picture(int number) {
  return std::string(ETL_SOURCE_DIR) + "/fixtures/leaderboard/" + std::to_string(number);
}

// The example leaderboard in memory, behind a site.
class ApiTest : public testing::Test {
 protected:
  ApiTest() : store_(test::OpenStore("", clock_)), site_(SiteHooks{}) {
    EXPECT_EQ(test::Backfill(*store_, Picture(1), clock_).visit, "full");
    site_.SetStore(store_.get());
  }

  Request Asked(const std::string& target) const {
    Request request;
    request.method = "GET";
    EXPECT_TRUE(SetTarget(request, target)) << target;
    return request;
  }
  Response Get(const std::string& target, const std::string& if_none_match = {}) const {
    Request request = Asked(target);
    request.if_none_match = if_none_match;
    return site_.Answer(request);
  }
  std::string Code(const Response& response) const { return response.problem ? response.problem->code : ""; }
  // The body of an answer that must be right.
  json::Document Body(const std::string& target) const {
    const Response response = Get(target);
    EXPECT_EQ(response.status, 200) << target << " " << Code(response);
    auto document = json::Document::Parse(response.body ? *response.body : "null");
    EXPECT_TRUE(document) << target << " " << document.error().Message();
    return *std::move(document);
  }
  std::string Header(const Response& response, std::string_view name) const {
    for (const auto& [key, value] : response.headers)
      if (key == name) return value;
    return {};
  }
  // Every id of a walk over /runs.
  std::vector<std::string> Walk(std::string target, const std::function<void()>& between = {}) const {
    std::vector<std::string> ids;
    const std::string base = target;
    for (int pages = 0; pages < 1000; ++pages) {
      const json::Document page = Body(target);
      for (const json::Value run : page.root().Find("runs").elements())
        ids.emplace_back(run.Find("id").AsString());
      const json::Value next = page.root().Find("nextCursor");
      if (next.IsNull()) return ids;
      if (between) between();
      target = base + "&cursor=" + std::string(next.AsString());
    }
    ADD_FAILURE() << "the walk has no end";
    return ids;
  }

  test::ManualClock clock_;
  std::unique_ptr<Store> store_;
  Site site_;
};

TEST_F(ApiTest, AWalkOverRunsSeesEachOnce) {
  const std::vector<std::string> all = Walk("/api/v1/runs?limit=200");
  const StoreCounts counts = *store_->Count();
  EXPECT_EQ(all.size(), counts.ranked_runs);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  EXPECT_EQ(Walk("/api/v1/runs?limit=3"), all);
}

TEST_F(ApiTest, AWalkOverRunsSeesOneStateWhileOthersAreCommitted) {
  const std::vector<std::string> before = Walk("/api/v1/runs?limit=200");
  const std::uint64_t sequence = store_->sequence();
  int picture = 2;
  const std::vector<std::string> walked = Walk("/api/v1/runs?limit=4", [&] {
    if (picture <= 3) (void)test::Backfill(*store_, Picture(picture++), clock_);
  });
  ASSERT_GT(store_->sequence(), sequence);
  EXPECT_EQ(walked, before);
  EXPECT_NE(Walk("/api/v1/runs?limit=200"), before);
  EXPECT_EQ(Walk("/api/v1/runs?limit=200&asOf=" + store_->epoch() + ":" + std::to_string(sequence)), before);
}

TEST_F(ApiTest, RunsAreFilteredByOperationHardwareSourceAndTime) {
  const json::Document operations = Body("/api/v1/operations");
  std::size_t total = 0;
  for (const json::Value operation : operations.root().Find("operations").elements()) {
    const std::string slug(operation.Find("slug").AsString());
    const auto runs = Walk("/api/v1/runs?limit=200&operation=" + slug);
    EXPECT_EQ(static_cast<std::int64_t>(runs.size()), operation.Find("runs").AsInt64()) << slug;
    total += runs.size();
  }
  const auto all = Walk("/api/v1/runs?limit=200");
  EXPECT_EQ(total, all.size());
  std::size_t on_hardware = 0;
  const json::Document hardware = Body("/api/v1/hardware");
  for (const json::Value one : hardware.root().Find("hardware").elements())
    on_hardware += Walk("/api/v1/runs?limit=200&hardware=" + std::string(one.Find("slug").AsString())).size();
  EXPECT_EQ(on_hardware, all.size());
  EXPECT_EQ(Walk("/api/v1/runs?limit=200&source=sol-execbench"), all);
  EXPECT_THAT(Walk("/api/v1/runs?limit=200&source=other"), IsEmpty());
  EXPECT_THAT(Walk("/api/v1/runs?limit=200&status=timeout"), IsEmpty());
  EXPECT_THAT(Walk("/api/v1/runs?limit=200&since=9000-01-01T00:00:00Z"), IsEmpty());
  EXPECT_EQ(Walk("/api/v1/runs?limit=200&since=2000-01-01T00:00:00Z"), all);
}

TEST_F(ApiTest, ARunIsFoundByIdDigestAndPrefixAndKnowsItsRank) {
  for (const std::string& id : Walk("/api/v1/runs?limit=200")) {
    const Response by_id = Get("/api/v1/runs/" + id);
    ASSERT_EQ(by_id.status, 200);
    const auto document = json::Document::Parse(*by_id.body);
    ASSERT_TRUE(document);
    const json::Value run = document->root();
    EXPECT_TRUE(run.At({"cohort", "rank"}).IsNumber()) << id;
    EXPECT_TRUE(run.At({"cohort", "eligible"}).IsTrue()) << id;
    const std::string digest(run.At({"run", "digest"}).AsString());
    EXPECT_EQ(*Get("/api/v1/runs/" + digest).body, *by_id.body);
    EXPECT_EQ(*Get("/api/v1/runs/" + id.substr(0, 12)).body, *by_id.body);
  }
}

TEST_F(ApiTest, TheFirstOfAStandingIsTheHeadThatItsRunsName) {
  const json::Document records = Body("/api/v1/records?limit=200");
  ASSERT_GT(records.root().Find("records").size(), 0U);
  for (const json::Value record : records.root().Find("records").elements()) {
    const std::string key(record.Find("cohortKey").AsString());
    const json::Document group = Body("/api/v1/groups/" + key);
    const json::Value first = *group.root().Find("standing").elements().begin();
    EXPECT_EQ(first.Find("runId").AsString(), record.At({"current", "runId"}).AsString());
    const json::Document run = Body("/api/v1/runs/" + std::string(first.Find("runId").AsString()));
    EXPECT_EQ(run.root().At({"cohort", "headRunId"}).AsString(), first.Find("runId").AsString());
    EXPECT_EQ(run.root().At({"cohort", "comparisonKey"}).AsString(), key);
    // The newest record is the leader's, or one of equal value.
    const json::Value newest = *record.Find("history").elements().begin();
    EXPECT_EQ(newest.At({"value", "value"}).NumberText(),
              record.At({"current", "primary", "value"}).NumberText());
  }
}

TEST_F(ApiTest, PagesOfAStandingJoinToTheWhole) {
  const json::Document records = Body("/api/v1/records?limit=200");
  for (const json::Value record : records.root().Find("records").elements()) {
    const std::string base = "/api/v1/groups/" + std::string(record.Find("cohortKey").AsString());
    const json::Document whole = Body(base + "?limit=200");
    std::string target = base + "?limit=2", joined, expected;
    for (const json::Value row : whole.root().Find("standing").elements())
      expected +=
          std::string(row.Find("runId").AsString()) + " " + std::string(row.Find("rank").NumberText()) + "\n";
    for (;;) {
      const json::Document page = Body(target);
      for (const json::Value row : page.root().Find("standing").elements())
        joined += std::string(row.Find("runId").AsString()) + " " +
                  std::string(row.Find("rank").NumberText()) + "\n";
      if (page.root().Find("nextCursor").IsNull()) break;
      target = base + "?limit=2&cursor=" + std::string(page.root().Find("nextCursor").AsString());
    }
    EXPECT_EQ(joined, expected);
  }
}

TEST_F(ApiTest, AnObjectIsTheBytesThatItsDigestIsOf) {
  const json::Document run = Body("/api/v1/runs/" + Walk("/api/v1/runs?limit=200").front());
  const std::string digest(run.root().At({"run", "digest"}).AsString());
  const Response object = Get("/api/v1/objects/" + digest);
  ASSERT_EQ(object.status, 200);
  EXPECT_EQ(Sha256(*object.body).Text(), digest);
  EXPECT_EQ(Header(object, "ETag"), "\"" + digest + "\"");
  EXPECT_THAT(Header(object, "Cache-Control"), HasSubstr("immutable"));
  EXPECT_EQ(Get("/api/v1/objects/" + digest, "\"" + digest + "\"").status, 304);
}

TEST_F(ApiTest, AnUnchangedStateIsNotSentAgain) {
  const std::string tag = Header(Get("/api/v1/records"), "ETag");
  EXPECT_EQ(tag, "\"" + store_->epoch() + ":" + std::to_string(store_->sequence()) + "\"");
  for (const std::string& condition : {tag, "W/" + tag, "\"x\", " + tag, std::string("*")}) {
    const Response same = Get("/api/v1/records", condition);
    EXPECT_EQ(same.status, 304) << condition;
    EXPECT_FALSE(same.body);
  }
  EXPECT_EQ(Get("/api/v1/records", "\"x\"").status, 200);
  (void)test::Backfill(*store_, Picture(2), clock_);
  EXPECT_EQ(Get("/api/v1/records", tag).status, 200);
}

TEST_F(ApiTest, AnAnswerIsMadeOncePerState) {
  const Response first = Get("/api/v1/records"), again = Get("/api/v1/records");
  EXPECT_EQ(first.body, again.body);  // the very same bytes
  EXPECT_EQ(again.route, "records");
  EXPECT_EQ(Header(again, "ETag"), Header(first, "ETag"));
  (void)test::Backfill(*store_, Picture(2), clock_);
  const Response after = Get("/api/v1/records");
  EXPECT_NE(after.body, first.body);
  EXPECT_NE(Header(after, "ETag"), Header(first, "ETag"));
  EXPECT_NE(Get("/api/v1/sources").body, Get("/api/v1/sources").body)
      << "it does not hang on the sequence alone";
}

TEST_F(ApiTest, AnEntryHasItsVersionsWithWhereTheyCameFrom) {
  (void)test::Backfill(*store_, Picture(2), clock_);
  std::set<std::string> ids;
  ASSERT_TRUE(store_->ForEachEntry([&](const EntryName& name, const std::map<Kind, Version>& kinds) {
    if (kinds.contains(Kind::kBenchmarkRun)) ids.insert(name.external_id);
    return true;
  }));
  ASSERT_FALSE(ids.empty());
  for (const std::string& id : ids) {
    const json::Document entry = Body("/api/v1/entries/sol-execbench/" + id);
    EXPECT_EQ(entry.root().At({"entry", "externalId"}).AsString(), id);
    for (const json::Value kind : entry.root().Find("kinds").elements()) {
      for (const json::Value version : kind.Find("versions").elements()) {
        EXPECT_TRUE(version.Find("snapshot").IsString());
        EXPECT_TRUE(version.Find("origin").IsString());
      }
    }
  }
}

TEST_F(ApiTest, ChangesFollowEachOtherWithoutGapOrRepeat) {
  std::uint64_t expected = 1;
  std::string since;
  for (int pages = 0; pages < 10'000; ++pages) {
    const json::Document page = Body("/api/v1/changes?limit=7" + (since.empty() ? "" : "&since=" + since));
    for (const json::Value change : page.root().Find("changes").elements())
      EXPECT_EQ(change.Find("sequence").AsInt64(), static_cast<std::int64_t>(expected++));
    since = std::string(page.root().Find("next").AsString());
    if (!page.root().Find("more").IsTrue()) break;
  }
  EXPECT_EQ(expected, store_->sequence() + 1);
  const json::Document records = Body("/api/v1/changes?limit=1000&type=record");
  for (const json::Value change : records.root().Find("changes").elements())
    EXPECT_EQ(change.Find("type").AsString(), "record");
}

TEST_F(ApiTest, ChangesWaitWhereThereAreNoneYet) {
  const std::string now = store_->epoch() + ":" + std::to_string(store_->sequence());
  const std::string target = "/api/v1/changes?wait=30&since=" + now;
  EXPECT_EQ(Get(target).wait_ms, 30'000);
  Request over = Asked(target);
  over.may_wait = false;
  const Response empty = site_.Answer(over);
  EXPECT_FALSE(empty.wait_ms);
  EXPECT_THAT(*empty.body, HasSubstr("\"changes\":[]"));
  EXPECT_THAT(*empty.body, HasSubstr("\"next\":\"" + now + "\""));
  const std::uint64_t version = site_.version();
  (void)test::Backfill(*store_, Picture(2), clock_);
  EXPECT_NE(site_.version(), version);
  EXPECT_FALSE(Get(target).wait_ms);
}

TEST_F(ApiTest, TheFeedTellsRecordsImportsAndCorrections) {
  (void)test::Backfill(*store_, Picture(2), clock_);
  (void)test::Backfill(*store_, Picture(3), clock_);
  const json::Document feed = Body("/api/v1/feed?since=2000-01-01T00:00:00Z");
  std::map<std::string, int> kinds;
  for (const json::Value day : feed.root().Find("days").elements())
    for (const json::Value entry : day.Find("entries").elements()) {
      ++kinds[std::string(entry.Find("kind").AsString())];
      EXPECT_TRUE(entry.Find("at").AsString().starts_with(day.Find("date").AsString()));
    }
  EXPECT_GT(kinds["record"], 0);
  EXPECT_GT(kinds["import"], 0);
  EXPECT_EQ(Body("/api/v1/feed?since=9000-01-01T00:00:00Z").root().Find("days").size(), 0U);
  EXPECT_EQ(Code(Get("/api/v1/feed?since=soon")), "SINCE");
}

TEST_F(ApiTest, RunsOfOneGroupMayBeCompared) {
  const json::Document records = Body("/api/v1/records?limit=200");
  for (const json::Value record : records.root().Find("records").elements()) {
    const json::Document group = Body("/api/v1/groups/" + std::string(record.Find("cohortKey").AsString()));
    std::vector<std::string> ids;
    for (const json::Value row : group.root().Find("standing").elements())
      ids.emplace_back(row.Find("runId").AsString());
    if (ids.size() < 2) continue;
    const json::Document compared = Body("/api/v1/compare?runs=" + ids[0] + "," + ids[1]);
    EXPECT_TRUE(compared.root().Find("comparable").IsTrue());
    Request post = Asked("/api/v1/compare");
    post.method = "POST";
    post.body = R"({"runs":[")" + ids[0] + R"(","00000000"]})";
    const Response partly = site_.Answer(post);
    EXPECT_EQ(partly.status, 200);
    EXPECT_THAT(*partly.body, HasSubstr("\"missingIds\":[\"00000000\"]"));
    return;
  }
  FAIL() << "no group has two runs";
}

struct Wrong {
  std::string target;
  int status;
  const char* code;
};

TEST_F(ApiTest, EveryRefusalHasItsCode) {
  const std::string v1 = "/api/v1";
  const json::Document page = Body("/api/v1/runs?limit=1");
  const std::string cursor(page.root().Find("nextCursor").AsString());
  const std::vector<Wrong> cases{{"/nowhere", 404, "NO_ROUTE"},
                                 {v1 + "/nowhere", 404, "NO_ROUTE"},
                                 {v1 + "/runs/a/b", 404, "NO_ROUTE"},
                                 {v1 + "/runs?limit=0", 400, "LIMIT"},
                                 {v1 + "/runs?limit=201", 400, "LIMIT"},
                                 {v1 + "/runs?limit=1x", 400, "LIMIT"},
                                 {v1 + "/runs?limit=99999999999999999999", 400, "LIMIT"},
                                 {v1 + "/runs?limits=1", 400, "PARAMETER_UNKNOWN"},
                                 {v1 + "/runs?limit=1&limit=2", 400, "PARAMETER_TWICE"},
                                 {v1 + "/runs?status=fine", 400, "STATUS"},
                                 {v1 + "/runs?since=yesterday", 400, "SINCE"},
                                 {v1 + "/runs?asOf=never", 400, "AS_OF_PATTERN"},
                                 {v1 + "/runs?asOf=00000000:1", 404, "AS_OF_EPOCH"},
                                 {v1 + "/runs?asOf=999999", 404, "AS_OF_RANGE"},
                                 {v1 + "/runs?cursor=x", 400, "CURSOR"},
                                 {v1 + "/runs?cursor=a.b.c.d", 400, "CURSOR"},
                                 {v1 + "/runs?cursor=" + cursor + "!", 400, "CURSOR"},
                                 {v1 + "/runs?operation=other&cursor=" + cursor, 400, "CURSOR_FILTERS"},
                                 {v1 + "/records?cursor=" + cursor, 400, "CURSOR_FILTERS"},
                                 {v1 + "/runs?cursor=00000000" + cursor.substr(8), 400, "CURSOR_EPOCH"},
                                 {v1 + "/runs/xyz", 400, "RUN_ID"},
                                 {v1 + "/runs/1234567", 400, "RUN_ID"},
                                 {v1 + "/runs/" + std::string(65, 'a'), 400, "RUN_ID"},
                                 {v1 + "/runs/00000000", 404, "RUN_NOT_FOUND"},
                                 {v1 + "/operations/none", 404, "OPERATION_NOT_FOUND"},
                                 {v1 + "/groups/zz", 400, "GROUP_KEY"},
                                 {v1 + "/groups/00000000", 404, "GROUP_NOT_FOUND"},
                                 {v1 + "/objects/12", 400, "DIGEST_PATTERN"},
                                 {v1 + "/objects/sha256:" + std::string(64, '0'), 404, "OBJECT_NOT_FOUND"},
                                 {v1 + "/entries/sol-execbench/none", 404, "ENTRY_NOT_FOUND"},
                                 {v1 + "/changes?since=x", 400, "SINCE"},
                                 {v1 + "/changes?since=00000000:1", 409, "FEED_RESET"},
                                 {v1 + "/changes?since=" + store_->epoch() + ":999999", 409, "FEED_RESET"},
                                 {v1 + "/changes?wait=61", 400, "WAIT"},
                                 {v1 + "/compare", 400, "COMPARE_RUNS"},
                                 {v1 + "/compare?runs=1", 400, "COMPARE_RUNS"},
                                 {v1 + "/compare?runs=1,2,3,4,5,6,7,8,9", 400, "COMPARE_RUNS"}};
  for (const Wrong& wrong : cases) {
    const Response response = Get(wrong.target);
    EXPECT_EQ(response.status, wrong.status) << wrong.target;
    EXPECT_EQ(Code(response), wrong.code) << wrong.target;
  }
}

TEST_F(ApiTest, BodiesOfComparisonsAreReadStrictly) {
  for (const char* body : {"", "[]", "{}", R"({"runs":1})", R"({"runs":[1,2]})", R"({"runs":["a"]})",
                           R"({"runs":["a","b"],"more":1})", R"({"runs":["a","b"],"runs":["a","b"]})"}) {
    Request post = Asked("/api/v1/compare");
    post.method = "POST";
    post.body = body;
    const Response response = site_.Answer(post);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_EQ(Code(response), "COMPARE_RUNS") << body;
  }
}

TEST_F(ApiTest, OtherMethodsAreNotAllowed) {
  for (const char* target : {"/api/v1/runs", "/livez"}) {
    Request request = Asked(target);
    request.method = "DELETE";
    const Response response = site_.Answer(request);
    EXPECT_EQ(response.status, 405);
    EXPECT_EQ(Code(response), "METHOD");
    EXPECT_THAT(Header(response, "Allow"), HasSubstr("GET"));
  }
}

TEST_F(ApiTest, SaysThatTheStoreIsNotOpenYet) {
  site_.SetStore(nullptr);
  EXPECT_EQ(Code(Get("/api/v1/runs")), "STORE_CLOSED");
  EXPECT_EQ(Get("/api/v1/runs").status, 503);
  EXPECT_EQ(Code(Get("/readyz")), "NOT_READY");
  EXPECT_EQ(Get("/livez").status, 200);
}

TEST_F(ApiTest, DescribesEveryRoute) {
  const json::Document description = Body("/api/v1/openapi.json");
  EXPECT_EQ(description.root().Find("paths").size(), Routes().size());
}

TEST_F(ApiTest, AnswersInTheShapesOfTheContract) {
  const auto contract = test::PeerContract();
  if (!contract) GTEST_SKIP() << "the contract is absent: set ETL_PEER_DIR to run this";
  const auto openapi = json::Document::Parse(*contract);
  ASSERT_TRUE(openapi);
  (void)test::Backfill(*store_, Picture(2), clock_);
  (void)test::Backfill(*store_, Picture(3), clock_);
  std::vector<std::pair<std::string, std::string>> asked{{"/runs", "/runs"},
                                                         {"/records", "/records"},
                                                         {"/operations", "/operations"},
                                                         {"/hardware", "/hardware"},
                                                         {"/coverage", "/coverage"},
                                                         {"/sources", "/sources"},
                                                         {"/feed", "/feed?since=2000-01-01T00:00:00Z"}};
  const auto ids = Walk("/api/v1/runs?limit=200");
  for (const std::string& id : ids) asked.emplace_back("/runs/{idOrDigest}", "/runs/" + id);
  asked.emplace_back("/compare", "/compare?runs=" + ids[0] + "," + ids[1] + "," + ids.back());
  const json::Document operations = Body("/api/v1/operations");
  for (const json::Value operation : operations.root().Find("operations").elements())
    asked.emplace_back("/operations/{idOrSlug}",
                       "/operations/" + std::string(operation.Find("slug").AsString()));
  for (const auto& [path, target] : asked) {
    const json::Value schema = test::AnswerSchema(openapi->root(), path, path == "/compare" ? "post" : "get");
    ASSERT_TRUE(schema) << path;
    const json::Document body = Body("/api/v1" + target);
    EXPECT_THAT(test::SchemaFaults(schema, body.root()), IsEmpty()) << target;
  }
}

TEST(SchemaFaults, FindsWhatDoesNotFit) {
  const auto schema = json::Document::Parse(
      R"({"type":"object","required":["a"],"properties":{"a":{"type":["string","null"]},"b":{"type":"array",)"
      R"("items":{"enum":[1,2]}},"c":{"anyOf":[{"type":"number"},{"type":"null"}]}},"additionalProperties":false})");
  ASSERT_TRUE(schema);
  const std::map<std::string, std::size_t> cases{{R"({"a":"x","b":[1,2],"c":1})", 0},
                                                 {R"({"a":null,"c":null})", 0},
                                                 {R"({})", 1},
                                                 {R"([])", 1},
                                                 {R"({"a":1})", 1},
                                                 {R"({"a":"x","b":[1,3,4]})", 2},
                                                 {R"({"a":"x","c":"1"})", 1},
                                                 {R"({"a":"x","d":1})", 1}};
  for (const auto& [text, faults] : cases) {
    const auto value = json::Document::Parse(text);
    ASSERT_TRUE(value);
    EXPECT_EQ(test::SchemaFaults(schema->root(), value->root()).size(), faults) << text;
  }
}

}  // namespace
}  // namespace etl::serve
