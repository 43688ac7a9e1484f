#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fetch/settings.h"
#include "fetch/transport.h"
#include "model/error.h"
#include "model/instant.h"

namespace etl {

enum class BreakerState : std::uint8_t { kClosed, kOpen, kHalfOpen };
// "closed", "open", "half-open".
std::string_view ToString(BreakerState state) noexcept;

// How a transport is doing: counts since it was opened, and the state of its base URL's host.
struct HostReport {
  std::string host;                // "host:port"
  std::uint64_t requests = 0;      // sent, with robots.txt, redirects and retries
  std::uint64_t retries = 0;       // those of them that repeated a failed attempt
  std::uint64_t not_modified = 0;  // 304 answers
  std::uint64_t failures = 0;      // attempts that got no answer, a 5xx or a 429
  std::uint64_t wire_bytes = 0;    // bodies as sent
  std::uint64_t body_bytes = 0;    // bodies after decoding
  BreakerState breaker = BreakerState::kClosed;
  Instant breaker_until;    // when an open breaker lets a probe through; meaningless otherwise
  double bucket_level = 0;  // requests that may be sent at once; the burst where unlimited
  std::string last_error;   // Error::Message() of the newest failed attempt, empty if none failed
};

// Decides how long a wait between attempts or requests really takes. For tests, which want no wait but want
// to see it: they note it, move their clock, and answer 0. Called on the network thread.
class Pacer {
 public:
  virtual ~Pacer() = default;
  virtual std::int64_t RealMs(std::int64_t wanted_ms) = 0;
};

// Parts that tests replace.
struct HttpSeams {
  Pacer* pacer = nullptr;  // must outlive the transport; null: waits take as long as they say
  // Name lookups answered from here, "host:port:address" each, instead of by the resolver. The answers are
  // checked like any other.
  std::vector<std::string> resolve;
};

// Answers requests of one source over HTTP/1.1, politely and within FetchSettings. "kernels/5?x=1" asks for
// base_url + "/kernels/5?x=1" by GET. A key holds only what RFC 3986 allows in a path and a query, is
// relative, has no "..", and is at most 2,048 bytes; others are kInvalid HTTP_KEY.
//
// An answer is any complete response but 5xx, 429, an unasked 304 or 206 and a redirect that is followed
// (301, 302, 303, 307, 308 with a Location); Response::status says which. `bytes` is decoded; `origin` is the
// URL after redirects. A 304 carries the validators of its own headers; where it has none, those that were
// sent stay valid and the response's are empty. Validators are told only where the answer came from the base
// URL's own origin, and are sent only there.
//
// Errors are kUnavailable; after the last attempt where attempts are repeated (marked r):
//
// clang-format off
//   HTTP_RESOLVE r           the name could not be looked up
//   HTTP_CONNECT r           no connection
//   HTTP_TIMEOUT_CONNECT r   no connection within connect_ms
//   HTTP_TIMEOUT_IDLE r      no byte from the server for idle_ms
//   HTTP_TIMEOUT             not complete within whole_ms
//   HTTP_RESET r             the connection ended before the head of an answer was complete
//   HTTP_TRUNCATED r         the connection ended, or its coding, before the body was complete; a wrong checksum
//   HTTP_BUSY r              5xx or 429 (`what` names the status)
//   HTTP_BREAKER_OPEN        the host failed too often; nothing was sent
//   HTTP_TLS                 no TLS 1.2, or a certificate that does not prove the host: a second try would not mend it
//   HTTP_PROTOCOL            no HTTP/1.x, several lengths or a length beside chunks (RFC 9112, 6.3), or 206
//   HTTP_304_UNASKED         304 to a request without validators
//   HTTP_TOO_LARGE           over wire_bytes_max or decoded_bytes_max
//   HTTP_DECODE_RATIO        over decode_ratio_max
//   HTTP_CODING              a content coding other than one gzip or deflate, broken, or with bytes behind it; a
//                            transfer coding other than chunked
//   HTTP_HEADERS_TOO_LARGE   over header_bytes_max
//   HTTP_REDIRECTS           more than redirects_max
//   HTTP_REDIRECT_FORBIDDEN  to a host that is not allowed, from https to http, or to no http URL
//   HTTP_ADDRESS_FORBIDDEN   the name has only addresses that fetch/address.h refuses
//   ROBOTS_DISALLOWED        robots.txt forbids the URL, or answers 5xx and none was ever read
//   FETCH_STATE              the token bucket cannot be kept in state_dir; nothing was sent
// clang-format on
//
// and kStopped STOPPED after Stop(). Where robots.txt itself cannot be had, its error is told, `where` its
// URL. A body that ends with its connection and has no length, over plain HTTP, cannot be known to be
// complete.
//
// Expect() starts the request ahead; at most expected_max are kept, the oldest dropped for a newer one, and
// answers that nobody took within expected_age_ms are fetched again.
//
// Threads: a network thread of its own does everything. Fetch() and Expect() belong to one thread at a time;
// Stop() and Report() may be called from any. The destructor stops, and joins that thread.
class HttpTransport : public Transport {
 public:
  // Ends every wait and request now; every Fetch() from here on answers kStopped.
  virtual void Stop() = 0;
  virtual HostReport Report() = 0;

  bool live() const final { return true; }
};

// Errors: those of FetchSettings::Validate(), and kUnavailable FETCH_STATE where state_dir cannot be made or
// written, kInvalid FETCH_CA_FILE where ca_file cannot be read. Sends nothing. `clock` must outlive the
// transport.
Result<std::unique_ptr<HttpTransport>> OpenHttp(const FetchSettings& settings, Clock& clock,
                                                const HttpSeams& seams = {});

}  // namespace etl
