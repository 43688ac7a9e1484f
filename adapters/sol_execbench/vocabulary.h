#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/json.h"
#include "model/manifest.h"

namespace etl::sol_execbench {

// The words of SOL-ExecBench and what they are called in manifests. Pure; every function is total.

inline constexpr std::string_view kSlug = "sol-execbench";
inline constexpr std::string_view kBaseUrl = "https://research.nvidia.com/benchmarks/sol-execbench/api";
inline constexpr std::string_view kComparator = "sol_execbench_eval";

// "bfloat16" -> "bf16"; a name without a rule is lower-cased, characters outside [a-z0-9_] become "_".
std::string DtypeOf(std::string_view upstream);

// "B200" -> NVIDIA B200, sm_100. An unknown name keeps its words and has architecture "unknown".
Hardware HardwareOf(std::string_view gpu_type);
bool IsKnownGpu(std::string_view gpu_type);

enum class StatusClass : std::uint8_t {
  kCompleted,   // final, and the only one that can pass
  kFailed,      // any other final one
  kUnfinished,  // known to change still
  kUnknown,     // not in the list: treated as unfinished
};
StatusClass ClassOf(std::string_view status);
// Every status of the first three classes.
const std::vector<std::string_view>& KnownStatuses();

// A collection tag (L1, L2, Quant, FlashInfer-Bench) says where a kernel is listed, not what it does.
bool IsCollectionTag(std::string_view tag);

// kebab(op_type), else kebab of the first tag that is neither a collection nor a model, else "uncategorized".
std::string FamilyOf(std::string_view op_type, const std::vector<std::string_view>& tags);

// The tags of an operation for people: without the collections, kebab'd, "model:" kept as prefix; empty ones
// dropped.
std::vector<std::string> EditorialTags(const std::vector<std::string_view>& tags);

// The protocol and the environment of one evaluation stack version.
BenchmarkProtocol ProtocolOf(std::string_view stack_version);
ExecutionEnvironment EnvironmentOf(std::string_view gpu_type, std::string_view stack_version);
// What every suite says of correctness, and how its cases become one number.
SuiteCorrectness SuiteCorrectnessOf();

// An integer as upstream may write it: 4096 or 4096.0. Nothing for anything else, nor beyond the exact range
// of a double.
std::optional<std::int64_t> IntegerOf(json::Value value);

// The strings of an array; elements that are no strings are left out.
std::vector<std::string_view> StringsOf(json::Value array);

}  // namespace etl::sol_execbench
