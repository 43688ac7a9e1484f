#include "adapters/adapter.h"

#include "adapters/sol_execbench/source.h"
#include "adapters/sol_execbench/vocabulary.h"

namespace etl {

std::unique_ptr<Adapter> MakeAdapter(std::string_view slug) {
  if (slug == sol_execbench::kSlug) return std::make_unique<sol_execbench::Source>();
  return nullptr;
}

std::vector<std::string> AdapterSlugs() {
  return {std::string(sol_execbench::kSlug)};
}

}  // namespace etl
