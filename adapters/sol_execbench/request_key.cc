#include "adapters/sol_execbench/request_key.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace etl::sol_execbench {
namespace {

constexpr std::string_view kKernelPrefix = "kernels/";
constexpr std::string_view kSubmissionsPrefix = "submissions?kernel_id=";
constexpr std::string_view kLeaderboardPrefix = "leaderboard/kernel/";
constexpr std::string_view kVersionPrefix = "?evaluation_stack_version=";
constexpr std::string_view kLocalPrefix = "local/";
constexpr std::string_view kGpuFilter = "&gpu_type=";
constexpr std::string_view kVersionFilter = "&evaluation_stack_version=";
constexpr std::string_view kStatusFilter = "&status=";
constexpr std::string_view kDefinitionFile = "/definition.json";
constexpr std::string_view kWorkloadsFile = "/workload.jsonl";

bool Take(std::string_view& rest, std::string_view prefix) {
  if (!rest.starts_with(prefix)) return false;
  rest.remove_prefix(prefix.size());
  return true;
}

// A plain decimal without sign or leading zeros, so that every key has one spelling.
bool TakeNumber(std::string_view& rest, std::int64_t& number) {
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  const auto digits = static_cast<std::size_t>(end - rest.data());
  if (error != std::errc() || digits == 0 || number < 0 || (digits > 1 && rest[0] == '0') || rest[0] == '-') {
    return false;
  }
  rest.remove_prefix(digits);
  return true;
}

bool IsPlain(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-';
}

std::string Encode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (IsPlain(c)) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kHex[byte >> 4U];
    encoded += kHex[byte & 15U];
  }
  return encoded;
}

std::optional<std::string> Decode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned byte = 0;
    if (i + 2 >= text.size()) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
    if (error != std::errc() || end != text.data() + i + 3) return std::nullopt;
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

std::optional<RequestKey> ParseSubmissions(std::string_view rest) {
  RequestKey key;
  key.endpoint = Endpoint::kSubmissions;
  if (!TakeNumber(rest, key.kernel_id)) return std::nullopt;
  const std::pair<std::string_view, std::string*> filters[] = {{kGpuFilter, &key.slice.gpu_type},
                                                               {kVersionFilter, &key.slice.stack_version},
                                                               {kStatusFilter, &key.slice.status}};
  for (const auto& [name, value] : filters) {
    if (!Take(rest, name)) continue;
    const std::size_t end = std::min(rest.find('&'), rest.size());
    auto decoded = Decode(rest.substr(0, end));
    if (!decoded || decoded->empty()) return std::nullopt;
    *value = *std::move(decoded);
    rest.remove_prefix(end);
  }
  const bool read = Take(rest, "&limit=") && TakeNumber(rest, key.limit) && Take(rest, "&offset=") &&
                    TakeNumber(rest, key.offset) && rest.empty();
  if (!read) return std::nullopt;
  return key;
}

std::optional<RequestKey> ParseLeaderboard(std::string_view rest) {
  RequestKey key;
  key.endpoint = Endpoint::kLeaderboard;
  if (!TakeNumber(rest, key.kernel_id) || !Take(rest, "/")) return std::nullopt;
  std::string_view version;
  if (const std::size_t question = rest.find('?'); question != std::string_view::npos) {
    version = rest.substr(question);
    rest = rest.substr(0, question);
    if (!Take(version, kVersionPrefix)) return std::nullopt;
  }
  auto gpu_type = Decode(rest);
  auto stack_version = Decode(version);
  if (!gpu_type || gpu_type->empty() || !stack_version) return std::nullopt;
  key.gpu_type = *std::move(gpu_type);
  key.stack_version = *std::move(stack_version);
  return key;
}

std::optional<RequestKey> ParseLocal(std::string_view rest) {
  RequestKey key;
  if (rest.ends_with(kDefinitionFile)) {
    key.endpoint = Endpoint::kLocalDefinition;
    rest.remove_suffix(kDefinitionFile.size());
  } else if (rest.ends_with(kWorkloadsFile)) {
    key.endpoint = Endpoint::kLocalWorkloads;
    rest.remove_suffix(kWorkloadsFile.size());
  } else {
    return std::nullopt;
  }
  if (rest.empty() || rest.find('/') != std::string_view::npos) return std::nullopt;
  key.folder = rest;
  return key;
}

}  // namespace

std::optional<RequestKey> ParseRequestKey(std::string_view key) {
  if (key == "kernels") return RequestKey{};
  if (key == "local") {
    RequestKey index;
    index.endpoint = Endpoint::kLocalIndex;
    return index;
  }
  if (Take(key, kSubmissionsPrefix)) return ParseSubmissions(key);
  if (Take(key, kLeaderboardPrefix)) return ParseLeaderboard(key);
  if (Take(key, kLocalPrefix)) return ParseLocal(key);
  RequestKey kernel;
  kernel.endpoint = Endpoint::kKernel;
  if (Take(key, kKernelPrefix) && TakeNumber(key, kernel.kernel_id) && key.empty()) return kernel;
  return std::nullopt;
}

std::string KernelKey(std::int64_t kernel_id) {
  return std::string(kKernelPrefix) + std::to_string(kernel_id);
}

namespace {

std::string Filters(const Slice& slice) {
  std::string text;
  if (!slice.gpu_type.empty()) text.append(kGpuFilter).append(Encode(slice.gpu_type));
  if (!slice.stack_version.empty()) text.append(kVersionFilter).append(Encode(slice.stack_version));
  if (!slice.status.empty()) text.append(kStatusFilter).append(Encode(slice.status));
  return text;
}

}  // namespace

std::string SliceText(const Slice& slice) {
  return slice.whole() ? "all rows" : Filters(slice).substr(1);
}

std::string SubmissionsKey(std::int64_t kernel_id, std::int64_t limit, std::int64_t offset,
                           const Slice& slice) {
  std::string key(kSubmissionsPrefix);
  key += std::to_string(kernel_id);
  key += Filters(slice);
  key += "&limit=";
  key += std::to_string(limit);
  key += "&offset=";
  key += std::to_string(offset);
  return key;
}

std::string LeaderboardKey(std::int64_t kernel_id, std::string_view gpu_type,
                           std::string_view stack_version) {
  std::string key = std::string(kLeaderboardPrefix) + std::to_string(kernel_id) + "/" + Encode(gpu_type);
  if (!stack_version.empty()) key.append(kVersionPrefix).append(Encode(stack_version));
  return key;
}

std::string LocalDefinitionKey(std::string_view folder) {
  return std::string(kLocalPrefix) + std::string(folder) + std::string(kDefinitionFile);
}

std::string LocalWorkloadsKey(std::string_view folder) {
  return std::string(kLocalPrefix) + std::string(folder) + std::string(kWorkloadsFile);
}

std::string KernelScope(std::int64_t kernel_id) {
  return "kernel/" + std::to_string(kernel_id);
}
std::string LocalScope(std::string_view folder) {
  return std::string(kLocalPrefix) + std::string(folder);
}

}  // namespace etl::sol_execbench
