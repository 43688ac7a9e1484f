#include "adapters/sol_execbench/kernel.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "adapters/sol_execbench/entry.h"
#include "adapters/sol_execbench/vocabulary.h"
#include "model/text.h"

namespace etl::sol_execbench {
namespace {

constexpr std::size_t kNameCodePointsMax = 200;
constexpr std::size_t kNameBytesMax = 480;  // leaves room for "/suite" in an external id
constexpr std::size_t kTitleMax = 200;
constexpr std::size_t kDescriptionMax = 2000;

class KernelReader {
 public:
  KernelReader(const Envelope& envelope, DriftLog& drift, Draft& draft, Fault& fault)
      : envelope_(envelope), drift_(drift), draft_(draft), fault_(fault) {}

  std::optional<Kernel> Read(json::Value data) {
    NoteDrift(data);
    const bool read = ReadName(data.Find("name")) && ReadFamily(data) && ReadAxes(data.Find("axes")) &&
                      ReadArguments(data, "inputs", kernel_.spec.inputs) &&
                      ReadArguments(data, "outputs", kernel_.spec.outputs) &&
                      ReadReference(data.Find("reference"));
    if (!read) return std::nullopt;
    kernel_.spec.semantics.mutation = "none";
    kernel_.spec.semantics.determinism = "unspecified";
    if (auto status = CheckSpec(kernel_.spec); !status) {
      RefuseByRule(data, status.error());
      return std::nullopt;
    }
    kernel_.operation = DigestOf(kernel_.spec);
    std::sort(kernel_.input_dtypes.begin(), kernel_.input_dtypes.end());
    const auto repeats = std::unique(kernel_.input_dtypes.begin(), kernel_.input_dtypes.end());
    kernel_.input_dtypes.erase(repeats, kernel_.input_dtypes.end());
    return std::move(kernel_);
  }

 private:
  bool Refuse(std::string code, std::string path, std::string what, json::Value item) {
    fault_ = {std::move(code), std::move(path), std::move(what), item};
    return false;
  }

  void NoteDrift(json::Value data) {
    drift_.NoteUnknown(draft_, data,
                       {"id",
                        "name",
                        "title",
                        "description",
                        "gpu_types",
                        "tags",
                        "axes",
                        "inputs",
                        "outputs",
                        "baseline",
                        "baseline_latency_ms",
                        "latency_unit",
                        "sol_is_dummy",
                        "workloads",
                        "op_type",
                        "hf_id",
                        "reference",
                        "submission_count",
                        "constraints",
                        "custom_inputs_entrypoint"},
                       "kernel.", envelope_.text);
    drift_.NoteIfNoNames(draft_, data.Find("gpu_types"), "kernel.gpu_types", envelope_.text);
    const json::Value dummy = data.Find("sol_is_dummy");
    if (!dummy.IsAbsent() && !dummy.IsBool())
      drift_.Note(draft_, "kernel.sol_is_dummy is neither true nor false", envelope_.BytesOf(dummy));
    NoteUnit(data.Find("latency_unit"));
    for (const std::string_view name : {"title", "description", "hf_id"})
      NoteOtherType(data, name, &json::Value::IsString, "no string");
    for (const std::string_view name : {"baseline_latency_ms", "submission_count"})
      NoteOtherType(data, name, &json::Value::IsNumber, "no number");
    // Whatever it is, it may hold source code: no sample.
    if (const json::Value baseline = data.Find("baseline"); !baseline.IsAbsent() && !baseline.IsString())
      drift_.Note(draft_, "kernel.baseline is no string", {});
  }

  // Every latency is read as milliseconds, which is what its name says.
  void NoteUnit(json::Value unit) {
    if (unit.IsAbsent() || unit.AsString() == "ms") return;
    if (unit.IsString()) return drift_.NoteValue(draft_, "kernel.latency_unit", unit.AsString());
    drift_.Note(draft_, "kernel.latency_unit is no string", envelope_.BytesOf(unit));
  }

  void NoteOtherType(json::Value data, std::string_view name, bool (json::Value::*is_good)() const,
                     std::string_view what) {
    const json::Value value = data.Find(name);
    if (value.IsAbsent() || (value.*is_good)()) return;
    drift_.Note(draft_, "kernel." + std::string(name) + " is " + std::string(what), envelope_.BytesOf(value));
  }

  bool ReadName(json::Value name) {
    if (!name.IsString() || !IsKernelName(name.AsString())) {
      return Refuse("KERNEL_NAME", "name", "the name is missing, empty, too long or holds a NUL", name);
    }
    kernel_.name = name.AsString();
    return true;
  }

  bool ReadFamily(json::Value data) {
    const json::Value op_type = data.Find("op_type");
    const json::Value tags = data.Find("tags");
    if (!op_type.IsAbsent() && !op_type.IsString()) {
      return Refuse("KERNEL_FIELD", "op_type", "op_type is no string", op_type);
    }
    if (!tags.IsAbsent() && !tags.IsArray()) return Refuse("KERNEL_FIELD", "tags", "tags is no list", tags);
    kernel_.spec.family = FamilyOf(op_type.AsString(), StringsOf(tags));
    return true;
  }

  bool ReadAxes(json::Value axes) {
    if (!axes.IsObject()) return Refuse("KERNEL_FIELD", "axes", "axes is missing or no object", axes);
    for (const json::Member member : axes.members()) {
      const std::string path = "axes." + std::string(member.name);
      if (!member.value.IsObject()) {
        return Refuse("KERNEL_AXIS", path, "the axis is no object", member.value);
      }
      std::string name = Lower(member.name);
      if (kernel_.spec.axes.count(name) > 0) {
        return Refuse("KERNEL_AXIS", path, "two axes are called " + name + " when case is dropped",
                      member.value);
      }
      drift_.NoteUnknown(draft_, member.value, {"type", "value", "expression", "description"},
                         "kernel.axes.*.", envelope_.text);
      if (!ReadAxis(std::move(name), path, member.value)) return false;
    }
    return true;
  }

  bool ReadAxis(std::string name, const std::string& path, json::Value value) {
    const std::string_view type = value.Find("type").AsString();
    Axis axis;
    if (type == "const") {
      axis.role = "constant";
      axis.value = IntegerOf(value.Find("value"));
      if (!axis.value) return Refuse("KERNEL_AXIS", path, "a constant axis without an integer value", value);
      kernel_.constants.emplace(name, *axis.value);
    } else if (type == "var") {
      axis.role = "variable";
    } else if (type == "expr") {
      axis.role = "derived";
      const json::Value expression = value.Find("expression");
      if (!expression.IsString())
        return Refuse("KERNEL_AXIS", path, "a derived axis without expression", value);
      axis.expression = Lower(expression.AsString());
      kernel_.derived.emplace(name, *axis.expression);
    } else {
      if (value.Find("type").IsString()) drift_.NoteValue(draft_, "kernel.axes.*.type", type);
      return Refuse("KERNEL_AXIS", path, "the type of the axis is none of var, const, expr", value);
    }
    kernel_.spec.axes.emplace(std::move(name), std::move(axis));
    return true;
  }

  bool ReadArguments(json::Value data, std::string_view list, std::vector<Argument>& arguments) {
    const json::Value object = data.Find(list);
    if (!object.IsObject()) {
      return Refuse("KERNEL_FIELD", std::string(list), std::string(list) + " is missing or no object",
                    object);
    }
    std::set<std::string, std::less<>> names;
    for (const json::Member member : object.members()) {
      const std::string path = std::string(list) + "." + std::string(member.name);
      Argument argument;
      argument.name = TokenFrom(member.name);
      if (!names.insert(argument.name).second) {
        return Refuse("KERNEL_ARGUMENT", path, "two arguments become " + argument.name, member.value);
      }
      if (!ReadArgument(member, path, argument)) return false;
      drift_.NoteUnknown(draft_, member.value, {"shape", "dtype", "description"},
                         "kernel." + std::string(list) + ".*.", envelope_.text);
      if (list == "inputs") KeepInput(member.name, argument);
      arguments.push_back(std::move(argument));
    }
    return true;
  }

  bool ReadArgument(const json::Member& member, const std::string& path, Argument& argument) {
    const json::Value dtype = member.value.Find("dtype");
    if (!dtype.IsString() || dtype.AsString().empty()) {
      return Refuse("KERNEL_ARGUMENT", path, "the argument has no dtype", member.value);
    }
    std::string type = DtypeOf(dtype.AsString());
    const json::Value shape = member.value.Find("shape");
    if (shape.IsAbsent() || (shape.IsArray() && shape.size() == 0)) {
      argument.scalar_dtype = std::move(type);
      return true;
    }
    if (!shape.IsArray()) return Refuse("KERNEL_ARGUMENT", path, "the shape is no list", member.value);
    argument.tensor.emplace();
    argument.tensor->dtype = std::move(type);
    for (const json::Value entry : shape.elements()) {
      auto dimension = DimensionOf(entry);
      if (!dimension)
        return Refuse("KERNEL_ARGUMENT", path, "a shape entry is no axis and no size", member.value);
      argument.tensor->shape.push_back(*std::move(dimension));
    }
    return true;
  }

  static std::optional<Dimension> DimensionOf(json::Value entry) {
    if (!entry.IsString()) {
      if (const auto size = IntegerOf(entry)) return Dimension(*size);
      return std::nullopt;
    }
    const std::string_view text = entry.AsString();
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    if (!digits) return Dimension(Lower(text));
    std::int64_t size = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), size).ec != std::errc()) return std::nullopt;
    return Dimension(size);
  }

  void KeepInput(std::string_view upstream_name, const Argument& argument) {
    KernelInput input;
    input.upstream_name = upstream_name;
    input.name = argument.name;
    input.dtype = argument.tensor ? argument.tensor->dtype : *argument.scalar_dtype;
    if (argument.tensor) input.shape = argument.tensor->shape;
    kernel_.input_dtypes.push_back(input.dtype);
    kernel_.inputs.push_back(std::move(input));
  }

  bool ReadReference(json::Value reference) {
    if (!reference.IsAbsent() && !reference.IsString()) {
      return Refuse("KERNEL_FIELD", "reference", "reference is no string", json::Value());
    }
    if (!reference.AsString().empty()) kernel_.spec.reference = Reference{"python", std::nullopt};
    return true;
  }

  // "$.spec.inputs[0].name" is upstream's "inputs": those are the bytes to keep.
  void RefuseByRule(json::Value data, const Error& error) {
    for (const std::string_view member : {"axes", "inputs", "outputs"}) {
      if (!error.where.starts_with("$.spec." + std::string(member))) continue;
      Refuse("KERNEL_RULE", std::string(member), error.Message(), data.Find(member));
      return;
    }
    Refuse("KERNEL_RULE", "name", error.Message(), data.Find("name"));
  }

  const Envelope& envelope_;
  DriftLog& drift_;
  Draft& draft_;
  Fault& fault_;
  Kernel kernel_;
};

}  // namespace

std::optional<Kernel> ReadKernel(json::Value data, const Envelope& envelope, DriftLog& drift, Draft& draft,
                                 Fault& fault) {
  return KernelReader(envelope, drift, draft, fault).Read(data);
}

bool IsKernelName(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax && CodePoints(name) <= kNameCodePointsMax &&
         name.find('\0') == std::string_view::npos;
}

std::string KernelSlug(std::string_view name) {
  std::string slug = Kebab(name);
  return slug.empty() ? "kernel" : slug;
}

EntryDraft OperationEntry(const Kernel& kernel, json::Value data, Locator locator) {
  Metadata metadata;
  metadata.name = KernelSlug(kernel.name);
  metadata.title = CutTo(kernel.name, kTitleMax);
  const json::Value description = data.Find("description");
  if (!description.AsString().empty()) metadata.description = CutTo(description.AsString(), kDescriptionMax);
  metadata.source_refs = {SourceRef{std::string(kBaseUrl) + "/kernels"}};
  return EntryOf(kernel.name, kernel.spec, metadata, locator);
}

}  // namespace etl::sol_execbench
