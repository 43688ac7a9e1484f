#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "fetch/http_transport.h"
#include "tests/support/loopback_actions.h"
#include "tests/support/loopback_upstream.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"

namespace etl::test {

// Ends every wait at once, moves the clock on by as much, and notes it.
class NotingPacer : public Pacer {
 public:
  explicit NotingPacer(ManualClock& clock) : clock_(clock) {}
  std::int64_t RealMs(std::int64_t wanted_ms) override {
    clock_.AdvanceMs(wanted_ms);
    const std::lock_guard<std::mutex> lock(mutex_);
    waits_ms_.push_back(wanted_ms);
    return 0;
  }
  std::vector<std::int64_t> waits_ms() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return waits_ms_;
  }
  std::int64_t total_ms() const {
    std::int64_t sum = 0;
    for (const std::int64_t wait_ms : waits_ms()) sum += wait_ms;
    return sum;
  }

 private:
  ManualClock& clock_;
  mutable std::mutex mutex_;
  std::vector<std::int64_t> waits_ms_;
};

// A transport against a scripted server on loopback, without spacing and without real waits.
class HttpTransportTest : public testing::Test {
 protected:
  void Serve(LoopbackOptions options = {}) {
    if (options.prefix.empty()) options.prefix = "/api";
    upstream_.emplace(options);
    settings_.base_url = upstream_->base_url();
    settings_.ca_file = upstream_->ca_file();
    settings_.contact = "operator@example.org";
    settings_.requests_per_second = 0;
    settings_.jitter_seed = 1;
    settings_.breaker_threshold = 1000;
    upstream_->Put("a", "alpha");
  }
  HttpTransport& Transport() {
    if (!transport_) {
      auto opened = OpenHttp(settings_, clock_, seams_);
      if (!opened) throw std::runtime_error(opened.error().Message());
      transport_ = *std::move(opened);
    }
    return *transport_;
  }
  Result<Response> Fetch(std::string_view key, const Validators& held = {}) {
    return Transport().Fetch(key, held);
  }
  // "200 alpha", or the error's code.
  std::string Outcome(std::string_view key, const Validators& held = {}) { return Text(Fetch(key, held)); }
  static std::string Text(const Result<Response>& response) {
    return response ? std::to_string(response->status) + " " + response->bytes : response.error().code;
  }
  // Requests of a key at the server.
  std::size_t Count(std::string_view key) const { return upstream_->CountOf(key); }

  ManualClock clock_;
  NotingPacer pacer_{clock_};
  TempDir dir_{"http"};
  FetchSettings settings_;
  HttpSeams seams_{&pacer_, {}};
  std::optional<LoopbackUpstream> upstream_;
  std::unique_ptr<HttpTransport> transport_;
};

}  // namespace etl::test
