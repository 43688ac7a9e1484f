#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/error.h"
#include "serve/answer_cache.h"
#include "serve/catalogue.h"
#include "serve/http.h"
#include "store/store.h"

namespace etl::serve {

// What is answered from beside the store; a function that is not set is not asked.
struct SiteHooks {
  std::function<std::string()> metrics;                 // in Prometheus' text format
  std::function<std::vector<std::string>()> not_ready;  // why, a sentence each; none: ready
};

// Everything that is served over HTTP: the questions that can be asked, and what answers each. Reads the
// store through one view for each request, so that an answer never mixes two states.
//
// Answer may be called from any number of threads; it does not throw, and never waits for more than reads of
// the store.
class Site {
 public:
  explicit Site(SiteHooks hooks) : hooks_(std::move(hooks)) {}

  // From now on there is a store to read, or (null) none any more. It must outlive every Answer that began
  // meanwhile. Without one, all but /livez, /readyz and /metrics is 503 STORE_CLOSED.
  void SetStore(const Store* store) { store_.store(store); }

  Response Answer(const Request& request) const noexcept;
  // Changes with every commit: when a waiting request should ask again.
  std::uint64_t version() const;

 private:
  Response Route(const Request& request) const;
  Response Ready() const;
  Response Api(const Request& request) const;

  SiteHooks hooks_;
  mutable CatalogueCache catalogues_;
  mutable AnswerCache answers_;
  std::atomic<const Store*> store_{nullptr};
};

}  // namespace etl::serve
