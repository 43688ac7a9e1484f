#include "serve/catalogue.h"

#include <utility>
#include <variant>

#include "model/manifest.h"
#include "model/text.h"
#include "serve/format.h"
#include "serve/run_record.h"
#include "serve/run_texts.h"

namespace etl::serve {

const GroupFacts* Catalogue::Find(std::uint32_t number) const {
  const auto found = by_number.find(number);
  return found == by_number.end() ? nullptr : &groups[found->second];
}

Result<std::shared_ptr<const Catalogue>> CatalogueCache::For(const Store& view) {
  const std::lock_guard lock(mutex_);
  if (newest_ && newest_->sequence == view.sequence() && newest_->epoch == view.epoch()) return newest_;
  auto made = std::make_shared<Catalogue>();
  made->epoch = view.epoch();
  made->sequence = view.sequence();
  Status failed;
  ETL_CHECK_OK(view.ForEachGroup([&](const GroupInfo& info) {
    GroupFacts group;
    group.info = info;
    auto operation = Operation(view, info.operation);
    auto environment = Environment(view, info.environment);
    auto first = view.GetStanding(info, 0, 1);
    if (!operation || !environment || !first) {
      failed = Fail(!operation ? operation.error() : !environment ? environment.error() : first.error());
      return false;
    }
    group.operation = *std::move(operation);
    group.environment = *std::move(environment);
    if (!first->empty()) {
      group.source = first->front().source;
      group.best = first->front().contender.value;
    }
    made->by_number.emplace(info.number, made->groups.size());
    made->groups.push_back(std::move(group));
    return true;
  }));
  ETL_CHECK_OK(failed);
  // A view that is older than the newest does not take its place.
  if (!newest_ || newest_->epoch != made->epoch || newest_->sequence < made->sequence) newest_ = made;
  return std::shared_ptr<const Catalogue>(std::move(made));
}

Result<std::shared_ptr<const OperationFacts>> CatalogueCache::Operation(const Store& view,
                                                                        const Digest& digest) {
  if (const auto found = operations_.find(digest); found != operations_.end()) return found->second;
  ETL_TRY(const Loaded loaded, LoadManifest(view, digest));
  auto facts = std::make_shared<OperationFacts>();
  facts->digest = digest;
  facts->external_id = loaded.external_id;
  facts->named = {TitleOf(loaded.external_id), Kebab(loaded.external_id)};
  if (facts->named.slug.empty()) facts->named.slug = digest.Hex().substr(0, 32);
  if (const auto* spec = std::get_if<OperationSpec>(&loaded.manifest.spec)) facts->family = spec->family;
  if (operations_.size() >= kFactsMax) operations_.clear();
  operations_.emplace(digest, facts);
  return std::shared_ptr<const OperationFacts>(std::move(facts));
}

Result<std::shared_ptr<const EnvironmentFacts>> CatalogueCache::Environment(const Store& view,
                                                                            const Digest& digest) {
  if (const auto found = environments_.find(digest); found != environments_.end()) return found->second;
  ETL_TRY(const Loaded loaded, LoadManifest(view, digest));
  auto facts = std::make_shared<EnvironmentFacts>();
  facts->digest = digest;
  if (const auto* spec = std::get_if<ExecutionEnvironment>(&loaded.manifest.spec)) {
    facts->product = spec->hardware.product;
    facts->vendor = spec->hardware.vendor;
    facts->architecture = spec->hardware.architecture;
    facts->summary = HardwareText(*spec);
    facts->slug = Kebab(spec->hardware.product);
  }
  if (environments_.size() >= kFactsMax) environments_.clear();
  environments_.emplace(digest, facts);
  return std::shared_ptr<const EnvironmentFacts>(std::move(facts));
}

}  // namespace etl::serve
