#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/adapter.h"
#include "model/digest.h"
#include "model/json.h"

namespace etl::test {

// All that a visit brought, and what it asked for, in order.
struct Visited {
  Draft draft;
  std::vector<UpstreamRank> ranks;
  std::vector<Shortfall> shortfalls;
  std::vector<Error> errors;
  std::vector<std::string> asked;
  std::map<std::string, std::string> contexts;
  std::uint64_t rows = 0, scopes = 0, scopes_done = 0;
};

inline Snapshot SnapshotOf(const std::string& key, std::string bytes) {
  Snapshot snapshot;
  snapshot.source = "sol-execbench";
  snapshot.request = key;
  snapshot.captured_at = Instant{1'780'000'000'000};
  snapshot.digest = Sha256(bytes);
  snapshot.bytes = std::move(bytes);
  return snapshot;
}

// An answer to a key: empty stands for a 404.
using Upstream = std::function<std::string(const std::string& key)>;

inline void Merge(Visited& visited, Outcome outcome) {
  const auto append = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  append(visited.draft.entries, outcome.draft.entries);
  append(visited.draft.quarantine, outcome.draft.quarantine);
  append(visited.draft.drift, outcome.draft.drift);
  append(visited.draft.gaps, outcome.draft.gaps);
  for (const ContextDraft& context : outcome.draft.contexts) visited.contexts[context.key] = context.value;
  append(visited.ranks, outcome.upstream_ranks);
  append(visited.shortfalls, outcome.shortfalls);
  visited.rows += outcome.rows;
  visited.scopes += outcome.scopes;
  visited.scopes_done += outcome.scope_done ? 1 : 0;
}

// The smallest visit there is: one request after the other, at most `requests_max`.
inline Visited Visit(Adapter& adapter, const Upstream& upstream, const Goal& goal = {},
                     Reading reading = Reading::kFull, std::size_t requests_max = 100'000) {
  Visited visited;
  std::deque<Request> queue;
  for (Request& request : adapter.Plan(goal)) queue.push_back(std::move(request));
  while (!queue.empty() && visited.asked.size() < requests_max) {
    Request request = std::move(queue.front());
    queue.pop_front();
    visited.asked.push_back(request.key);
    std::string bytes = upstream(request.key);
    if (bytes.empty()) {
      if (!request.optional) visited.shortfalls.push_back({request.scope, "TEST_404", request.key});
      continue;
    }
    const std::string context = visited.contexts[request.context];
    auto outcome = adapter.Accept(request, SnapshotOf(request.key, std::move(bytes)), context, reading, goal);
    if (!outcome) {
      visited.errors.push_back(outcome.error());
      continue;
    }
    for (Request& next : outcome->next) queue.push_back(std::move(next));
    outcome->next.clear();
    Merge(visited, *std::move(outcome));
  }
  return visited;
}

// One response, read with `context`.
inline Result<Outcome> AcceptOne(Adapter& adapter, const std::string& key, std::string bytes,
                                 std::string_view context = {}, const Goal& goal = {}) {
  Request request;
  request.key = key;
  return adapter.Accept(request, SnapshotOf(key, std::move(bytes)), context, Reading::kFull, goal);
}

inline const EntryDraft* Find(const Draft& draft, Kind kind, std::string_view external_id) {
  for (const EntryDraft& entry : draft.entries) {
    if (entry.kind == kind && entry.external_id == external_id) return &entry;
  }
  return nullptr;
}

inline std::size_t Count(const Draft& draft, Kind kind) {
  std::size_t count = 0;
  for (const EntryDraft& entry : draft.entries) count += entry.kind == kind ? 1 : 0;
  return count;
}

}  // namespace etl::test
