#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/digest.h"
#include "model/error.h"
#include "store/store.h"

namespace etl::serve {

// A name as people see it with the word it has in URLs.
struct Named {
  std::string name, slug;
};

// What is said of an operation, a piece of hardware, a protocol wherever they are mentioned.
struct OperationFacts {
  Digest digest;
  Named named;  // "GQA rotary attention", "028-gqa-rotary-attention"
  std::string family, external_id;
};
struct EnvironmentFacts {
  Digest digest;
  std::string product, slug, vendor, architecture, summary;
};

// A comparison group with the words for its parts.
struct GroupFacts {
  GroupInfo info;
  std::shared_ptr<const OperationFacts> operation;
  std::shared_ptr<const EnvironmentFacts> environment;
  std::string source;  // of its leader; empty where nobody stands
  double best = 0;     // the leader's value
};

// All groups at one sequence, in the order of their comparison keys: what lists and filters start from. There
// are thousands of groups where there are millions of runs.
struct Catalogue {
  std::string epoch;
  std::uint64_t sequence = 0;
  std::vector<GroupFacts> groups;
  std::unordered_map<std::uint32_t, std::size_t> by_number;

  const GroupFacts* Find(std::uint32_t number) const;
};

// Makes catalogues and keeps the newest, and the facts of objects, which never change. Any thread.
class CatalogueCache {
 public:
  // For the state that `view` shows. Errors: those of the store.
  Result<std::shared_ptr<const Catalogue>> For(const Store& view);

 private:
  static constexpr std::size_t kFactsMax = 100'000;  // kept of each kind; all are dropped above

  Result<std::shared_ptr<const OperationFacts>> Operation(const Store& view, const Digest& digest);
  Result<std::shared_ptr<const EnvironmentFacts>> Environment(const Store& view, const Digest& digest);

  std::mutex mutex_;
  std::shared_ptr<const Catalogue> newest_;
  std::unordered_map<Digest, std::shared_ptr<const OperationFacts>> operations_;
  std::unordered_map<Digest, std::shared_ptr<const EnvironmentFacts>> environments_;
};

}  // namespace etl::serve
