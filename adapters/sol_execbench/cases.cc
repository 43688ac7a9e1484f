#include "adapters/sol_execbench/cases.h"

#include <algorithm>
#include <utility>

#include "adapters/sol_execbench/entry.h"
#include "adapters/sol_execbench/vocabulary.h"
#include "model/canonical_json.h"
#include "model/digest.h"
#include "model/expression.h"
#include "model/text.h"

namespace etl::sol_execbench {
namespace {

constexpr std::size_t kKeyCodePointsMax = 200;  // of an external id in a suite
constexpr std::size_t kKeyBytesMax = 480;
constexpr std::size_t kTitleMax = 200;
constexpr std::size_t kNameKeyBytes = 8;
constexpr std::size_t kHashedKeyBytes = 12;

std::string CaseTitle(std::string_view kernel,
                      const std::vector<std::pair<std::string, std::int64_t>>& axes) {
  std::string title(kernel);
  std::string_view separator = " · ";
  for (const auto& [name, value] : axes) {
    title.append(separator).append(Lower(name)).append("=").append(std::to_string(value));
    separator = ", ";
  }
  return CutTo(title, kTitleMax);
}

std::string CaseName(std::string_view kernel, std::string_view key) {
  std::string name = KernelSlug(kernel) + "-" + std::string(key.substr(0, kNameKeyBytes));
  return IsName(name) ? name : KernelSlug(name);
}

}  // namespace

struct CaseCollector::CaseRow {
  std::string key;
  std::vector<std::pair<std::string, std::int64_t>> upstream_axes;  // collated
  WorkloadCase spec;
  Fault fault;

  bool Refuse(std::string code, std::string path, std::string what) {
    fault = {std::move(code), std::move(path), std::move(what), json::Value()};
    return false;
  }
};

std::string CaseKeyOf(const std::vector<std::pair<std::string, std::int64_t>>& axes) {
  std::string text = "{";
  for (const auto& [name, value] : axes) {
    if (text.size() > 1) text += ',';
    json::AppendString(text, name);
    text += ':';
    json::AppendNumber(text, value);
  }
  text += '}';
  return Sha256(text).Hex().substr(0, kHashedKeyBytes);
}

CaseCollector::CaseCollector(const Kernel& kernel, std::string_view request_key, DriftLog& drift,
                             Draft& draft)
    : kernel_(kernel), request_key_(request_key), drift_(drift), draft_(draft) {
  suite_.operation_spec_digest = kernel.operation;
  suite_.correctness = SuiteCorrectnessOf();
  suite_.aggregation = {"latency", "mean"};
}

void CaseCollector::AddRefused(std::string_view path, const Error& error, std::string_view bytes) {
  ++left_out_;
  draft_.quarantine.push_back(Quarantined("CASE_JSON", request_key_, path, error.Message(), bytes));
}

void CaseCollector::Add(json::Value row, std::string_view text, const std::string& path, Locator locator) {
  text_ = text;
  CaseRow read;
  read.spec.operation_spec_digest = kernel_.operation;
  const std::string_view bytes = text.substr(row.begin_offset(), row.end_offset() - row.begin_offset());
  bool good = row.IsObject() || read.Refuse("CASE_NOT_AN_OBJECT", "", "the workload row is no object");
  good = good && ReadAxes(row, read) && ReadKey(row, read);
  if (!good) {
    ++left_out_;
  } else {
    suite_.cases.push_back({read.key, read.spec.axes});
    drift_.NoteUnknown(
        draft_, row, {"axes", "baseline_latency_ms", "sol_ms", "uuid", "inputs", "tolerance", "correctness"},
        "kernel.workloads[].", text_);
    NoteMeasures(row);
    good = ReadSpec(row, read);
  }
  if (good) {
    Emit(std::move(read), bytes, path, locator);
    return;
  }
  draft_.quarantine.push_back(Quarantined(std::move(read.fault.code), request_key_, path + read.fault.path,
                                          std::move(read.fault.what), bytes));
}

// A bound that is none takes the bound off the whole kernel: never silently.
void CaseCollector::NoteMeasures(json::Value row) {
  const auto note = [&](json::Value value, std::string_view path) {
    drift_.Note(draft_, std::string(path),
                text_.substr(value.begin_offset(), value.end_offset() - value.begin_offset()));
  };
  const json::Value bound = row.Find("sol_ms"), baseline = row.Find("baseline_latency_ms");
  if (!bound.IsAbsent() && !(bound.AsDouble().value_or(0) > 0))
    note(bound, "kernel.workloads[].sol_ms is no positive number");
  if (!baseline.IsAbsent() && !baseline.IsNumber())
    note(baseline, "kernel.workloads[].baseline_latency_ms is no number");
}

bool CaseCollector::ReadAxes(json::Value row, CaseRow& out) {
  const json::Value axes = row.Find("axes");
  if (!axes.IsObject()) return out.Refuse("CASE_AXES", ".axes", "axes is missing or no object");
  for (const json::Member member : axes.members()) {
    const std::string path = ".axes." + std::string(member.name);
    const auto value = IntegerOf(member.value);
    std::string name = Lower(member.name);
    if (!value) return out.Refuse("CASE_AXES", path, "the value of the axis is no integer");
    if (!IsToken(name)) return out.Refuse("CASE_AXES", path, "the name of the axis is no token");
    if (!out.spec.axes.emplace(std::move(name), *value).second) {
      return out.Refuse("CASE_AXES", path, "two axes differ only in case");
    }
    out.upstream_axes.emplace_back(member.name, *value);
  }
  std::sort(out.upstream_axes.begin(), out.upstream_axes.end(),
            [](const auto& a, const auto& b) { return CollatedLess(a.first, b.first); });
  return true;
}

bool CaseCollector::ReadKey(json::Value row, CaseRow& out) {
  const json::Value uuid = row.Find("uuid");
  if (!uuid.IsAbsent() && !uuid.IsString()) return out.Refuse("CASE_ID", ".uuid", "uuid is no string");
  const std::string_view text = uuid.AsString();
  if (text.size() > kKeyBytesMax || CodePoints(text) > kKeyCodePointsMax ||
      text.find('\0') != std::string_view::npos) {
    return out.Refuse("CASE_ID", ".uuid", "uuid has more than 200 characters, or a NUL");
  }
  out.key = text.empty() ? CaseKeyOf(out.upstream_axes) : std::string(text);
  return true;
}

bool CaseCollector::ReadSpec(json::Value row, CaseRow& out) {
  out.spec.correctness.comparator = kComparator;
  if (!Bind(out) || !ReadInputs(row.Find("inputs"), out) || !ReadTolerance(row.Find("tolerance"), out))
    return false;
  if (auto status = CheckSpec(out.spec); !status)
    return out.Refuse("CASE_RULE", "", status.error().Message());
  return true;
}

bool CaseCollector::Bind(CaseRow& out) {
  Bindings bindings(out.spec.axes.begin(), out.spec.axes.end());
  bindings.insert(kernel_.constants.begin(), kernel_.constants.end());
  if (auto status = ResolveDerived(kernel_.derived, bindings); !status) {
    // EXPRESSION_CYCLE becomes CASE_CYCLE, and so on.
    const Error& error = status.error();
    return out.Refuse("CASE_" + error.code.substr(error.code.find('_') + 1), ".axes", error.Message());
  }
  for (const KernelInput& input : kernel_.inputs) {
    if (input.shape.empty()) continue;
    CaseTensor tensor;
    tensor.dtype = input.dtype;
    for (const Dimension& dimension : input.shape) {
      if (const auto* size = std::get_if<std::int64_t>(&dimension)) {
        tensor.shape.push_back(*size);
        continue;
      }
      const auto& axis = std::get<std::string>(dimension);
      const auto bound = bindings.find(axis);
      if (bound == bindings.end()) {
        return out.Refuse("CASE_UNBOUND", ".axes",
                          "axis " + axis + " of input " + input.name + " has no value");
      }
      tensor.shape.push_back(bound->second);
    }
    out.spec.tensors.emplace(input.name, std::move(tensor));
  }
  return true;
}

bool CaseCollector::ReadInputs(json::Value inputs, CaseRow& out) {
  if (inputs.IsAbsent()) return true;
  if (!inputs.IsObject()) return out.Refuse("CASE_FIELD", ".inputs", "inputs is no object");
  for (const KernelInput& input : kernel_.inputs) {
    const json::Value described = inputs.Find(input.upstream_name);
    if (described.IsAbsent()) continue;
    const std::string path = ".inputs." + input.upstream_name;
    const json::Value type = described.Find("type");
    if (!type.IsString()) return out.Refuse("CASE_FIELD", path, "the input's description has no type");
    if (const std::string_view name = type.AsString();
        name != "random" && name != "scalar" && name != "safetensors" && name != "custom") {
      drift_.NoteValue(draft_, "kernel.workloads[].inputs.*.type", name);
    }
    if (!input.shape.empty()) {
      const bool stored = type.AsString() == "safetensors";
      out.spec.tensors.at(input.name).data.emplace().generator = stored ? "safetensors" : "random";
      continue;
    }
    if (type.AsString() != "scalar") continue;
    const json::Value value = described.Find("value");
    if (!value.IsNumber() && !value.IsBool())
      return out.Refuse("CASE_FIELD", path, "a scalar without a value");
    if (!out.spec.scalars) out.spec.scalars.emplace();
    const double number = value.IsNumber() ? value.AsDouble().value_or(0) : (value.IsTrue() ? 1.0 : 0.0);
    out.spec.scalars->emplace(input.name, CaseScalar{input.dtype, number});
  }
  return true;
}

bool CaseCollector::ReadTolerance(json::Value tolerance, CaseRow& out) {
  if (tolerance.IsAbsent()) return true;
  if (!tolerance.IsObject()) return out.Refuse("CASE_FIELD", ".tolerance", "tolerance is no object");
  const json::Value absolute = tolerance.Find("max_atol");
  const json::Value relative = tolerance.Find("max_rtol");
  if ((!absolute.IsAbsent() && !absolute.IsNumber()) || (!relative.IsAbsent() && !relative.IsNumber())) {
    return out.Refuse("CASE_FIELD", ".tolerance", "max_atol or max_rtol is no number");
  }
  out.spec.correctness.max_absolute_error = absolute.AsDouble();
  out.spec.correctness.max_relative_error = relative.AsDouble();
  return true;
}

void CaseCollector::Emit(CaseRow row, std::string_view bytes, const std::string& path, Locator locator) {
  Metadata metadata;
  metadata.name = CaseName(kernel_.name, row.key);
  metadata.title = CaseTitle(kernel_.name, row.upstream_axes);
  EntryDraft entry = EntryOf(row.key, row.spec, metadata, locator);
  entry.scope = kernel_.name;
  const auto [known, added] = by_key_.emplace(std::move(row.key), entries_.size());
  if (added) {
    entries_.push_back(std::move(entry));
  } else if (entries_[known->second].digest != entry.digest) {
    draft_.quarantine.push_back(
        Quarantined("CASE_ID_REPEATED", request_key_, path + ".uuid",
                    "an earlier case of this kernel has the same id and is another case", bytes));
  }
}

bool CaseCollector::Finish(Locator suite_locator, Digest& suite) {
  draft_.entries.insert(draft_.entries.end(), std::make_move_iterator(entries_.begin()),
                        std::make_move_iterator(entries_.end()));
  entries_.clear();
  by_key_.clear();
  if (suite_.cases.empty()) return false;
  Metadata metadata;
  metadata.name = KernelSlug(kernel_.name) + "-suite";
  metadata.title = CutTo("SOL workload suite: " + kernel_.name, kTitleMax);
  EntryDraft entry = EntryOf(kernel_.name + "/suite", suite_, metadata, std::move(suite_locator));
  suite = entry.digest;
  draft_.entries.push_back(std::move(entry));
  return true;
}

}  // namespace etl::sol_execbench
