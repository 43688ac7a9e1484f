#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "adapters/sol_execbench/context.h"
#include "adapters/sol_execbench/drift_log.h"
#include "adapters/sol_execbench/envelope.h"
#include "adapters/sol_execbench/row_reader.h"
#include "model/decision.h"
#include "model/digest.h"
#include "model/draft.h"
#include "model/manifest.h"

namespace etl::sol_execbench {

// What was decided on a row under review; nothing: it waits.
using ReviewLookup = std::function<std::optional<Decision>(std::int64_t submission_id)>;

// Turns the rows of one page into entries: for each identified row a Submission, for each that passes also an
// ImplementationRevision and a BenchmarkRun with the protocol and environment they name, and the page's
// users.
//
// Quarantined alone: what RowReader refuses, ROW_JSON (refused by the strict reader), ROW_NO_TIME (a passing
// row with neither time), ROW_TIME (the time it is dated by cannot be read), MANIFEST_RULE (its manifests
// would break a rule: a GPU's name or stack version too long, a latency beyond the exact range of an
// integer).
//
// A row whose only fault is a latency below the bound is under review: `reviews` is asked for it alone. One
// that was admitted passes, one that was rejected has REVIEW_REJECTED as a further reason, and the metadata
// of the Submission say so as "review". A decision holds for whatever the row says later, as long as nothing
// but the bound speaks against it.
//
// Keeps what rows of one kernel, GPU and stack version share between calls; results do not depend on it.
// Cost: about 3 us per row besides parsing.
class RowMapper {
 public:
  explicit RowMapper(DriftLog& drift) : drift_(drift) {}

  // `context` is the kernel's context, or empty when unknown: final rows are then pending,
  // KERNEL_UNAVAILABLE.
  void MapPage(std::string_view request_key, std::int64_t kernel_id, std::string_view context,
               const Envelope& envelope, json::Value rows, const ReviewLookup& reviews, Draft& draft);

 private:
  struct Page;
  struct Verdict {
    EntryState state = EntryState::kPassed;
    std::vector<std::string> reasons;
    std::int64_t latency_ns = 0;
    Instant observed_at;
    std::optional<Decision> review;
  };
  // What runs of one kernel, GPU and stack version have in common.
  struct Slice {
    std::string refused;  // why its manifests break a rule; empty: they do not
    EntryDraft protocol, environment;
    BenchmarkRun run;                                      // all but the row's own members
    std::string implementation_head, implementation_tail;  // identity around the submission's id
    EntryDraft::Ranking ranking;
    std::uint64_t page = 0;  // the last page that drafted protocol and environment
  };
  struct Project {
    std::string username, identity, metadata;
    Digest digest;
  };
  struct PageUser {
    std::int64_t submission_id = 0;
    std::string_view username;
    Locator locator;
  };

  void UseContext(std::int64_t kernel_id, std::string_view text);
  std::set<std::size_t> RepeatedRows(Page& page, json::Value rows);
  void MapRow(Page& page, json::Value value, std::size_t index);
  void Judge(Page& page, const Row& row, Verdict& verdict);
  bool Date(const Row& row, RowFault& fault, Instant& at) const;
  Slice& SliceOf(std::string_view gpu_type, std::string_view stack_version);
  void FillSlice(Slice& slice, std::string_view gpu_type, std::string_view version);
  void DraftSubmission(Page& page, const Row& row, Verdict verdict, json::Value value, Locator locator);
  void DraftRun(Page& page, const Row& row, const Verdict& verdict, Slice& slice, const Locator& locator);
  void SetMetrics(const Row& row, MapOf<double>& metrics) const;
  void NoteUser(const Row& row, const Locator& locator);
  void DraftUsers(Draft& draft);
  const Project& ProjectOf(std::int64_t user_id, std::string_view username);

  DriftLog& drift_;
  RowReader reader_;
  std::string context_text_;
  std::optional<KernelContext> context_;
  std::unordered_map<std::string, Slice> slices_;  // of the context's kernel, by GPU and version
  std::unordered_map<std::int64_t, Project> projects_;
  std::unordered_map<std::int64_t, std::size_t> user_places_;  // into users_
  std::vector<std::pair<std::int64_t, PageUser>> users_;       // of the page
  std::string scratch_, title_, name_;                         // buffers
  std::uint64_t pages_ = 0;
};

}  // namespace etl::sol_execbench
