#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/visit.h"
#include "fetch/transport.h"
#include "model/digest.h"
#include "tests/support/backfill.h"
#include "tests/support/manual_clock.h"

namespace etl::test {

// A small live source, its answers written by the test: each key has a body, an ETag that follows from it,
// and a log of what was asked.
class ScriptedSource : public Transport {
 public:
  explicit ScriptedSource(ManualClock& clock) : clock_(clock) {}

  using Transport::Fetch;
  Result<Response> Fetch(std::string_view key, const Validators& held) override {
    asked.emplace_back(key);
    clock_.AdvanceMs(10);
    if (before) before(key);
    Response response;
    response.origin = "test:" + std::string(key);
    response.at = clock_.Now();
    if (unavailable.contains(std::string(key)))
      return Fail(Errc::kUnavailable, "HTTP_CONNECT", std::string(key), "no connection", "");
    const auto body = bodies.find(std::string(key));
    if (body == bodies.end()) {
      response.status = 404;
      return response;
    }
    const auto tag = etags.find(body->first);
    response.validators.etag =
        tag == etags.end() ? '"' + Sha256(body->second).Hex().substr(0, 12) + '"' : tag->second;
    if (!held.etag.empty() && held.etag == response.validators.etag) {
      response.status = 304;
    } else {
      response.bytes = body->second;
    }
    return response;
  }
  std::string Describe() const override { return "scripted source"; }
  bool live() const override { return true; }

  std::map<std::string, std::string> bodies, etags;  // an ETag of `etags` goes before the usual one
  std::map<std::string, bool> unavailable;
  std::vector<std::string> asked;
  std::function<void(std::string_view key)> before;  // each answer

 private:
  ManualClock& clock_;
};

struct ListedKernel {
  int id = 5;
  int count = 0;
  std::string name = {};  // empty: "k<id>"
};

inline std::string KernelList(const std::vector<ListedKernel>& kernels) {
  std::string text = R"({"data":{"kernels":[)";
  for (const ListedKernel& kernel : kernels) {
    if (text.back() != '[') text += ',';
    const std::string id = std::to_string(kernel.id);
    text += R"({"id":)" + id + R"(,"name":")" + (kernel.name.empty() ? "k" + id : kernel.name) +
            R"(","title":"K","gpu_types":["B200","H100"],"tags":["scan"],"submission_count":)" +
            std::to_string(kernel.count) + "}";
  }
  return text + "]}}";
}

inline std::string KernelDetail(int id, const std::string& bound_ms = "0.000001") {
  return R"({"data":{"id":)" + std::to_string(id) + R"(,"name":"k)" + std::to_string(id) +
         R"(","title":"K","gpu_types":["B200","H100"],"tags":["scan"],"axes":{"n":{"type":"var"}},)"
         R"("inputs":{"x":{"shape":["n"],"dtype":"float32"}},"outputs":{"y":{"shape":["n"],"dtype":"float32"}},)"
         R"("baseline":"pass","latency_unit":"ms","sol_is_dummy":false,)"
         R"("workloads":[{"axes":{"n":64},"sol_ms":)" +
         bound_ms + "}]}}";
}

struct ListedRow {
  int id = 0;
  std::string status = "COMPLETED";
  std::string latency_ms = "1.5";
  std::string user = "ada";
  bool disqualified = false;
  std::string submitted_at = "2026-05-01T10:00:00";
};

inline std::string RowText(const ListedRow& row) {
  std::string text = R"({"id":)" + std::to_string(row.id) + R"(,"user_id":7,"username":")" + row.user +
                     R"(","kernel_id":5,"kernel_name":"k5","status":")" + row.status + R"(","gpu_type":")" +
                     (row.id % 2 == 0 ? "B200" : "H100") +
                     R"(","evaluation_stack_version":"v1.1","submitted_at":")" + row.submitted_at + R"(")";
  if (row.status == "COMPLETED")
    text += R"(,"is_correct":true,"finished_at":"2026-05-01T10:30:00","latency_ms":)" + row.latency_ms;
  return text + R"(,"is_disqualified":)" + (row.disqualified ? "true}" : "false}");
}

// One page of rows; `total` -1: as many as there are.
inline std::string Rows(const std::vector<ListedRow>& rows, int total = -1) {
  std::string text = R"({"data":{"submissions":[)";
  for (const ListedRow& row : rows) text += (text.back() == '[' ? "" : ",") + RowText(row);
  return text + R"(],"total":)" + std::to_string(total < 0 ? static_cast<int>(rows.size()) : total) +
         R"(,"offset":0,"limit":50}})";
}

inline std::string RowsKey(int kernel, int offset = 0, const std::string& slice = {}) {
  return "submissions?kernel_id=" + std::to_string(kernel) + slice +
         "&limit=50&offset=" + std::to_string(offset);
}

// Visits of a store in memory to a scripted source with one kernel of three rows.
class Polling : public testing::Test {
 protected:
  Polling() : store_(OpenStore("", clock_)), source_(clock_) {
    SetRows({{101}, {102}, {103}});
    source_.bodies["kernels/5"] = KernelDetail(5);
  }
  // The one kernel's rows, with as many in its count.
  void SetRows(const std::vector<ListedRow>& rows, int count = -1) {
    source_.bodies[RowsKey(5)] = Rows(rows);
    source_.bodies["kernels"] = KernelList({{5, count < 0 ? static_cast<int>(rows.size()) : count}});
  }
  VisitResult Visit(bool poll, bool accept_shrunken = false) {
    const auto adapter = MakeAdapter("sol-execbench");
    VisitOptions options;
    options.goal.poll = poll;
    options.goal.window = true;
    options.goal.leaderboards = leaderboards_;
    options.goal.follow.accept_shrunken = accept_shrunken;
    options.unconditional_every = unconditional_every_;
    source_.asked.clear();
    VisitResult result = RunVisit(*adapter, source_, store_.get(), clock_, options);
    EXPECT_FALSE(result.failure) << result.failure->Message();
    const auto report = store_->Verify();
    EXPECT_TRUE(report && report->fault_count == 0);
    return result;
  }
  VisitResult Poll() { return Visit(true); }
  Version Newest(const std::string& id, Kind kind = Kind::kSubmission) {
    const auto entry = store_->GetEntry({"sol-execbench", id, ""});
    if (!entry || !entry->contains(kind)) return {};
    return entry->at(kind);
  }
  // Lines of the change log of one type.
  std::vector<std::string> Changes(const std::string& type) {
    std::vector<std::string> lines;
    EXPECT_TRUE(store_->ForEachChange(0, [&](const CommitInfo&, const Change& change) {
      if (change.type == type) lines.push_back(change.json);
      return true;
    }));
    return lines;
  }
  std::vector<std::string> Codes(const VisitResult& result) {
    std::vector<std::string> codes;
    for (const Shortfall& shortfall : result.shortfalls) codes.push_back(shortfall.code);
    return codes;
  }

  ManualClock clock_;
  std::unique_ptr<Store> store_;
  ScriptedSource source_;
  std::uint64_t unconditional_every_ = 20;
  bool leaderboards_ = false;
};

// The 50 rows up to this one, newest first, as a window shows them.
inline std::vector<ListedRow> Newest50(int newest) {
  std::vector<ListedRow> rows;
  for (int id = newest; id > newest - 50; --id) rows.push_back({id});
  return rows;
}

inline void ShowWindow(ScriptedSource& source, const std::vector<ListedRow>& rows, int count) {
  source.bodies[RowsKey(5)] = Rows(rows);
  source.bodies[RowsKey(5, 49)] = Rows({rows.back()}, 50);
  source.bodies["kernels"] = KernelList({{5, count}});
}

}  // namespace etl::test
