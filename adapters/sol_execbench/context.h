#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/digest.h"

namespace etl::sol_execbench {

// What the rows of a kernel are derived with: all that its detail says that a row's manifests or reasons
// depend on.
struct KernelContext {
  std::int64_t kernel_id = 0;
  std::string name;
  Digest operation, suite, correctness;
  std::vector<std::string> input_dtypes;  // a set
  // The smallest sol_ms of the cases; absent unless every case has a positive one and the bound is no dummy.
  std::optional<double> sol_ms_min;
  std::vector<std::string> tags;  // editorial
};

// Canonical JSON, the value of a ContextDraft, and back. Nothing for text that ContextText did not write.
std::string ContextText(const KernelContext& context);
std::optional<KernelContext> ParseContext(std::string_view text);

// The same for local mode: the members of a definition that its workload rows need, with the digest of its
// operation.
std::string LocalContextText(std::string_view canonical_definition, const Digest& operation);

}  // namespace etl::sol_execbench
