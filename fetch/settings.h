#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/error.h"

namespace etl {

// Everything that bounds how a network transport behaves, in one place. Durations are milliseconds, sizes
// bytes. "Per host" means per host and port. Whoever wants other values fills them in before OpenHttp();
// nothing is changed afterwards.
struct FetchSettings {
  // What is asked, and by whom.
  std::string base_url;  // what keys are relative to; https, or http where the host is a loopback address
  std::string contact;   // e-mail address or URL, told to the server in every request; must be set
  // Hosts that a redirect may lead to beyond the base's own: "host" (port 443, or 80 over http) or
  // "host:port".
  std::vector<std::string> allowed_hosts;
  std::string state_dir;  // token buckets and robots.txt between runs; empty: nothing persisted
  std::string ca_file;    // PEM file to trust instead of the system's certificates

  // Politeness, per host.
  int connections_max = 2;         // at once; 1 to 64
  double requests_per_second = 2;  // robots.txt, redirects and retries included; 0: unlimited
  int burst = 4;                   // requests that may go without spacing after a pause; 1 to 10,000

  // Deadlines of one attempt.
  std::int64_t connect_ms = 10'000;  // name lookup, connection and TLS
  std::int64_t idle_ms = 20'000;     // without a byte from the server once the request is sent
  std::int64_t whole_ms = 120'000;   // from start to last byte

  // Sizes of one answer.
  std::uint64_t wire_bytes_max = std::uint64_t{64} << 20;     // body as sent
  std::uint64_t decoded_bytes_max = std::uint64_t{64} << 20;  // body after decoding
  double decode_ratio_max = 100;  // decoded to wire, once over decode_ratio_free_bytes
  std::uint64_t decode_ratio_free_bytes = std::uint64_t{1} << 20;
  std::uint64_t header_bytes_max = std::uint64_t{64} << 10;  // status line and headers; at most 96 KiB
  int redirects_max = 3;

  // Retries of connection failures, cut answers, 5xx and 429.
  int attempts_max = 4;              // per request, the first one included
  int retry_budget = 30;             // retries the whole transport may be ahead of its successes
  double retry_budget_refill = 0.1;  // how much of a retry an answer gives back
  std::int64_t backoff_base_ms = 500;
  std::int64_t backoff_cap_ms = 30'000;
  std::int64_t retry_after_cap_ms = 120'000;  // longer Retry-After waits are cut to this

  // Circuit breaker, per host.
  int breaker_threshold = 8;                  // failed attempts in a row that open it
  std::int64_t breaker_cooldown_ms = 30'000;  // closed to requests for this long, doubling while probes fail
  std::int64_t breaker_cooldown_cap_ms = 600'000;

  // Answers fetched ahead.
  int expected_max = 16;
  std::uint64_t expected_bytes_max = std::uint64_t{32} << 20;  // kept while nobody has asked for them
  std::int64_t expected_age_ms = 60'000;                       // older ones are fetched again

  std::uint64_t jitter_seed = 0;  // 0: a seed of its own each time

  // Errors, all kInvalid, `where` the member's name: FETCH_CONTACT_MISSING, FETCH_CONTACT (neither address
  // nor URL, or a character that cannot stand in a header), FETCH_BASE_URL (no URL; a scheme other than
  // https, or http to what is not loopback; user name, query or fragment), FETCH_ALLOWED_HOST (no host name),
  // FETCH_LIMIT (a number outside its range).
  Status Validate() const;
};

}  // namespace etl
