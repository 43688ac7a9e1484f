#include "serve/site.h"

#include <exception>
#include <utility>

#include "serve/api.h"
#include "serve/coding.h"

namespace etl::serve {
namespace {

Response WithRoute(std::string_view route, Response response) {
  response.route = route;
  return response;
}

Response MethodNotAllowed(std::string allow) {
  Response response = Problem(405, "METHOD", "this is only answered to " + allow);
  response.Header("Allow", std::move(allow));
  return response;
}

}  // namespace

std::uint64_t Site::version() const {
  const Store* const store = store_.load();
  return store != nullptr ? store->sequence() + 1 : 0;
}

Response Site::Answer(const Request& request) const noexcept {
  try {
    const Store* const store = store_.load();
    const bool reads = request.method == "GET" || request.method == "HEAD";
    std::string key;
    if (store != nullptr && reads && request.if_none_match.empty()) {
      key = request.target;
      key.append(" ").append(CodingFor(request.accept_encoding));
      if (auto known = answers_.Find(key, store->sequence())) return *std::move(known);
    }
    Response response = Route(request);
    Encode(response, request.accept_encoding);
    if (!key.empty() && response.holds_at && response.status == 200)
      answers_.Put(key, *response.holds_at, response);
    return response;
  } catch (const std::exception&) {
    return Problem(500, "INTERNAL", "the server failed to answer", "tell who runs this mirror");
  }
}

Response Site::Route(const Request& request) const {
  if (request.path.size() == 1) {
    if (request.method != "GET" && request.method != "HEAD") return MethodNotAllowed("GET, HEAD");
    const std::string& name = request.path.front();
    if (name == "livez") return WithRoute("health", JsonAnswer("{\"alive\":true}\n"));
    if (name == "readyz") return WithRoute("health", Ready());
    if (name == "metrics" && hooks_.metrics)
      return WithRoute("metrics",
                       serve::Answer(200, "text/plain; version=0.0.4; charset=utf-8", hooks_.metrics()));
  }
  if (request.path.size() >= 2 && request.path[0] == "api" && request.path[1] == "v1") return Api(request);
  return Problem(404, "NO_ROUTE", "there is nothing at this path", "the API is at /api/v1");
}

Response Site::Api(const Request& request) const {
  const Store* const store = store_.load();
  if (store == nullptr)
    return Problem(503, "STORE_CLOSED", "the store is not open yet", "try again in a moment");
  const auto view = store->View();
  if (!view) return Problem(view.error());
  return AnswerApi(request, **view, catalogues_);
}

Response Site::Ready() const {
  std::vector<std::string> reasons;
  if (store_.load() == nullptr) {
    reasons.emplace_back("the store is not open yet");
  } else if (hooks_.not_ready) {
    reasons = hooks_.not_ready();
  }
  if (reasons.empty()) return JsonAnswer("{\"ready\":true}\n");
  std::string detail;
  for (const std::string& reason : reasons) detail += (detail.empty() ? "" : "; ") + reason;
  return Problem(503, "NOT_READY", std::move(detail), "`etlctl sources` says more");
}

}  // namespace etl::serve
