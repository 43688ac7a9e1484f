#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/visit.h"
#include "fetch/transport.h"
#include "tests/adapters/sol_execbench_fixtures.h"
#include "tests/support/backfill.h"
#include "tests/support/manual_clock.h"

// A live source that says whatever a test writes, and what a whole visit makes of it. Nothing here repairs,
// checks or pages anything: an answer is the bytes it was given.
namespace etl::test {

struct Answer {
  int status = 200;
  std::string body;
};

inline std::string RowsAt(std::int64_t kernel, std::int64_t offset = 0) {
  return "submissions?kernel_id=" + std::to_string(kernel) + "&limit=50&offset=" + std::to_string(offset);
}

// One page; `total` as JSON text, "" leaves it out.
inline std::string Page(const std::vector<std::string>& rows, const std::string& total) {
  std::string out = R"({"data": {"submissions": [)";
  for (std::size_t i = 0; i < rows.size(); ++i) out += (i > 0 ? ", " : "") + rows[i];
  return out + "]" + (total.empty() ? "" : ", \"total\": " + total) + R"(, "offset": 0, "limit": 50}})";
}
inline std::string Page(const std::vector<std::string>& rows) {
  return Page(rows, std::to_string(rows.size()));
}

// The answer at an offset of a list with these rows.
inline std::string PageAt(const std::vector<std::string>& rows, std::size_t offset) {
  const std::size_t begin = std::min(offset, rows.size()), end = std::min(begin + 50, rows.size());
  return Page(
      {rows.begin() + static_cast<std::ptrdiff_t>(begin), rows.begin() + static_cast<std::ptrdiff_t>(end)},
      std::to_string(rows.size()));
}

class HostileUpstream : public Transport {
 public:
  explicit HostileUpstream(ManualClock& clock) : clock_(clock) {}

  // From now on the first request for `key` gets the first answer, the second the second, and so on; the last
  // one stays.
  void Say(const std::string& key, std::vector<Answer> answers) { scripts_[key] = {std::move(answers), 0}; }
  void Say(const std::string& key, std::string body) {
    std::vector<Answer> answers(1);
    answers[0].body = std::move(body);
    Say(key, std::move(answers));
  }
  // The rows of a kernel, page by page, in place of everything that was said of them.
  void SayRows(std::int64_t kernel, std::vector<std::string> rows) {
    const std::string start = RowsAt(kernel).substr(0, RowsAt(kernel).size() - 1);
    std::erase_if(scripts_, [&](const auto& script) { return script.first.starts_with(start); });
    lists_[start] = std::move(rows);
  }

  using Transport::Fetch;
  Result<Response> Fetch(std::string_view key, const Validators&) override {
    asked.emplace_back(key);
    clock_.AdvanceMs(10);
    if (before) before(key);
    Response response;
    response.origin = "hostile:" + std::string(key);
    response.at = clock_.Now();
    const auto script = scripts_.find(std::string(key));
    if (script == scripts_.end()) {
      const std::size_t number = key.rfind('=') + 1;
      const auto list = lists_.find(std::string(key.substr(0, number)));
      if (list == lists_.end()) {
        response.status = 404;
      } else {
        response.bytes = PageAt(list->second, std::stoul(std::string(key.substr(number))));
      }
      return response;
    }
    auto& [answers, next] = script->second;
    const Answer& answer = answers[next];
    if (next + 1 < answers.size()) ++next;
    response.status = answer.status;
    response.bytes = answer.body;
    return response;
  }
  std::string Describe() const override { return "hostile source"; }
  bool live() const override { return true; }

  std::vector<std::string> asked;                    // since the visit began
  std::function<void(std::string_view key)> before;  // each answer is dated

 private:
  ManualClock& clock_;
  std::map<std::string, std::pair<std::vector<Answer>, std::size_t>> scripts_;
  std::map<std::string, std::vector<std::string>> lists_;  // by the key of a page without its offset
};

inline JsonObject ListItem(std::int64_t id, const std::string& name, std::int64_t count = 3) {
  return {{"id", std::to_string(id)}, {"name", "\"" + name + "\""},
          {"title", "\"K\""},         {"gpu_types", "[\"B200\"]"},
          {"tags", "[\"scan\"]"},     {"submission_count", std::to_string(count)}};
}
inline std::string ListOf(const std::vector<std::string>& items) {
  std::string out = R"({"data": {"kernels": [)";
  for (std::size_t i = 0; i < items.size(); ++i) out += (i > 0 ? ", " : "") + items[i];
  return out + "]}}";
}
inline JsonObject KernelOf(std::int64_t id, const std::string& name) {
  return PlainKernel().Set("id", std::to_string(id)).Set("name", "\"" + name + "\"");
}
inline std::string KernelKeyOf(std::int64_t id) {
  return "kernels/" + std::to_string(id);
}

// A store in memory, a source with one kernel of three good rows, and visits from one to the other.
class Stage {
 public:
  Stage() : store(OpenStore("", clock)), upstream(clock) { SayGood(); }

  void SayGood() {
    upstream.Say("kernels", ListOf({ListItem(5, "005_toy").Text()}));
    upstream.Say("kernels/5", Detail(PlainKernel()));
    SayRows({PlainRow(103).Text(), PlainRow(102).Text(), PlainRow(101).Text()});
  }
  // The rows of kernel 5.
  void SayRows(const std::vector<std::string>& rows) { upstream.SayRows(5, rows); }
  // A further kernel with these rows, which still has to be listed.
  void SayKernel(std::int64_t id, const std::string& name, const std::vector<std::string>& rows) {
    upstream.Say(KernelKeyOf(id), Detail(KernelOf(id, name)));
    upstream.SayRows(id, rows);
  }

  // A whole reading: "full", or "partial" and the codes of its shortfalls. The store must be sound after it.
  std::string Visit() { return Run(false, false); }
  std::string VisitAcceptingShrunken() { return Run(false, true); }
  // Only what may have changed.
  std::string Poll() { return Run(true, false); }

  Version Newest(const std::string& id, Kind kind = Kind::kSubmission, const std::string& scope = {}) const {
    const auto entry = store->GetEntry({"sol-execbench", id, scope});
    if (!entry || !entry->contains(kind)) return {};
    return entry->at(kind);
  }
  // "passed", "excluded A B", "pending A"; "nothing" where there is no such row. A row that passed has a run
  // that stands, and no other has.
  std::string StateOf(const std::string& id) const {
    const Version row = Newest("submission/" + id);
    if (row.version == 0) return "nothing";
    const bool stands = Newest("submission/" + id, Kind::kBenchmarkRun).ranked.has_value();
    EXPECT_EQ(stands, row.state == EntryState::kPassed) << id;
    std::string out(EntryStateName(row.state));
    if (!row.reasons.empty()) out += " " + Joined(row.reasons);
    return out;
  }
  // Every row of the store: "101 passed, 102 pending NOT_FINISHED".
  std::string Rows() const {
    std::string out;
    const auto status = store->ForEachEntry([&](const EntryName& name, const std::map<Kind, Version>& kinds) {
      if (!kinds.contains(Kind::kSubmission)) return true;
      const std::string id = name.external_id.substr(name.external_id.find('/') + 1);
      out += (out.empty() ? "" : ", ") + id + " " + StateOf(id);
      return true;
    });
    EXPECT_TRUE(status);
    return out;
  }
  // External ids of everything of a kind.
  std::vector<std::string> Names(Kind kind) const {
    std::vector<std::string> out;
    const auto status = store->ForEachEntry([&](const EntryName& name, const std::map<Kind, Version>& kinds) {
      if (kinds.contains(kind)) out.push_back(name.external_id);
      return true;
    });
    EXPECT_TRUE(status);
    return out;
  }
  // The latency in nanoseconds that a row's run stands with; -1 for none.
  double StandsAt(const std::string& id) const {
    const auto run = Newest("submission/" + id, Kind::kBenchmarkRun);
    return run.ranked ? run.ranked->contender.value : -1;
  }
  std::string ObservedAt(const std::string& id) const {
    const auto run = Newest("submission/" + id, Kind::kBenchmarkRun);
    return run.ranked ? run.ranked->contender.observed_at.Text() : "none";
  }
  // "CODE bytes" of every item of the quarantine, sorted; and the codes of those with these bytes.
  std::vector<std::string> Quarantine() const {
    std::vector<std::string> out;
    const auto items = store->Quarantine("");
    for (const QuarantineItem& item : *items)
      out.push_back(item.code + " " + *store->GetBytes(item.bytes_digest));
    std::sort(out.begin(), out.end());
    return out;
  }
  std::string QuarantineCodeOf(const std::string& bytes) const {
    std::string codes;
    const auto items = store->Quarantine("");
    for (const QuarantineItem& item : *items)
      if (*store->GetBytes(item.bytes_digest) == bytes) codes += (codes.empty() ? "" : " ") + item.code;
    return codes;
  }
  // "path: sample".
  std::vector<std::string> Drift() const {
    std::vector<std::string> out;
    const auto items = store->Drift("");
    for (const DriftItem& item : *items) out.push_back(item.path + ": " + item.sample);
    return out;
  }
  // Lines of the change log of one type.
  std::vector<std::string> Changes(const std::string& type) const {
    std::vector<std::string> lines;
    EXPECT_TRUE(store->ForEachChange(0, [&](const CommitInfo&, const Change& change) {
      if (change.type == type) lines.push_back(change.json);
      return true;
    }));
    return lines;
  }

  ManualClock clock;
  std::unique_ptr<Store> store;
  HostileUpstream upstream;
  VisitResult last;  // of the newest visit

 private:
  std::string Run(bool poll, bool accept_shrunken) {
    const auto adapter = MakeAdapter("sol-execbench");
    VisitOptions options;
    options.goal.poll = poll;
    options.goal.window = true;
    options.goal.leaderboards = false;
    options.goal.follow.accept_shrunken = accept_shrunken;
    upstream.asked.clear();
    last = RunVisit(*adapter, upstream, store.get(), clock, options);
    EXPECT_FALSE(last.failure) << last.failure->Message();
    const auto report = store->Verify();
    EXPECT_TRUE(report && report->fault_count == 0)
        << (report ? report->faults.front().Message() : report.error().Message());
    std::string out = last.visit;
    for (const Shortfall& shortfall : last.shortfalls) out += " " + shortfall.code;
    return out;
  }
};

inline const std::string kAllPassed = "101 passed, 102 passed, 103 passed";

}  // namespace etl::test
