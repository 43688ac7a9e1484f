#include "serve/format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "model/canonical_json.h"

namespace etl::serve {
namespace {

// Words of kernel names that are abbreviations, as they are usually written.
constexpr std::array<std::pair<std::string_view, std::string_view>, 31> kAbbreviations{{
    {"ada", "Ada"},       {"bf16", "BF16"},       {"cuda", "CUDA"}, {"fft", "FFT"},     {"fp16", "FP16"},
    {"fp32", "FP32"},     {"fp4", "FP4"},         {"fp8", "FP8"},   {"geglu", "GeGLU"}, {"gelu", "GELU"},
    {"gemm", "GEMM"},     {"gqa", "GQA"},         {"gru", "GRU"},   {"iou", "IoU"},     {"kv", "KV"},
    {"lora", "LoRA"},     {"mha", "MHA"},         {"mla", "MLA"},   {"mlp", "MLP"},     {"moe", "MoE"},
    {"mqa", "MQA"},       {"nvfp4", "NVFP4"},     {"qk", "QK"},     {"qkv", "QKV"},     {"relu", "ReLU"},
    {"rms", "RMS"},       {"rmsnorm", "RMSNorm"}, {"rope", "RoPE"}, {"silu", "SiLU"},   {"ssm", "SSM"},
    {"swiglu", "SwiGLU"},
}};

constexpr std::array<std::string_view, 4> kUnits{"ns", "µs", "ms", "s"};

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// Decimals that show three significant digits of a value in [1, 1000).
int DecimalsFor(double value) {
  return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

std::vector<std::string_view> Words(std::string_view name) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  while (begin <= name.size()) {
    const std::size_t end = std::min(name.find('_', begin), name.size());
    if (end > begin) words.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::string_view Spelled(std::string_view word) {
  const auto* found = std::find_if(kAbbreviations.begin(), kAbbreviations.end(),
                                   [word](const auto& pair) { return pair.first == word; });
  return found == kAbbreviations.end() ? word : found->second;
}

}  // namespace

std::string FormatLatency(double nanoseconds) {
  if (!std::isfinite(nanoseconds)) return "–";
  if (std::abs(nanoseconds) < 999.5) return FormatNumber(nanoseconds) + " ns";
  double value = nanoseconds;
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && std::abs(value) >= 999.5) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, DecimalsFor(std::abs(value)), kUnits[unit]);
}

std::string FormatValue(double value, std::string_view unit) {
  if (unit == "ns") return FormatLatency(value);
  std::string out = FormatNumber(value);
  if (!unit.empty()) out.append(" ").append(unit);
  return out;
}

std::string FormatRatio(double ratio) {
  return fmt::format("{:.2f}×", ratio);
}
std::string FormatScore(double score) {
  return fmt::format("{:.4f}", score);
}

std::string FormatNumber(double value) {
  if (!std::isfinite(value)) return "–";
  std::string out;
  json::AppendNumber(out, value);
  return out;
}

std::string FormatGap(double value, double best) {
  if (value == best || best <= 0) return "–";
  const double ratio = value / best;
  return ratio < 2 ? fmt::format("+{:.1f} %", (ratio - 1) * 100) : FormatRatio(ratio);
}

std::string FormatCount(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string FormatBytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kByteUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (unit + 1 < kByteUnits.size() && value >= 1024) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kByteUnits[unit]);
}

std::string FormatDuration(double seconds) {
  const double bounded = std::isfinite(seconds) ? std::clamp(seconds, 0.0, 359'999.0) : 359'999.0;
  const auto whole = static_cast<std::uint64_t>(std::llround(bounded));
  const std::uint64_t hours = whole / 3600, minutes = whole / 60 % 60, rest = whole % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, rest);
  return fmt::format("{}:{:02}", minutes, rest);
}

std::string FormatDay(Instant at) {
  return at.Text().substr(0, 10);
}

std::string ShortId(const Digest& digest, std::size_t digits) {
  return digest.Hex().substr(0, digits);
}

std::string ShortDigest(const Digest& digest, std::size_t digits) {
  return "sha256:" + digest.Hex().substr(0, digits) + "…";
}

std::string TitleOf(std::string_view kernel_name) {
  std::vector<std::string_view> words = Words(kernel_name);
  const bool numbered = words.size() > 1 && std::all_of(words[0].begin(), words[0].end(), IsDigit);
  if (numbered) words.erase(words.begin());
  std::string title;
  for (const std::string_view word : words) {
    if (!title.empty()) title += ' ';
    title += Spelled(word);
  }
  if (title.empty()) return std::string(kernel_name);
  if (title[0] >= 'a' && title[0] <= 'z') title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return title;
}

std::string SourceTitle(std::string_view slug) {
  return slug == "sol-execbench" ? "NVIDIA SOL-ExecBench" : std::string(slug);
}

std::string UnitOf(std::string_view metric_key) {
  const std::size_t colon = metric_key.rfind(':');
  return colon == std::string_view::npos ? std::string() : std::string(metric_key.substr(colon + 1));
}

}  // namespace etl::serve
