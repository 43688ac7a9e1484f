#include "etlctl/complete.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "adapters/adapter.h"

namespace etl::ctl {
namespace {

constexpr std::string_view kDigestStart = "sha256:";
constexpr std::size_t kObjectDigitsMin = 4;

// The name that the newest states give the operation of a group.
std::string KernelOf(const Store& store, const Digest& operation) {
  const auto object = store.GetObject(operation);
  if (!object || object->entries.empty()) return {};
  return object->entries.front().external_id;
}

std::vector<Candidate> Kernels(const Store& store, std::string_view prefix) {
  std::map<Digest, std::string> known;  // many groups have one operation
  std::set<std::string> names;
  (void)store.ForEachGroup([&](const GroupInfo& group) {
    const auto [place, fresh] = known.try_emplace(group.operation);
    if (fresh) place->second = KernelOf(store, group.operation);
    if (!place->second.empty() && place->second.starts_with(prefix)) names.insert(place->second);
    return names.size() < kCandidatesMax;
  });
  std::vector<Candidate> list;
  for (const std::string& name : names) list.push_back({name, {}});
  return list;
}

std::vector<Candidate> Groups(const Store& store, std::string_view prefix) {
  std::vector<Candidate> list;
  (void)store.ForEachGroup([&](const GroupInfo& group) {
    std::string digits = group.key.Text().substr(kDigestStart.size());
    if (digits.starts_with(prefix)) list.push_back({std::move(digits), KernelOf(store, group.operation)});
    return list.size() < kCandidatesMax;
  });
  return list;
}

std::vector<Candidate> Objects(const Store& store, std::string_view prefix) {
  std::vector<Candidate> list;
  if (prefix.size() < kObjectDigitsMin) return list;
  const auto found = store.FindObjects(prefix, kCandidatesMax);
  if (!found) return list;
  for (const Digest& digest : *found) {
    const auto object = store.GetObject(digest);
    list.push_back({digest.Text().substr(kDigestStart.size()),
                    object ? std::string(KindName(object->kind)) : std::string()});
  }
  return list;
}

}  // namespace

std::vector<Candidate> NamesLike(const Session& session, Names names, std::string_view prefix) {
  std::vector<Candidate> list;
  if (names == Names::kSources) {
    for (std::string& slug : AdapterSlugs()) {
      if (slug.starts_with(prefix)) list.push_back({std::move(slug), {}});
    }
    return list;
  }
  const auto store = session.Open(Store::Mode::kRead);
  if (!store) return list;
  if (names == Names::kKernels) list = Kernels(**store, prefix);
  if (names == Names::kGroups) list = Groups(**store, prefix);
  if (names == Names::kObjects) list = Objects(**store, prefix);
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.text < b.text; });
  return list;
}

}  // namespace etl::ctl
