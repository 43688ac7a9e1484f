#include "adapters/sol_execbench/context.h"

#include <utility>

#include "adapters/sol_execbench/vocabulary.h"
#include "model/canonical_json.h"
#include "model/json.h"

namespace etl::sol_execbench {
namespace {

void AppendStrings(std::string& out, const std::vector<std::string>& strings) {
  out += '[';
  for (std::size_t i = 0; i < strings.size(); ++i) {
    if (i > 0) out += ',';
    json::AppendString(out, strings[i]);
  }
  out += ']';
}

void AppendDigest(std::string& out, std::string_view member, const Digest& digest) {
  out.append(",\"").append(member).append("\":\"").append(digest.Text()).append("\"");
}

std::optional<Digest> DigestAt(json::Value root, std::string_view member) {
  auto digest = ParseDigest(root.Find(member).AsString());
  if (!digest) return std::nullopt;
  return *digest;
}

std::vector<std::string> Strings(json::Value array) {
  const auto views = StringsOf(array);
  return {views.begin(), views.end()};
}

}  // namespace

std::string ContextText(const KernelContext& context) {
  std::string out = "{\"correctness\":\"" + context.correctness.Text() + "\",\"dtypes\":";
  AppendStrings(out, context.input_dtypes);
  out += ",\"id\":";
  out += std::to_string(context.kernel_id);  // exact, beyond the range of a double too
  out += ",\"name\":";
  json::AppendString(out, context.name);
  AppendDigest(out, "operation", context.operation);
  if (context.sol_ms_min) {
    out += ",\"solMsMin\":";
    json::AppendNumber(out, *context.sol_ms_min);
  }
  AppendDigest(out, "suite", context.suite);
  out += ",\"tags\":";
  AppendStrings(out, context.tags);
  out += '}';
  return out;
}

std::optional<KernelContext> ParseContext(std::string_view text) {
  const auto document = json::Document::Parse(text);
  if (!document) return std::nullopt;
  const json::Value root = document->root();
  const auto id = root.Find("id").AsInt64();
  const auto operation = DigestAt(root, "operation");
  const auto suite = DigestAt(root, "suite");
  const auto correctness = DigestAt(root, "correctness");
  const json::Value name = root.Find("name");
  if (!id || !operation || !suite || !correctness || !name.IsString()) return std::nullopt;
  KernelContext context;
  context.kernel_id = *id;
  context.name = name.AsString();
  context.operation = *operation;
  context.suite = *suite;
  context.correctness = *correctness;
  context.input_dtypes = Strings(root.Find("dtypes"));
  context.sol_ms_min = root.Find("solMsMin").AsDouble();
  context.tags = Strings(root.Find("tags"));
  return context;
}

std::string LocalContextText(std::string_view canonical_definition, const Digest& operation) {
  std::string out = "{\"definition\":";
  out.append(canonical_definition).append(",\"operation\":\"").append(operation.Text()).append("\"}");
  return out;
}

}  // namespace etl::sol_execbench
