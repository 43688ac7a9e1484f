#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fetch/body_decoder.h"
#include "fetch/response_head.h"
#include "fetch/settings.h"
#include "fetch/transport.h"

namespace etl {

// What stays the same for all requests of a transport.
struct WireOptions {
  FetchSettings settings;
  bool loopback_only = false;  // connect to nothing but loopback; else to nothing but public addresses
  std::string user_agent;
  std::vector<std::string> resolve;  // HttpSeams::resolve
};

struct WireRequest {
  std::string url;
  Validators held;                            // sent where they can stand in a header
  std::uint64_t kept_bytes_max = UINT64_MAX;  // of the body; what is behind is checked and dropped
};

struct WireFailure {
  std::string code;  // of fetch/http_transport.h
  std::string what;
  bool stale = false;  // a kept connection turned out to be closed: as good as not tried
};

// What came back of one attempt.
struct WireAnswer {
  std::optional<WireFailure> failure;
  ResponseHead head;  // as far as it came
  std::string body;   // empty after a failure
  std::uint64_t wire_bytes = 0;
};

// One attempt at a time on one curl easy handle, which is set up once and reused. Checks the head, decodes
// the body, and lets no connection through that it may not make: what is checked is the very address that the
// socket is then connected to.
class Transfer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit Transfer(const WireOptions& options);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  void* easy() const { return easy_; }
  void Begin(const WireRequest& request);
  // What it failed with, whatever curl says later. The first word counts.
  void FailWith(std::string code, std::string what);
  // After curl has let go of the handle; `curl_code` is curl's CURLcode.
  WireAnswer End(int curl_code);

  Time started() const { return started_; }
  // When the request went out, or the newest byte of an answer came in; nothing before the request went out.
  std::optional<Time> active() const { return active_; }

 private:
  struct Callbacks;
  void SetUp(const WireOptions& options);
  bool TakeHeadLine(std::string_view line);
  void WatchEnd();
  bool TakeBody(std::string_view bytes);
  bool MayConnect(const void* address, std::size_t size);
  bool MaySend();
  void FailWith(BodyFault fault);
  WireFailure Explain(int curl_code) const;

  void* easy_;
  void* static_headers_ = nullptr;  // curl_slist
  void* headers_ = nullptr;         // curl_slist of a conditional request
  void* resolve_ = nullptr;         // curl_slist
  std::vector<char> curl_says_;
  std::uint64_t header_bytes_max_;
  BodyLimits limits_;
  bool loopback_only_;

  ResponseHead head_;
  BodyDecoder decoder_;
  std::optional<WireFailure> failure_;
  std::string refused_address_;
  int sockets_ = 0;
  bool resent_ = false;
  bool ends_with_tls_ = false;
  std::shared_ptr<const bool> tls_end_;
  Time started_;
  std::optional<Time> active_;
};

}  // namespace etl
