#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/error.h"

namespace etl::serve {

// A request and its answer as plain values: what HTTP (RFC 9110) says, without a socket. Whoever owns the
// socket keeps the limits on sizes and times.

inline constexpr std::size_t kTargetBytesMax = std::size_t{8} << 10;
inline constexpr std::size_t kSegmentsMax = 16;
inline constexpr std::size_t kQueryPairsMax = 64;

struct Request {
  std::string method;             // as sent: methods have case
  std::string target;             // as sent
  std::vector<std::string> path;  // decoded segments: "/a/b%2Fc" is {"a", "b/c"}, "/" is none
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in the order of the target
  // Fields that answers depend on; empty where they were not sent.
  std::string if_none_match, accept, accept_encoding, content_type, last_event_id;
  std::string body;
  std::string id;  // of this request, for problem details and logs
  // False once the longest wait for something new is over: the answer must be final.
  bool may_wait = true;

  // The first value of a parameter; nothing where it is not there.
  std::optional<std::string_view> Param(std::string_view name) const;
};

// Reads the target into path and query: "/runs?limit=5&cursor=x%3D". "+" in a query is a space. An empty
// segment at the end ("/runs/") does not count. Errors (kInvalid): TARGET_PATTERN (does not start with "/",
// holds bytes that no URL may, a broken %-escape, an empty, "." or ".." segment, or does not decode to UTF-8
// without control characters), TARGET_TOO_LONG (over the limits above). The request then has no path.
Status SetTarget(Request& request, std::string_view target);

struct Response {
  int status = 200;
  // What kind of question it was, for counting: one of a fixed few, never text of the caller.
  std::string_view route = "other";
  std::string_view content_type;
  std::vector<std::pair<std::string_view, std::string>> headers;  // beside those that every answer has
  std::shared_ptr<const std::string> body;                        // null: none
  std::optional<Error> problem;                                   // becomes the body with Finish
  // The answer is the same while the store is at this sequence.
  std::optional<std::uint64_t> holds_at;
  // Nothing to say yet: ask again when the store has moved on, or after this many milliseconds with
  // `may_wait` false. Everything else is then meaningless.
  std::optional<std::int64_t> wait_ms;

  std::size_t bytes() const { return body ? body->size() : 0; }
  void Header(std::string_view name, std::string value) { headers.emplace_back(name, std::move(value)); }
};

Response Answer(int status, std::string_view content_type, std::string body);
// "application/json".
Response JsonAnswer(std::string json);

// A refusal as problem details (RFC 9457): application/problem+json with type, title, status, code, detail,
// requestId, and where there are any, where and fix. `code` is stable. The body is written by Finish.
Response Problem(int status, const Error& error);
Response Problem(int status, std::string code, std::string what, std::string fix = {});
// The same, the status by the kind of error: 400 invalid, 404 not found, 409 conflict, 503 unavailable and
// stopped, 500 corrupt. What an operator's error says of files and keys is not told: only its code is.
Response Problem(const Error& error);

// Completes an answer to the request of this id. Nothing to do but for problems.
void Finish(Response& response, std::string_view request_id);

// "OK" for 200; the phrases of RFC 9110.
std::string_view Reason(int status) noexcept;

}  // namespace etl::serve
