#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "daemon/listen.h"
#include "model/error.h"
#include "serve/http.h"

namespace etl {

struct HttpOptions {
  std::size_t connections_max = 1024;         // served at once; more get 503 and are closed
  std::int64_t request_deadline_ms = 10'000;  // for a request to arrive, and for its answer to be taken
  unsigned threads = 2;                       // that read, answer and write
};

// Sizes that no setting changes.
inline constexpr std::size_t kHttpHeaderBytesMax = std::size_t{16} << 10;
inline constexpr std::size_t kHttpBodyBytesMax = std::size_t{64} << 10;

// Gives the answer, on a thread of the server; what it throws is answered 500. Other connections of that
// thread wait meanwhile.
using HttpHandler = std::function<serve::Response(const serve::Request&)>;
// A number that changes whenever a waiting request may have an answer. Cheap; any thread.
using HttpVersion = std::function<std::uint64_t()>;

// One answer that was given, for counting.
struct HttpDone {
  std::string_view route;
  int status = 0;
  std::size_t bytes = 0;  // of the body, as sent
  double seconds = 0;     // from the first byte of the request to the last of the answer
};
using HttpObserver = std::function<void(const HttpDone&)>;

// Answers HTTP/1.1 and 1.0 (RFC 9112) on a listening socket: GET, HEAD and whatever else the handler takes;
// HEAD is asked of it as it is, and the body left out. Connections are kept; requests behind each other on
// one are answered in order, and no more is read of them than fits the buffer of one request.
//
// Refused with problem details, and the connection closed: 400 what is no HTTP request, or names no host, or
// two; 408 one that did not arrive in time; 413, 414, 431 a body, target or header over its limit; 417 an
// expectation; 503 a connection over the limit. One that sends nothing is closed after the deadline, between
// requests after six of them; so is one whose answer is not taken in the deadline and a second for every 64
// KiB.
class HttpServer {
 public:
  // Errors: kUnavailable SERVE_THREADS.
  static Result<std::unique_ptr<HttpServer>> Start(ListeningSocket socket, const HttpOptions& options,
                                                   HttpHandler handler, HttpVersion version = {},
                                                   HttpObserver observer = {});
  // Stops, and waits for handlers to return.
  virtual ~HttpServer() = default;
  // Takes no more connections, closes those that rest, lets those that are being answered end, at most this
  // long, and then closes them too. Returns whether no handler runs any more: when not, the process must end
  // without touching what handlers use.
  virtual bool Stop(std::int64_t wait_ms) = 0;

  virtual std::uint16_t port() const = 0;
  virtual std::size_t connections() const = 0;  // open now, without those that are turned away
  virtual std::size_t in_flight() const = 0;    // requests read in full and not yet answered
  virtual std::uint64_t accepted() const = 0;   // connections ever
  virtual std::uint64_t turned_away() const = 0;
};

}  // namespace etl
