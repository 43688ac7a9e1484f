#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace etl::test {

using Headers = std::vector<std::pair<std::string, std::string>>;

// One request as the server read it.
struct LoopbackRequest {
  std::string method;
  std::string target;  // as sent: "/api/submissions?kernel_id=5&limit=50&offset=0"
  std::string key;     // the target without the prefix and its slash; empty when it is not under the prefix
  Headers headers;     // as sent, in order
  int connection = 0;  // 1 for the first connection that was accepted
  std::chrono::steady_clock::time_point when;

  // The first header of that name, whatever its case; empty when there is none.
  std::string Header(std::string_view name) const;
};

// One answer before it is put on the wire. Content-Length, Transfer-Encoding and Connection are not among
// `headers`: they are the wire's business. A body may be left out of it (HEAD, or a 304 that is due), so that
// a script can still see what it would have been.
struct LoopbackAnswer {
  int status = 200;
  bool is_not_modified = false;  // goes out as a 304 with these headers and no body
  bool is_head = false;          // asked for by HEAD: goes out without its body
  Headers headers;
  std::shared_ptr<const std::string> body = std::make_shared<const std::string>();
};

// What is done on the connection, step by step. After the last step it waits for the next request.
struct WireStep {
  enum class Kind : std::uint8_t {
    kBytes,    // sends `bytes`, `times` times over, without ever holding more than a piece of it
    kPause,    // waits `pause_ms`
    kSilence,  // sends nothing more, until the client goes away
    kClose,    // ends the connection in order (TLS: with close_notify)
    kCut,      // closes the socket in order, but in TLS without close_notify
    kReset,    // makes the client see "connection reset by peer"
  };
  Kind kind = Kind::kBytes;
  std::shared_ptr<const std::string> bytes;
  std::uint64_t times = 1;
  int pause_ms = 0;
};
using Wire = std::vector<WireStep>;

// What a rule does instead of the usual answer: gets the request and what would have been answered, gives
// what goes over the wire. Runs on the server's thread, must not call the server.
// loopback_actions.h has the ready-made ones.
using LoopbackAction = std::function<Wire(const LoopbackRequest&, const LoopbackAnswer& usual)>;

// When an action is taken. `target` is compared with the key, or, when it starts with "/", with the whole
// target.
struct LoopbackRule {
  std::string target;
  bool is_prefix = false;  // "" as a prefix matches everything
  int from = 1;            // taken from this request on, of those that match (1 is the first)
  int times = 0;           // that many times; 0: for ever
  LoopbackAction action;
};

struct LoopbackOptions {
  enum class Etag : std::uint8_t { kNone, kStrong, kWeak };

  std::string folder;  // of saved responses, read as OpenFolder does; empty: only what Put gave
  std::string prefix;  // before every key: "/benchmarks/api"; empty, or starts with "/" and does not end so
  std::uint16_t port = 0;  // 0: any free one
  bool tls = false;
  bool tls_old = false;                                  // nothing newer than TLS 1.1
  std::string tls_names = "IP:127.0.0.1,DNS:localhost";  // of its certificate
  Etag etag = Etag::kNone;     // answers If-None-Match (weak comparison) with 304 when not kNone
  bool last_modified = false;  // the file's time, or that of Put; answers If-Modified-Since
  bool gzip = false;           // for who accepts it
  bool keep_alive = true;
  int delay_ms = 0;  // before every usual answer
  // A window as some upstreams have: rows at this offset and after are not served, `total` says no more than
  // this, and a page has at most `limit_max` rows. 0: no such limit.
  std::int64_t window_rows = 0;
  std::int64_t limit_max = 0;
  std::optional<std::string> robots;  // body of /robots.txt; nothing: 404
  std::size_t log_max = 200'000;      // requests kept in the log; later ones are only counted
};

// A server on 127.0.0.1 for tests and benchmarks, on one thread of its own. It answers
//   <prefix>/kernels, /kernels/5, /leaderboard/kernel/5/B200[?evaluation_stack_version=...]
//   <prefix>/submissions?kernel_id=5[&limit=][&offset=][&gpu_type=][&evaluation_stack_version=][&status=]
// with the very bytes that OpenFolder gives for that key; with a filter or a window, with the same text
// around fewer rows and `total` saying how many match, at most the window's. A key given to Put is answered
// with its bytes and goes before the folder. What is not there is a 404, what cannot be answered a 400, both
// with {"detail": ...}. Only GET and HEAD are answered; others are a 405.
//
// Pages are cached; a changed file is seen by its time, size and inode. HTTP/1.1 with keep-alive; the request
// head is at most 64 KiB and has no body. Beyond the folder's memory it takes what the cached pages take
// (at most 512 MiB, then the cache starts anew).
//
// Every call may come from any thread. The constructor throws std::runtime_error when the folder cannot be
// opened or the port not be had. The destructor closes all connections and joins the thread.
class LoopbackUpstream {
 public:
  explicit LoopbackUpstream(LoopbackOptions options = {});
  ~LoopbackUpstream();
  LoopbackUpstream(const LoopbackUpstream&) = delete;
  LoopbackUpstream& operator=(const LoopbackUpstream&) = delete;

  std::uint16_t port() const;
  std::string origin() const;    // "http://127.0.0.1:40123", "https://..." with TLS
  std::string base_url() const;  // origin() + prefix
  // PEM file of the authority that signed the server's certificate (made anew for every server); empty
  // without TLS. Gone with the server.
  std::string ca_file() const;

  // The body of a key ("kernels/5", "submissions?kernel_id=5&limit=50&offset=0") from now on.
  void Put(std::string_view key, std::string body);
  // From now on the key is answered from the folder again, or not at all.
  void Remove(std::string_view key);
  void SetRobots(std::optional<std::string> body);
  void SetWindow(std::int64_t window_rows);
  // Answers from this folder from now on; throws as the constructor.
  void SetFolder(const std::string& folder);

  // The first rule that matches and is due is taken.
  void Script(LoopbackRule rule);
  // Shorthands: every request with exactly this target; only the nth; the first n; every one that starts so.
  void Always(std::string_view target, LoopbackAction action);
  void Nth(std::string_view target, int nth, LoopbackAction action);
  void First(std::string_view target, int times, LoopbackAction action);
  void AlwaysUnder(std::string_view target_prefix, LoopbackAction action);
  void ClearScripts();

  std::vector<LoopbackRequest> log() const;  // a copy, oldest first
  // Requests read since the start or the last ClearLog; with a target, those that a rule with it would match.
  std::size_t count() const;
  std::size_t CountOf(std::string_view target) const;
  void ClearLog();
  std::size_t connections() const;       // accepted since the start
  std::size_t open_connections() const;  // now
  std::uint64_t bytes_sent() const;      // of HTTP, before TLS, since the start
  std::uint64_t bytes_received() const;

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace etl::test
