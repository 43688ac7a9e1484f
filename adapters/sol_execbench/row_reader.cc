#include "adapters/sol_execbench/row_reader.h"

#include <algorithm>
#include <cstddef>

namespace etl::sol_execbench {
namespace {

// In the order of RowField.
constexpr std::array<std::string_view, static_cast<std::size_t>(RowField::kCount)> kFieldNames = {
    "id",           "user_id",     "username",    "kernel_id",
    "kernel_name",  "status",      "is_correct",  "is_disqualified",
    "latency_ms",   "sol_score",   "avg_speedup", "fast_1_count",
    "fast_1_total", "gpu_type",    "worker_id",   "evaluation_stack_version",
    "submitted_at", "finished_at",
};
constexpr std::array kOtherNames = {
    std::string_view("type"),
    std::string_view("kernel_title"),
    std::string_view("submission_mode"),
    std::string_view("benchmark_results"),
    std::string_view("disqualification_reason"),
    std::string_view("disqualification_source"),
    std::string_view("disqualified_at"),
    std::string_view("started_at"),
    std::string_view("result_available_at"),
    std::string_view("error_log"),
    std::string_view("original_filename"),
    std::string_view("profiling_results"),
    std::string_view("run_log"),
    std::string_view("collection_id"),
    std::string_view("collection_submission_id"),
    std::string_view("collection_title"),
    std::string_view("review_status"),
    std::string_view("review_decision"),
    std::string_view("review_summary"),
    std::string_view("review_reasons"),
    std::string_view("review_policy_version"),
    std::string_view("review_hard_rule_id"),
    std::string_view("review_reviewer"),
    std::string_view("review_model"),
};

bool Refuse(RowFault& fault, std::string_view member, std::string_view what) {
  fault = {"ROW_FIELD", member, what};
  return false;
}

bool TakeText(json::Value value, std::string_view member, std::string_view& text, RowFault& fault) {
  if (value.IsAbsent()) return true;
  if (!value.IsString()) return Refuse(fault, member, "is no string");
  text = value.AsString();
  return true;
}

// The GPU's name becomes part of an external id, up to the next slash.
bool IsGpuName(std::string_view name) {
  return !name.empty() && std::none_of(name.begin(), name.end(), [](char c) {
    return c == '/' || static_cast<unsigned char>(c) < 0x20;
  });
}

}  // namespace

bool RowReader::Read(json::Value value, std::int64_t kernel_id, const Envelope& envelope, DriftLog& drift,
                     Draft& draft, Row& row, RowFault& fault) {
  if (!value.IsObject()) {
    fault = {"ROW_NOT_AN_OBJECT", {}, "the row is no object"};
    return false;
  }
  FindMembers(value, envelope, drift, draft);
  row = Row();
  if (!ReadIdentity(kernel_id, row, fault) || !ReadResult(row, fault)) return false;
  ReadScores(envelope, drift, draft, row);
  return true;
}

std::optional<std::int64_t> RowReader::IdOf(json::Value value) {
  const auto id = value.Find("id").AsInt64();
  return id && *id > 0 ? id : std::nullopt;
}

void RowReader::FindMembers(json::Value value, const Envelope& envelope, DriftLog& drift, Draft& draft) {
  values_.fill(json::Value());
  std::size_t i = 0;
  for (const json::Member member : value.members()) {
    if (i >= order_.size() || order_[i].name != member.name) break;
    if (order_[i].field >= 0) values_[static_cast<std::size_t>(order_[i].field)] = member.value;
    ++i;
  }
  if (i != value.size()) Learn(value, envelope, drift, draft);
}

void RowReader::Learn(json::Value value, const Envelope& envelope, DriftLog& drift, Draft& draft) {
  order_.clear();
  values_.fill(json::Value());
  for (const json::Member member : value.members()) {
    Place place;
    place.name = member.name;
    const auto field = std::find(kFieldNames.begin(), kFieldNames.end(), member.name);
    if (field != kFieldNames.end()) {
      place.field = static_cast<std::int8_t>(field - kFieldNames.begin());
      values_[static_cast<std::size_t>(place.field)] = member.value;
    } else if (std::find(kOtherNames.begin(), kOtherNames.end(), member.name) == kOtherNames.end()) {
      drift.NoteMember(draft, member, "submissions[].", envelope.text);
    }
    order_.push_back(std::move(place));
  }
}

bool RowReader::ReadIdentity(std::int64_t kernel_id, Row& row, RowFault& fault) const {
  const auto id = At(RowField::kId).AsInt64();
  if (!id || *id <= 0) {
    fault = {"ROW_ID", "id", "is missing or no positive integer"};
    return false;
  }
  row.id = *id;
  const auto user_id = At(RowField::kUserId).AsInt64();
  if (!user_id) return Refuse(fault, "user_id", "is missing or no integer");
  row.user_id = *user_id;
  if (!At(RowField::kUsername).IsString()) return Refuse(fault, "username", "is missing or no string");
  row.username = At(RowField::kUsername).AsString();
  const json::Value kernel = At(RowField::kKernelId);
  if (kernel.exists() && !kernel.AsInt64()) return Refuse(fault, "kernel_id", "is no integer");
  if (kernel.exists() && *kernel.AsInt64() != kernel_id) {
    fault = {"ROW_KERNEL", "kernel_id", "is not the kernel that was asked for"};
    return false;
  }
  row.kernel_name = At(RowField::kKernelName).AsString();
  return true;
}

bool RowReader::ReadResult(Row& row, RowFault& fault) const {
  const json::Value status = At(RowField::kStatus);
  if (!status.IsString() || status.AsString().empty())
    return Refuse(fault, "status", "is missing or no string");
  row.status = status.AsString();
  const json::Value gpu_type = At(RowField::kGpuType);
  if (!gpu_type.IsString() || !IsGpuName(gpu_type.AsString())) {
    return Refuse(fault, "gpu_type", "is missing, empty, no string, or holds a slash or a control character");
  }
  row.gpu_type = gpu_type.AsString();
  const json::Value correct = At(RowField::kIsCorrect);
  if (!correct.IsAbsent() && !correct.IsBool())
    return Refuse(fault, "is_correct", "is neither true nor false");
  row.is_correct = correct.IsTrue();
  const json::Value disqualified = At(RowField::kIsDisqualified);
  if (disqualified.exists() && !disqualified.IsBool()) {
    return Refuse(fault, "is_disqualified", "is neither true nor false");
  }
  row.is_disqualified = disqualified.IsTrue();
  const json::Value latency = At(RowField::kLatencyMs);
  if (!latency.IsAbsent() && !latency.IsNumber()) return Refuse(fault, "latency_ms", "is no number");
  row.latency_ms = latency.AsDouble();
  row.has_submitted_at = !At(RowField::kSubmittedAt).IsAbsent();
  row.has_finished_at = !At(RowField::kFinishedAt).IsAbsent();
  return TakeText(At(RowField::kWorkerId), "worker_id", row.worker_id, fault) &&
         TakeText(At(RowField::kStackVersion), "evaluation_stack_version", row.stack_version, fault) &&
         TakeText(At(RowField::kSubmittedAt), "submitted_at", row.submitted_at, fault) &&
         TakeText(At(RowField::kFinishedAt), "finished_at", row.finished_at, fault);
}

// These four only stand beside the measurement: one that is no number is left out and reported, and the row
// goes on.
void RowReader::ReadScores(const Envelope& envelope, DriftLog& drift, Draft& draft, Row& row) const {
  for (const auto& [field, score] :
       {std::pair{RowField::kSolScore, &row.sol_score}, std::pair{RowField::kAvgSpeedup, &row.avg_speedup},
        std::pair{RowField::kFast1Count, &row.fast_1_count},
        std::pair{RowField::kFast1Total, &row.fast_1_total}}) {
    const json::Value value = At(field);
    *score = value.AsDouble();
    if (value.IsAbsent() || value.IsNumber()) continue;
    const std::string_view name = kFieldNames[static_cast<std::size_t>(field)];
    drift.Note(draft, "submissions[]." + std::string(name) + " is no number", envelope.BytesOf(value));
  }
}

}  // namespace etl::sol_execbench
