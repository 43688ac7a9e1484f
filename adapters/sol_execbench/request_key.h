#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace etl::sol_execbench {

// The request keys of this source: which there are, how they are written, and how one is read back from a
// stored snapshot.

enum class Endpoint : std::uint8_t {
  kKernels,          // "kernels"
  kKernel,           // "kernels/5"
  kSubmissions,      // "submissions?kernel_id=5&limit=50&offset=0", before "&limit" perhaps a slice:
                     // "&gpu_type=B200&evaluation_stack_version=v1.1&status=QUEUED", each part or not
  kLeaderboard,      // "leaderboard/kernel/5/B200", with "?evaluation_stack_version=v1.1" or without
  kLocalIndex,       // "local"
  kLocalDefinition,  // "local/<folder>/definition.json"
  kLocalWorkloads,   // "local/<folder>/workload.jsonl"
};

// Which of a kernel's rows a list holds; an empty part does not filter.
struct Slice {
  std::string gpu_type, stack_version, status;
  bool whole() const { return gpu_type.empty() && stack_version.empty() && status.empty(); }
  friend auto operator<=>(const Slice&, const Slice&) = default;
};

struct RequestKey {
  Endpoint endpoint = Endpoint::kKernels;
  std::int64_t kernel_id = 0;           // kKernel, kSubmissions, kLeaderboard
  std::int64_t limit = 0, offset = 0;   // kSubmissions
  Slice slice;                          // kSubmissions, decoded
  std::string gpu_type, stack_version;  // kLeaderboard, decoded; the version may be empty
  std::string folder;                   // kLocal...: one path component, "." for the folder itself
};

// Nothing for a key that is not one of the forms above, exactly as the functions below write them.
std::optional<RequestKey> ParseRequestKey(std::string_view key);

std::string KernelKey(std::int64_t kernel_id);
// Characters outside [A-Za-z0-9_.-] are percent-encoded, here and in the next.
std::string SubmissionsKey(std::int64_t kernel_id, std::int64_t limit, std::int64_t offset,
                           const Slice& slice = {});
// The same without the page, as people read it: "gpu_type=B200&status=QUEUED"; "all rows".
std::string SliceText(const Slice& slice);
std::string LeaderboardKey(std::int64_t kernel_id, std::string_view gpu_type,
                           std::string_view stack_version = {});
std::string LocalDefinitionKey(std::string_view folder);
std::string LocalWorkloadsKey(std::string_view folder);

// What the rows of a kernel are read with, and what its requests belong to: "kernel/5", "local/<folder>".
std::string KernelScope(std::int64_t kernel_id);
std::string LocalScope(std::string_view folder);

}  // namespace etl::sol_execbench
