#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/sol_execbench/drift_log.h"
#include "adapters/sol_execbench/envelope.h"
#include "model/digest.h"
#include "model/draft.h"
#include "model/json.h"
#include "model/manifest.h"

namespace etl::sol_execbench {

// Why one item of a good response is refused. `path` is below the item's root ("axes.batch"), `item` the
// value at fault: a kernel is never quarantined as a whole, because its detail carries source code that is
// not ours to keep twice.
struct Fault {
  std::string code, path, what;
  json::Value item;
};

// An input of a kernel as a case needs it: under upstream's name, with the name and types it has in
// manifests.
struct KernelInput {
  std::string upstream_name, name, dtype;
  std::vector<Dimension> shape;  // empty: a scalar
};

// A kernel, mapped.
struct Kernel {
  std::string name;
  OperationSpec spec;
  Digest operation;  // of spec
  std::vector<KernelInput> inputs;
  std::map<std::string, std::int64_t, std::less<>> constants;
  std::map<std::string, std::string, std::less<>> derived;
  std::vector<std::string> input_dtypes;  // a set: sorted, no repeats
};

// Maps a kernel's detail, or a local definition.json. `fault` tells why nothing came back:
//   KERNEL_NAME      no name, an empty one, over 200 characters or 480 bytes, or with a NUL
//   KERNEL_FIELD     a member of the wrong type, or missing
//   KERNEL_AXIS      an axis without a readable type, value or expression, or two that differ only in case
//   KERNEL_ARGUMENT  an input or output that cannot be read, or two whose names become the same
//   KERNEL_RULE      the operation breaks a rule of manifests
std::optional<Kernel> ReadKernel(json::Value data, const Envelope& envelope, DriftLog& drift, Draft& draft,
                                 Fault& fault);

// Whether a name can be a kernel's: what KERNEL_NAME checks.
bool IsKernelName(std::string_view name);

// "kebab(name)", or "kernel" where nothing of the name is left.
std::string KernelSlug(std::string_view name);

// The OperationSpec entry of a kernel.
EntryDraft OperationEntry(const Kernel& kernel, json::Value data, Locator locator);

}  // namespace etl::sol_execbench
