#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adapters/sol_execbench/kernel.h"

namespace etl::sol_execbench {

// Collects the workload rows of one kernel, in upstream's order, into case entries and a suite.
//
// A row that cannot be a case is quarantined alone: CASE_JSON (refused by the strict reader),
// CASE_NOT_AN_OBJECT, CASE_AXES (no object of tokens and integers, or two names that differ only in case),
// CASE_ID (uuid is no string of at most 200 characters without NUL), CASE_ID_REPEATED (the key of an earlier,
// different case), CASE_UNBOUND, CASE_CYCLE, CASE_SYNTAX, CASE_DIVISION, CASE_OVERFLOW, CASE_TOO_LONG,
// CASE_TOO_DEEP (an axis that cannot be evaluated), CASE_FIELD (inputs or tolerance of a wrong type),
// CASE_RULE (breaks a rule of manifests). Whatever follows CASE_ID_REPEATED in this list still counts for the
// suite, which is what upstream ranks by; the suite leaves out only rows whose key or axes cannot be read.
class CaseCollector {
 public:
  // `where` of the quarantine is request_key + " " + path.
  CaseCollector(const Kernel& kernel, std::string_view request_key, DriftLog& drift, Draft& draft);

  void AddRefused(std::string_view path, const Error& error, std::string_view bytes);
  // `text` is what the row was parsed from; `path` says for people where in the answer it stands, `locator`
  // where in the snapshot.
  void Add(json::Value row, std::string_view text, const std::string& path, Locator locator);

  // Rows that the suite leaves out.
  std::size_t left_out() const { return left_out_; }
  // The case entries, each once, then the suite. Nothing is added, and false comes back, when no row made it
  // into the suite.
  bool Finish(Locator suite_locator, Digest& suite);

 private:
  struct CaseRow;
  void NoteMeasures(json::Value row);
  bool ReadAxes(json::Value row, CaseRow& out);
  bool ReadKey(json::Value row, CaseRow& out);
  bool ReadSpec(json::Value row, CaseRow& out);
  bool Bind(CaseRow& out);
  bool ReadInputs(json::Value inputs, CaseRow& out);
  bool ReadTolerance(json::Value tolerance, CaseRow& out);
  void Emit(CaseRow row, std::string_view bytes, const std::string& path, Locator locator);

  const Kernel& kernel_;
  std::string_view request_key_;
  DriftLog& drift_;
  Draft& draft_;
  std::string_view text_;
  std::size_t left_out_ = 0;
  WorkloadSuite suite_;
  std::vector<EntryDraft> entries_;
  std::map<std::string, std::size_t, std::less<>> by_key_;  // into entries_
};

// The key of a case without uuid: the first 12 hex digits of the SHA-256 over the compact JSON of its axes,
// upstream's names in collation order. `axes` must be sorted so.
std::string CaseKeyOf(const std::vector<std::pair<std::string, std::int64_t>>& axes);

}  // namespace etl::sol_execbench
