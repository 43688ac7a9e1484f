#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/adapters/visit_support.h"

// A small made-up kernel and its rows, as upstream would write them, to be changed one member at a time.
namespace etl::test {

// Members in order, value as JSON text. An empty text leaves the member out.
class JsonObject {
 public:
  JsonObject() = default;
  JsonObject(std::initializer_list<std::pair<std::string, std::string>> members) : members_(members) {}

  JsonObject& Set(std::string_view name, std::string value) {
    for (auto& [known, text] : members_) {
      if (known != name) continue;
      text = std::move(value);
      return *this;
    }
    members_.emplace_back(name, std::move(value));
    return *this;
  }
  std::string Text() const {
    std::string out = "{";
    for (const auto& [name, value] : members_) {
      if (value.empty()) continue;
      if (out.size() > 1) out += ", ";
      out += "\"" + name + "\": " + value;
    }
    return out + "}";
  }

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

inline JsonObject PlainRow(std::int64_t id = 100) {
  return {{"id", std::to_string(id)},
          {"type", "\"kernel\""},
          {"user_id", "7"},
          {"username", "\"Ada L.\""},
          {"kernel_id", "5"},
          {"kernel_name", "\"005_toy\""},
          {"status", "\"COMPLETED\""},
          {"is_correct", "true"},
          {"sol_score", "0.75"},
          {"latency_ms", "0.5"},
          {"fast_1_count", "2"},
          {"fast_1_total", "2"},
          {"avg_speedup", "1.25"},
          {"gpu_type", "\"B200\""},
          {"worker_id", "\"w-1\""},
          {"evaluation_stack_version", "\"v1.1\""},
          {"is_disqualified", "false"},
          {"submitted_at", "\"2026-08-01T00:00:01.5\""},
          {"finished_at", "\"2026-08-01T00:00:02.123999\""}};
}

inline JsonObject PlainKernel() {
  return {{"id", "5"},
          {"name", "\"005_toy\""},
          {"title", "\"Toy\""},
          {"description", "\"Adds a row.\""},
          {"gpu_types", "[\"B200\"]"},
          {"tags", "[\"L1\", \"model:Toy 1\", \"Element Wise\"]"},
          {"axes",
           R"({"rows": {"type": "var"}, "twice": {"type": "expr", "expression": "half * 4"},
               "half": {"type": "expr", "expression": "WIDTH // 2"}, "WIDTH": {"type": "const", "value": 8}})"},
          {"inputs", R"({"X": {"shape": ["rows", "WIDTH"], "dtype": "bfloat16"},
                         "w-2": {"shape": ["twice", "3"], "dtype": "float32"},
                         "eps": {"shape": null, "dtype": "float32"}})"},
          {"outputs", R"({"out": {"shape": ["rows", "half"], "dtype": "bfloat16"}})"},
          {"baseline", "\"secret code\""},
          {"baseline_latency_ms", "0.9"},
          {"latency_unit", "\"ms\""},
          {"sol_is_dummy", "false"},
          {"workloads", R"([{"axes": {"rows": 2}, "sol_ms": 0.02}, {"axes": {"rows": 4}, "sol_ms": 0.01}])"}};
}

inline std::string Detail(const JsonObject& kernel) {
  return "{\"data\": " + kernel.Text() + "}";
}

inline std::string PageOf(const std::vector<std::string>& rows, std::int64_t total) {
  std::string out = "{\"data\": {\"submissions\": [";
  for (std::size_t i = 0; i < rows.size(); ++i) out += (i > 0 ? ", " : "") + rows[i];
  return out + "], \"total\": " + std::to_string(total) + ", \"offset\": 0, \"limit\": 50}}";
}

inline const std::string kRowsKey = "submissions?kernel_id=5&limit=50&offset=0";

// The context that the plain kernel's rows are read with.
inline std::string PlainContext() {
  auto adapter = MakeAdapter("sol-execbench");
  auto outcome = AcceptOne(*adapter, "kernels/5", Detail(PlainKernel()));
  return outcome && outcome->draft.contexts.size() == 1 ? outcome->draft.contexts[0].value : "";
}

// What one page with these rows says.
inline Draft DraftRows(const std::vector<std::string>& rows, std::string_view context) {
  auto adapter = MakeAdapter("sol-execbench");
  auto outcome = AcceptOne(*adapter, kRowsKey, PageOf(rows, static_cast<std::int64_t>(rows.size())), context);
  EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().Message());
  return outcome ? std::move(outcome->draft) : Draft();
}

inline std::string Joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

}  // namespace etl::test
