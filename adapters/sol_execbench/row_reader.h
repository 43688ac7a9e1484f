#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/sol_execbench/drift_log.h"
#include "adapters/sol_execbench/envelope.h"
#include "model/json.h"

namespace etl::sol_execbench {

// The members of a submission row that the mapping reads.
enum class RowField : std::uint8_t {
  kId,
  kUserId,
  kUsername,
  kKernelId,
  kKernelName,
  kStatus,
  kIsCorrect,
  kIsDisqualified,
  kLatencyMs,
  kSolScore,
  kAvgSpeedup,
  kFast1Count,
  kFast1Total,
  kGpuType,
  kWorkerId,
  kStackVersion,
  kSubmittedAt,
  kFinishedAt,
  kCount,  // how many there are
};

// A row, typed. Views live as long as the document.
struct Row {
  std::int64_t id = 0, user_id = 0;
  std::string_view username, kernel_name, status, gpu_type;
  std::string_view worker_id, stack_version, submitted_at, finished_at;  // empty: not stated
  bool has_submitted_at = false, has_finished_at = false;
  bool is_correct = false, is_disqualified = false;
  std::optional<double> latency_ms, sol_score, avg_speedup, fast_1_count, fast_1_total;
};

// Why a row is quarantined. `member` is empty when it is the row as a whole.
struct RowFault {
  std::string_view code;
  std::string_view member;
  std::string_view what;
};

// Reads rows, and notes members that it does not know. Rows of a response have the same members in the same
// order almost always, so the reader remembers the last row's order and looks names up only when one differs.
class RowReader {
 public:
  // `kernel_id` is the kernel whose rows were asked for. False: `fault` says why the row is refused
  // (ROW_NOT_AN_OBJECT, ROW_ID, ROW_FIELD, ROW_KERNEL).
  bool Read(json::Value value, std::int64_t kernel_id, const Envelope& envelope, DriftLog& drift,
            Draft& draft, Row& row, RowFault& fault);

  // The id alone, where it can be read.
  static std::optional<std::int64_t> IdOf(json::Value value);

 private:
  static constexpr std::size_t kFields = static_cast<std::size_t>(RowField::kCount);
  struct Place {
    std::string name;
    std::int8_t field = -1;  // a RowField; -1: known and not read, or unknown
  };

  json::Value At(RowField field) const { return values_[static_cast<std::size_t>(field)]; }
  void FindMembers(json::Value value, const Envelope& envelope, DriftLog& drift, Draft& draft);
  void Learn(json::Value value, const Envelope& envelope, DriftLog& drift, Draft& draft);
  bool ReadIdentity(std::int64_t kernel_id, Row& row, RowFault& fault) const;
  bool ReadResult(Row& row, RowFault& fault) const;
  void ReadScores(const Envelope& envelope, DriftLog& drift, Draft& draft, Row& row) const;

  std::vector<Place> order_;
  std::array<json::Value, kFields> values_;
};

}  // namespace etl::sol_execbench
