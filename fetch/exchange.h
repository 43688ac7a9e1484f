#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "fetch/http_transport.h"
#include "fetch/retry.h"
#include "fetch/robots.h"
#include "fetch/robots_store.h"
#include "fetch/token_bucket.h"
#include "fetch/url.h"
#include "fetch/waiting.h"
#include "fetch/wire.h"

namespace etl {

// The rules of a network transport, between one request and its answer: robots.txt, spacing and connections
// per host, repeated attempts, redirects, and what counts as an answer. fetch/http_transport.h says which.
// Belongs to the one thread of its executor, but for Open(), which comes before, and Report().
class Exchange {
 public:
  // `settings` are valid.
  Exchange(const boost::asio::any_io_executor& executor, const FetchSettings& settings, Clock& clock,
           const HttpSeams& seams);

  // Opens what is kept in state_dir. Error: kUnavailable FETCH_STATE.
  Status Open();
  boost::asio::awaitable<Result<Response>> Fetch(std::string_view key, const Validators& held, Ticket& ticket,
                                                 bool ahead);
  HostReport Report();  // from any thread
  std::string Describe() const { return base_.Text(); }

  // Error: kInvalid HTTP_KEY.
  static Status CheckKey(std::string_view key);

 private:
  // What is known about one host and port.
  struct Host {
    Host(const boost::asio::any_io_executor& executor, const FetchSettings& settings, Url at_in,
         TokenBucket bucket_in);
    Url at;
    Gate connections;
    Gate spacing;
    Gate robots_reading;
    TokenBucket bucket;
    Breaker breaker;
    // robots.txt
    bool robots_loaded = false;
    std::optional<RobotsCopy> robots;  // the newest that was read, maybe old
    RobotsRules rules;                 // of `robots`
    std::optional<Error> robots_failure;
    Instant robots_failed;
    std::uint64_t robots_readings = 0;
  };

  Result<Host*> HostOf(const Url& url);
  std::string StateFile(std::string_view kind, const Url& at) const;
  bool IsAllowed(const Url& from, const Url& to) const;

  boost::asio::awaitable<Result<WireAnswer>> Follow(Url& url, const WireRequest& first, bool is_robots,
                                                    Ticket& ticket, bool ahead);
  boost::asio::awaitable<Result<WireAnswer>> Ask(Host& host, const WireRequest& request, Ticket& ticket,
                                                 bool ahead);
  boost::asio::awaitable<Result<WireAnswer>> Attempt(Host& host, const WireRequest& request, Ticket& ticket,
                                                     bool ahead);
  boost::asio::awaitable<Status> Space(Host& host, Ticket& ticket);
  boost::asio::awaitable<void> Pause(std::int64_t wanted_ms, Ticket& ticket) const;

  boost::asio::awaitable<Status> CheckRobots(Host& host, const Url& url, Ticket& ticket, bool ahead);
  boost::asio::awaitable<void> ReadRobots(Host& host, Ticket& ticket, bool ahead);
  void LoadRobotsOnce(Host& host);
  void TakeRobots(Host& host, RobotsCopy copy);
  bool RobotsKnown(const Host& host);

  // Counts an attempt; the failure, if the answer is one.
  std::optional<Error> Judge(Host& host, const WireRequest& request, const WireAnswer& answer);
  Result<Response> ToResponse(const Url& url, const Validators& held, WireAnswer answer) const;
  void Publish(Host& host);

  boost::asio::any_io_executor executor_;
  FetchSettings settings_;
  Clock& clock_;
  HttpSeams seams_;
  Url base_;
  Wire wire_;
  Backoff backoff_;
  RetryBudget retry_budget_;
  std::map<std::string, std::unique_ptr<Host>> hosts_;  // by origin

  // What Report() reads.
  std::mutex mutex_;
  HostReport report_;
  std::optional<Breaker> breaker_;
  BucketState bucket_;
};

}  // namespace etl
