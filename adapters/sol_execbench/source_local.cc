// Local mode: folders of definition.json and workload.jsonl.

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "adapters/sol_execbench/context.h"
#include "adapters/sol_execbench/source.h"
#include "model/canonical_json.h"

namespace etl::sol_execbench {
namespace {

constexpr std::size_t kFoldersMax = 100'000;
constexpr std::size_t kCasesMax = 1'000'000;  // lines of one workload.jsonl
constexpr std::string_view kHere = ".";
constexpr std::string_view kBom = "\xEF\xBB\xBF";

// What cases need of a definition, canonical.
std::string CanonicalDefinition(json::Value definition) {
  std::string out;
  for (const std::string_view member : {"axes", "inputs", "name", "outputs"}) {
    out += out.empty() ? '{' : ',';
    json::AppendString(out, member);
    out += ':';
    json::AppendCanonical(out, definition.Find(member));
  }
  out += '}';
  return out;
}

// A row of a trace file wraps the workload: {"definition": ..., "workload": {...}, ...}.
json::Value Unwrapped(json::Value row) {
  const json::Value workload = row.Find("workload");
  return workload.IsObject() && !row.Find("axes").exists() ? workload : row;
}

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

Result<Outcome> Source::AcceptLocalIndex(const Call& call) {
  ETL_TRY(const Envelope envelope, ReadEnvelope(call.request.key, call.body, {}));
  const json::Value list = envelope.document.root().Find("kernels");
  if (!list.IsArray()) {
    return Fail(ShapeError(call.request.key, "$.kernels", "the index holds no list of folders"));
  }
  Outcome outcome;
  rows_ = 0;
  const auto& wanted = call.goal.kernels;
  std::set<std::string> missing(wanted.begin(), wanted.end());
  for (const json::Value element : list.elements()) {
    const std::string_view folder = element.AsString();
    if (folder.empty() || folder.find('/') != std::string_view::npos || outcome.scopes >= kFoldersMax)
      continue;
    // The one folder "." has no name of its own to be chosen by: it is what the caller pointed at.
    if (folder == kHere) {
      missing.clear();
    } else if (missing.erase(std::string(folder)) == 0 && !wanted.empty()) {
      continue;
    }
    ++outcome.scopes;
    const std::string scope = LocalScope(folder);
    Request& definition = outcome.next.emplace_back();
    definition.key = LocalDefinitionKey(folder);
    definition.scope = scope;
    Request& workloads = outcome.next.emplace_back();
    workloads.key = LocalWorkloadsKey(folder);
    workloads.scope = scope;
    workloads.context = scope;
  }
  for (const std::string& name : missing) {
    outcome.shortfalls.push_back({"", "NOT_THERE", "there is no folder " + name + " with a definition.json"});
  }
  return outcome;
}

Result<Outcome> Source::AcceptLocalDefinition(const Call& call) {
  Outcome outcome;
  ETL_TRY(const Envelope envelope, ReadEnvelope(call.request.key, call.body, {}));
  const json::Value definition = envelope.document.root();
  Fault fault;
  const auto kernel = ReadKernel(definition, envelope, drift_, outcome.draft, fault);
  if (!kernel) {
    RefuseKernel(call, envelope, "$", fault, outcome);
    return outcome;
  }
  outcome.draft.entries.push_back(OperationEntry(*kernel, definition, envelope.LocatorOf(definition)));
  outcome.draft.contexts.push_back(
      {LocalScope(call.key.folder), LocalContextText(CanonicalDefinition(definition), kernel->operation)});
  if (!call.draft) outcome.draft = Draft();
  return outcome;
}

Result<Outcome> Source::AcceptLocalWorkloads(const Call& call) {
  Outcome outcome;
  outcome.scope_done = true;
  std::optional<Kernel> kernel;
  Fault fault;
  if (auto context = ReadEnvelope(call.request.key, call.context, {})) {
    const json::Value root = context->document.root();
    const auto operation = ParseDigest(root.Find("operation").AsString());
    Draft unused;
    kernel = ReadKernel(root.Find("definition"), *context, drift_, unused, fault);
    if (!operation) kernel.reset();
    if (kernel) kernel->operation = *operation;
  }
  if (!kernel) {
    outcome.scope_done = false;
    outcome.shortfalls.push_back(
        {call.request.scope, "KERNEL_UNAVAILABLE", "its definition is missing or refused"});
    return outcome;
  }
  CaseCollector cases(*kernel, call.request.key, drift_, outcome.draft);
  std::size_t begin = call.body.starts_with(kBom) ? kBom.size() : 0;
  const std::size_t first = begin;
  for (std::size_t line = 1; begin < call.body.size() && line <= kCasesMax; ++line) {
    const std::size_t end = std::min(call.body.find('\n', begin), call.body.size());
    const std::string_view text = call.body.substr(begin, end - begin);
    const std::string path = "line " + std::to_string(line);
    if (!IsBlank(text)) {
      if (auto document = json::Document::Parse(text)) {
        const json::Value row = Unwrapped(document->root());
        cases.Add(row, text, path, {begin + row.begin_offset(), row.end_offset() - row.begin_offset()});
      } else {
        cases.AddRefused(path, document.error(), text);
      }
    }
    begin = end + 1;
  }
  Digest suite;
  if (!cases.Finish({first, call.body.size() - first}, suite)) {
    outcome.scope_done = false;
    outcome.shortfalls.push_back(
        {call.request.scope, "KERNEL_NO_CASES", "no case of the kernel can be read"});
    outcome.draft.quarantine.push_back(Quarantined("KERNEL_NO_CASES", call.request.key, "all lines",
                                                   "no case of the kernel can be read",
                                                   call.body.substr(first)));
  }
  if (!call.draft) outcome.draft = Draft();
  return outcome;
}

}  // namespace etl::sol_execbench
