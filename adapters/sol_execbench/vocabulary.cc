#include "adapters/sol_execbench/vocabulary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "model/text.h"

namespace etl::sol_execbench {
namespace {

struct Renamed {
  std::string_view upstream, ours;
};
constexpr std::array kDtypes = {
    Renamed{"bfloat16", "bf16"},
    Renamed{"float16", "fp16"},
    Renamed{"half", "fp16"},
    Renamed{"float32", "fp32"},
    Renamed{"float", "fp32"},
    Renamed{"float64", "fp64"},
    Renamed{"double", "fp64"},
    Renamed{"float8_e4m3fn", "fp8_e4m3"},
    Renamed{"float8_e4m3", "fp8_e4m3"},
    Renamed{"float8_e5m2", "fp8_e5m2"},
    Renamed{"float4_e2m1", "fp4_e2m1"},
};

struct Gpu {
  std::string_view upstream, product, architecture;
};
constexpr std::array kGpus = {
    Gpu{"B200", "NVIDIA B200", "sm_100"},   Gpu{"NVIDIA_B200", "NVIDIA B200", "sm_100"},
    Gpu{"GB200", "NVIDIA GB200", "sm_100"}, Gpu{"H200", "NVIDIA H200", "sm_90"},
    Gpu{"H100", "NVIDIA H100", "sm_90"},    Gpu{"NVIDIA_H100", "NVIDIA H100", "sm_90"},
    Gpu{"A100", "NVIDIA A100", "sm_80"},
};

constexpr std::string_view kModelTag = "model:";
constexpr double kExactIntegerMax = 9007199254740991.0;

}  // namespace

std::string DtypeOf(std::string_view upstream) {
  std::string name = Lower(upstream);
  for (const Renamed& dtype : kDtypes) {
    if (dtype.upstream == name) return std::string(dtype.ours);
  }
  std::string token;
  token.reserve(name.size());
  for (const char c : name) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    const bool continuation =
        (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;  // one "_" per character, not per byte
    if (!continuation) token += kept ? c : '_';
  }
  return token;
}

Hardware HardwareOf(std::string_view gpu_type) {
  Hardware hardware;
  hardware.vendor = "nvidia";
  for (const Gpu& gpu : kGpus) {
    if (gpu.upstream != gpu_type) continue;
    hardware.product = gpu.product;
    hardware.architecture = gpu.architecture;
    return hardware;
  }
  hardware.product = gpu_type;
  std::replace(hardware.product.begin(), hardware.product.end(), '_', ' ');
  hardware.architecture = "unknown";
  return hardware;
}

bool IsKnownGpu(std::string_view gpu_type) {
  return std::any_of(kGpus.begin(), kGpus.end(), [&](const Gpu& gpu) { return gpu.upstream == gpu_type; });
}

StatusClass ClassOf(std::string_view status) {
  if (status == "COMPLETED") return StatusClass::kCompleted;
  for (const std::string_view failed : {"FAILED", "ERROR", "REJECTED", "CANCELLED", "TIMEOUT"}) {
    if (status == failed) return StatusClass::kFailed;
  }
  for (const std::string_view unfinished : {"QUEUED", "RUNNING", "PENDING_RESULT"}) {
    if (status == unfinished) return StatusClass::kUnfinished;
  }
  return StatusClass::kUnknown;
}

const std::vector<std::string_view>& KnownStatuses() {
  static const std::vector<std::string_view> statuses{"QUEUED",    "RUNNING",   "PENDING_RESULT",
                                                      "COMPLETED", "FAILED",    "ERROR",
                                                      "REJECTED",  "CANCELLED", "TIMEOUT"};
  return statuses;
}

bool IsCollectionTag(std::string_view tag) {
  return tag == "L1" || tag == "L2" || tag == "Quant" || tag == "FlashInfer-Bench";
}

std::string FamilyOf(std::string_view op_type, const std::vector<std::string_view>& tags) {
  if (std::string family = Kebab(op_type); !family.empty()) return family;
  for (const std::string_view tag : tags) {
    if (IsCollectionTag(tag) || tag.starts_with(kModelTag)) continue;
    std::string family = Kebab(tag);
    if (family.empty()) break;
    return family;
  }
  return "uncategorized";
}

std::vector<std::string> EditorialTags(const std::vector<std::string_view>& tags) {
  std::vector<std::string> ours;
  for (const std::string_view tag : tags) {
    if (IsCollectionTag(tag)) continue;
    const bool model = tag.starts_with(kModelTag);
    std::string slug = Kebab(model ? tag.substr(kModelTag.size()) : tag);
    if (slug.empty()) continue;
    ours.push_back(model ? std::string(kModelTag) + slug : std::move(slug));
  }
  return ours;
}

BenchmarkProtocol ProtocolOf(std::string_view stack_version) {
  BenchmarkProtocol protocol;
  protocol.harness.name = "SOL-ExecBench evaluation stack";
  protocol.harness.version = std::string(stack_version);
  protocol.measurement.timer = "harness_reported";
  protocol.measurement.primary_statistic = "mean";
  protocol.correctness = ProtocolCorrectness{"definition reference implementation", std::string(kComparator)};
  protocol.comparability = Comparability{"sol_execbench_leaderboard",
                                         "Suite-mean latency and SOL-Score as published by the SOL-ExecBench "
                                         "leaderboard. Comparable only within one "
                                         "definition, GPU type, and evaluation stack version."};
  return protocol;
}

ExecutionEnvironment EnvironmentOf(std::string_view gpu_type, std::string_view stack_version) {
  ExecutionEnvironment environment;
  environment.hardware = HardwareOf(gpu_type);
  environment.software.libraries.emplace();
  environment.software.libraries->emplace("evaluation_stack", stack_version);
  return environment;
}

SuiteCorrectness SuiteCorrectnessOf() {
  return {std::string(kComparator), "Correctness must pass on every case in the SOL evaluation stack."};
}

std::optional<std::int64_t> IntegerOf(json::Value value) {
  if (const auto integer = value.AsInt64()) {
    const auto magnitude = static_cast<double>(*integer);
    if (std::fabs(magnitude) > kExactIntegerMax) return std::nullopt;
    return integer;
  }
  const auto number = value.AsDouble();
  if (!number || std::fabs(*number) > kExactIntegerMax || std::floor(*number) != *number) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::vector<std::string_view> StringsOf(json::Value array) {
  std::vector<std::string_view> strings;
  for (const json::Value element : array.elements()) {
    if (element.IsString()) strings.push_back(element.AsString());
  }
  return strings;
}

}  // namespace etl::sol_execbench
