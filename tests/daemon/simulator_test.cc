// A source that changes between any two requests, followed by polls. ETL_SIM_WALKS walks of a kernel's list
// are made (default 3,000); a failure names its seed, and ETL_SIM_SEED=n plays that one again alone.
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/backfill.h"
#include "tests/support/manual_clock.h"
#include "tests/support/simulated_upstream.h"

namespace etl::test {
namespace {

std::uint64_t NumberFrom(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

VisitResult Poll(Store& store, SimulatedUpstream& upstream, ManualClock& clock) {
  const auto adapter = MakeAdapter("sol-execbench");
  VisitOptions options;
  options.goal.poll = true;
  options.goal.window = true;
  options.goal.leaderboards = false;
  options.unconditional_every = 3;
  return RunVisit(*adapter, upstream, &store, clock, options);
}

bool Has(const Store& store, std::int64_t id) {
  const auto entry = store.GetEntry({"sol-execbench", "submission/" + std::to_string(id), ""});
  return entry && entry->contains(Kind::kSubmission);
}

// Rows that every request of a kernel's list could show must be in the store, or the poll must say that it
// fell short.
void ExpectNothingVisibleIsLost(const Store& store, const SimulatedUpstream& upstream,
                                const VisitResult& result) {
  ASSERT_FALSE(result.failure) << result.failure->Message();
  if (result.visit == "partial") return;
  for (const auto& [kernel, rows] : upstream.AlwaysVisible())
    for (const std::int64_t id : rows)
      ASSERT_TRUE(Has(store, id)) << "row " << id << " of kernel " << kernel << " in a visit called full";
}

void PollTwice(Store& store, SimulatedUpstream& upstream, ManualClock& clock, bool all_shown) {
  for (int poll = 0; poll < 2; ++poll) {
    clock.AdvanceMs(7 * 3'600'000);
    const VisitResult result = Poll(store, upstream, clock);
    EXPECT_FALSE(result.failure);
    if (all_shown) {
      EXPECT_EQ(result.visit, "full") << result.Json();
    }
  }
}

// A store that knew nothing, after one poll.
std::unique_ptr<Store> FirstReading(SimulatedUpstream& upstream, ManualClock& clock) {
  auto store = OpenStore("", clock);
  EXPECT_FALSE(Poll(*store, upstream, clock).failure);
  return store;
}

// The first row of `reading` that `store` does not have, or has in another state; "" where there is none.
std::string MissingFrom(const Store& store, const Store& reading) {
  std::string missing;
  EXPECT_TRUE(reading.ForEachEntry([&](const EntryName& name, const std::map<Kind, Version>& kinds) {
    if (!kinds.contains(Kind::kSubmission)) return true;
    const auto entry = store.GetEntry(name);
    const auto tell = [&](const std::string& what) { missing = name.external_id + ": " + what; };
    for (const auto& [kind, version] : kinds) {
      if (!entry || !entry->contains(kind)) {
        tell(std::string(KindName(kind)) + " is missing");
      } else if (const Version& ours = entry->at(kind);
                 ours.state != version.state || ours.reasons != version.reasons ||
                 ours.content != version.content || ours.digest != version.digest) {
        tell(std::string(KindName(kind)) + " is in another state");
      }
    }
    return missing.empty();
  }));
  return missing;
}

// Plays one seed, and returns how many lists were walked.
std::size_t Play(std::uint64_t seed) {
  SCOPED_TRACE("ETL_SIM_SEED=" + std::to_string(seed));
  ManualClock clock;
  SimulatedUpstream::Shape shape;
  shape.rows_at_start = static_cast<std::uint32_t>(seed % 4) * 25 + 10;
  shape.window_rows = seed % 3 == 0 ? 50 : 0;
  shape.unrest_percent = static_cast<int>(seed % 5) * 25;
  shape.hides = seed % 2 == 0;
  SimulatedUpstream upstream(seed, shape, clock);
  const auto store = OpenStore("", clock);
  std::set<std::int64_t> seen;
  for (int poll = 0; poll < 12; ++poll) {
    upstream.StartWatch();
    const VisitResult result = Poll(*store, upstream, clock);
    ExpectNothingVisibleIsLost(*store, upstream, result);
    if (testing::Test::HasFatalFailure()) return upstream.walks();
    for (const auto& [kernel, rows] : upstream.AlwaysVisible())
      for (const std::int64_t id : rows)
        if (Has(*store, id)) seen.insert(id);
    for (const std::int64_t id : seen) EXPECT_TRUE(Has(*store, id)) << "row " << id << " was there once";
    upstream.Change(static_cast<int>(seed % 7));
    clock.AdvanceMs(seed % 11 == 0 ? -86'400'000 : static_cast<std::int64_t>(seed % 5) * 3'600'000);
  }
  // Undisturbed from here: what is followed becomes what a first reading finds. First within the window, and
  // without what is hidden: there the reading finds less, and nothing else; then of everything.
  upstream.Rest();
  PollTwice(*store, upstream, clock, shape.window_rows == 0 && !shape.hides);
  EXPECT_EQ(MissingFrom(*store, *FirstReading(upstream, clock)), "");
  upstream.ShowAll();
  PollTwice(*store, upstream, clock, true);
  EXPECT_EQ(Difference(NewestOf(ExportOf(*store)), NewestOf(ExportOf(*FirstReading(upstream, clock)))), "");
  const auto report = store->Verify();
  EXPECT_TRUE(report && report->fault_count == 0) << (report ? report->faults[0].Message() : "");
  return upstream.walks();
}

// The adapter alone, its requests answered in order: what it drafts, and what it says it missed.
std::size_t Walk(std::uint64_t seed) {
  SCOPED_TRACE("ETL_SIM_SEED=" + std::to_string(seed));
  ManualClock clock;
  SimulatedUpstream::Shape shape;
  shape.kernels = 1 + static_cast<std::uint32_t>(seed % 3);
  shape.rows_at_start = static_cast<std::uint32_t>(seed * 7 % 120);
  shape.window_rows = seed % 4 == 0 ? 50 : 0;
  shape.unrest_percent = static_cast<int>(seed % 11) * 10;
  SimulatedUpstream upstream(seed, shape, clock);
  const auto adapter = MakeAdapter("sol-execbench");
  Goal goal;
  goal.leaderboards = false;
  goal.window = true;
  for (int visit = 0; visit < 4; ++visit) {
    upstream.StartWatch();
    std::set<std::string> drafted;
    std::map<std::string, std::string> contexts;
    bool partial = false;
    std::deque<Request> queue;
    for (Request& request : adapter->Plan(goal)) queue.push_back(std::move(request));
    for (int requests = 0; !queue.empty() && requests < 10'000; ++requests) {
      Request request = std::move(queue.front());
      queue.pop_front();
      const auto response = upstream.Fetch(request.key);
      if (!response || response->status != 200) continue;
      Snapshot snapshot{
          "sol-execbench", request.key, response->origin, clock.Now(), response->bytes, {}, {}, {}};
      auto outcome = adapter->Accept(request, snapshot, contexts[request.context], Reading::kFull, goal);
      EXPECT_TRUE(outcome.has_value()) << outcome.error().Message();
      if (!outcome) return upstream.walks();
      partial = partial || !outcome->shortfalls.empty();
      for (const ContextDraft& context : outcome->draft.contexts) contexts[context.key] = context.value;
      for (const EntryDraft& entry : outcome->draft.entries)
        if (entry.kind == Kind::kSubmission) drafted.insert(entry.external_id);
      for (auto it = outcome->next.rbegin(); it != outcome->next.rend(); ++it)
        queue.push_front(std::move(*it));
    }
    EXPECT_TRUE(queue.empty()) << "the walk does not end";
    if (!partial) {
      for (const auto& [kernel, rows] : upstream.AlwaysVisible())
        for (const std::int64_t id : rows)
          EXPECT_TRUE(drafted.contains("submission/" + std::to_string(id)))
              << "row " << id << " of kernel " << kernel << " was missed and nothing said so";
    }
    upstream.Change(static_cast<int>(seed % 5));
  }
  return upstream.walks();
}

using Player = std::size_t (*)(std::uint64_t);

void PlayAll(Player player, std::uint64_t wanted) {
  if (const std::uint64_t seed = NumberFrom("ETL_SIM_SEED", 0); seed != 0) {
    player(seed);
    return;
  }
  std::uint64_t walks = 0;
  for (std::uint64_t seed = 1; walks < wanted && !testing::Test::HasFailure(); ++seed) walks += player(seed);
  testing::Test::RecordProperty("walks", static_cast<int>(walks));
}

TEST(Simulator, WalksMissNothingThatStoodStillOrSayThatTheyFellShort) {
  PlayAll(Walk, NumberFrom("ETL_SIM_WALKS", 5'000));
}

TEST(Simulator, PollsLoseNothingThatWasVisibleAndEndWhereAnUndisturbedReadingDoes) {
  PlayAll(Play, NumberFrom("ETL_SIM_WALKS", 5'000) / 20);
}

}  // namespace
}  // namespace etl::test
