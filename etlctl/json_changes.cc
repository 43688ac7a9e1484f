#include "etlctl/json_changes.h"

#include <map>

#include "model/canonical_json.h"
#include "model/json.h"

namespace etl::ctl {
namespace {

std::string TextOf(json::Value value) {
  return value ? json::Canonical(value, json::Integers::kExact) : std::string();
}

class Comparison {
 public:
  explicit Comparison(std::size_t max) : max_(max) {}

  void Compare(const std::string& path, json::Value before, json::Value after) {
    if (changes_.size() >= max_) return;
    if (before.IsObject() && after.IsObject()) {
      CompareMembers(path, before, after);
      return;
    }
    std::string old_text = TextOf(before), new_text = TextOf(after);
    if (old_text != new_text) changes_.push_back({path, std::move(old_text), std::move(new_text)});
  }

  std::vector<ValueChange> Done() { return std::move(changes_); }

 private:
  void CompareMembers(const std::string& path, json::Value before, json::Value after) {
    std::map<std::string_view, std::pair<json::Value, json::Value>> members;
    for (const json::Member member : before.members()) members[member.name].first = member.value;
    for (const json::Member member : after.members()) members[member.name].second = member.value;
    for (const auto& [name, values] : members) {
      std::string inner = path;
      if (!inner.empty()) inner += '.';
      Compare(inner.append(name), values.first, values.second);
    }
  }

  std::size_t max_;
  std::vector<ValueChange> changes_;
};

}  // namespace

std::vector<ValueChange> ChangesBetween(std::string_view before, std::string_view after, std::size_t max) {
  const auto old_document = json::Document::Parse(before), new_document = json::Document::Parse(after);
  Comparison comparison(max);
  comparison.Compare("", old_document ? old_document->root() : json::Value(),
                     new_document ? new_document->root() : json::Value());
  return comparison.Done();
}

}  // namespace etl::ctl
