#include "store/json_diff.h"

#include <algorithm>

#include "model/canonical_json.h"
#include "model/json.h"

namespace etl {
namespace {

std::string Join(const std::string& prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : prefix + "." + std::string(name);
}

// Recursion is bounded by the depth limit of the parser.
void Compare(json::Value a, json::Value b, const std::string& path, std::size_t max,
             std::vector<std::string>& out) {
  if (out.size() >= max) return;
  if (!a.IsObject() || !b.IsObject()) {
    if (json::Canonical(a, json::Integers::kExact) != json::Canonical(b, json::Integers::kExact))
      out.push_back(path);
    return;
  }
  for (const auto& [name, value] : a.members()) {
    const json::Value other = b.Find(name);
    if (other)
      Compare(value, other, Join(path, name), max, out);
    else if (out.size() < max)
      out.push_back(Join(path, name));
  }
  for (const auto& [name, value] : b.members())
    if (!a.Find(name) && out.size() < max) out.push_back(Join(path, name));
}

}  // namespace

std::vector<std::string> ChangedPaths(std::string_view before, std::string_view after,
                                      const std::string& prefix, std::size_t max) {
  const auto a = json::Document::Parse(before);
  const auto b = json::Document::Parse(after);
  if (!a || !b) return {prefix};
  std::vector<std::string> out;
  Compare(a->root(), b->root(), prefix, max, out);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace etl
