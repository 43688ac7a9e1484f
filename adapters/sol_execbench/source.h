#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/adapter.h"
#include "adapters/sol_execbench/cases.h"
#include "adapters/sol_execbench/drift_log.h"
#include "adapters/sol_execbench/envelope.h"
#include "adapters/sol_execbench/follow.h"
#include "adapters/sol_execbench/kernel.h"
#include "adapters/sol_execbench/paging.h"
#include "adapters/sol_execbench/request_key.h"
#include "adapters/sol_execbench/row_mapper.h"

namespace etl::sol_execbench {

// The adapter of SOL-ExecBench.
//
// A visit asks for the list of kernels; then, kernel by kernel, for its detail and its rows page by page; the
// detail also brings the requests for upstream's own leaderboards, if the goal wants them. Rows need the
// detail's context, so requests of one scope ("kernel/5") must be answered in the order given. In local mode
// it asks for the index of folders, then for each folder's definition and workloads.
//
// When Goal::rows_max is reached, every further page is still drafted if it comes, but nothing more is asked
// for, and each unfinished walk falls short with ROW_LIMIT: the caller may drop what is queued. Rows are
// counted from the list of kernels on.
//
// A kernel's detail must call it as the list does: entries are named by it, and names are unique in the list
// alone (KERNEL_NAME_CONFLICT).
//
// Shortfalls beside those of adapter.h: KERNEL_..., the quarantine code of a kernel that cannot be taken;
// KERNEL_DAMAGED, a definition with workloads or bounds that cannot be read where a whole one is known, which
// stays; and KERNEL_UNAVAILABLE, local workloads without a definition.
class Source : public Adapter {
 public:
  struct Options {
    std::int64_t kernel_rows_max = kKernelRowsMax;
  };
  Source() : Source(Options()) {}
  explicit Source(const Options& options) : options_(options), mapper_(drift_) {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::string_view slug() const override;
  std::string_view base_url() const override;
  std::string_view version() const override;
  std::vector<Request> Plan(const Goal& goal) const override;
  // Errors, beside those of ReadEnvelope: REQUEST_KEY for a key that this source does not have.
  Result<Outcome> Accept(Request& request, const Snapshot& snapshot, std::string_view context,
                         Reading reading, const Goal& goal) override;
  std::string ContextFor(std::string_view request_key) const override;
  ReviewFacts FactsOf(std::string_view row, std::string_view context) const override;
  RowTraits TraitsOf(std::string_view row) const override;
  std::optional<Instant> NextDue(const Cursors& cursors) const override;

 private:
  // One call of Accept.
  struct Call {
    Request& request;
    RequestKey key;
    std::string_view body, context;
    Instant at;  // of the answer
    bool draft = true;
    const Goal& goal;
  };
  // What the requests for one kernel's rows share, from page to page and from list to list.
  struct RowsWalk : WalkState {
    explicit RowsWalk(std::int64_t rows_max) : walk(rows_max) {}
    Walk walk;
    std::int64_t oldest = 0;                   // lowest id of the list so far
    std::shared_ptr<KernelRead> read;          // null where the source is not followed
    std::shared_ptr<std::int64_t> lists_open;  // lists of the kernel not yet read to their end
  };
  // Of the request for a kernel's detail, beside those for its rows.
  struct DetailWalk : WalkState {
    std::shared_ptr<KernelRead> read;
  };
  struct Listed {
    std::int64_t id = 0;
    std::string_view name;
    std::size_t index = 0;
    json::Value value;
  };

  Result<Outcome> AcceptKernels(const Call& call);
  std::vector<Listed> ReadList(const Call& call, const Envelope& envelope, json::Value list,
                               Outcome& outcome);
  void RefuseListed(const Call& call, std::string code, std::size_t index, std::string what,
                    std::string_view bytes, Outcome& outcome);
  Result<Outcome> AcceptKernel(const Call& call);
  void DraftKernel(const Call& call, const Envelope& envelope, json::Value data, Outcome& outcome);
  void DraftCases(const Call& call, const Envelope& envelope, json::Value data, const Kernel& kernel,
                  Outcome& outcome);
  bool IsWhole(const Call& call, bool whole, Outcome& outcome) const;
  void AskForLeaderboards(const Call& call, json::Value data, Outcome& outcome);
  Status CheckList(const Call& call, const KernelsMemory& known, const std::set<std::int64_t>& listed) const;
  Status RememberList(const Call& call, const Envelope& envelope, json::Value list,
                      const std::vector<Listed>& kernels, Outcome& outcome) const;
  void AskForKernel(const Call& call, const Listed& kernel, Outcome& outcome,
                    std::vector<Request>& rows) const;
  Result<Outcome> AcceptSubmissions(const Call& call);
  Status CheckRows(const Call& call, const PageSummary& page, Outcome& outcome) const;
  std::optional<Decision> ReviewOf(const Call& call, std::int64_t id) const;
  void AskForLostRows(const Call& call, const KernelRead& read, Outcome& outcome) const;
  void TakeStep(const Call& call, std::unique_ptr<RowsWalk> walk, const Step& step, Outcome& outcome);
  void EndList(const Call& call, const RowsWalk& walk, bool complete, Outcome& outcome) const;
  void EndKernel(const Call& call, const KernelRead& read, Outcome& outcome) const;
  std::optional<std::string> Remembered(const Call& call, std::string_view key) const;
  Result<Outcome> AcceptLeaderboard(const Call& call);
  Result<Outcome> AcceptLocalIndex(const Call& call);
  Result<Outcome> AcceptLocalDefinition(const Call& call);
  Result<Outcome> AcceptLocalWorkloads(const Call& call);
  // Quarantines the part of a kernel that is at fault, and makes its scope fall short.
  void RefuseKernel(const Call& call, const Envelope& envelope, std::string_view root, const Fault& fault,
                    Outcome& outcome);
  void NoteEnvelopeDrift(const Envelope& envelope, std::string_view endpoint, Outcome& outcome);

  Options options_;
  DriftLog drift_;
  RowMapper mapper_;
  std::uint64_t rows_ = 0;                     // new rows since the list of kernels
  std::map<std::int64_t, std::string> names_;  // of the kernels that the newest list has
};

}  // namespace etl::sol_execbench
