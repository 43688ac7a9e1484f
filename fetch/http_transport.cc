#include "fetch/http_transport.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <curl/curl.h>
#include <unistd.h>

#include "fetch/exchange.h"
#include "fetch/http_error.h"
#include "fetch/waiting.h"

namespace etl {

namespace asio = boost::asio;

std::string_view ToString(BreakerState state) noexcept {
  switch (state) {
    case BreakerState::kClosed:
      return "closed";
    case BreakerState::kOpen:
      return "open";
    case BreakerState::kHalfOpen:
      return "half-open";
  }
  return "closed";
}

namespace {

// One request, from the caller's thread to the network's and back.
struct Flight {
  Flight(std::string_view key_in, const Validators& held_in, bool ahead_in)
      : key(key_in), held(held_in), ahead(ahead_in) {}
  const std::string key;
  const Validators held;
  const bool ahead;  // before those that nobody waits for yet
  Ticket ticket;     // the network thread's
  // Under the transport's mutex.
  bool done = false;
  Result<Response> result;
  std::chrono::steady_clock::time_point ended;
};
using FlightPtr = std::shared_ptr<Flight>;

class NetworkTransport final : public HttpTransport {
 public:
  NetworkTransport(const FetchSettings& settings, Clock& clock, const HttpSeams& seams)
      : settings_(settings),
        guard_(asio::make_work_guard(io_)),
        exchange_(io_.get_executor(), settings, clock, seams) {}
  ~NetworkTransport() override {
    Stop();
    if (thread_.joinable()) thread_.join();
  }
  NetworkTransport(const NetworkTransport&) = delete;
  NetworkTransport& operator=(const NetworkTransport&) = delete;

  Status Start() {
    ETL_CHECK_OK(exchange_.Open());
    // Signals are for other threads; a closed connection under OpenSSL is no reason to die.
    sigset_t all{}, before{};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { io_.run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return {};
  }

  using Transport::Fetch;
  Result<Response> Fetch(std::string_view key, const Validators& held) override;
  void Expect(std::string_view key, const Validators& held) override;
  void Stop() override;
  HostReport Report() override { return exchange_.Report(); }
  std::string Describe() const override { return exchange_.Describe(); }

 private:
  FlightPtr TakeExpected(std::string_view key, const Validators& held);
  void Launch(const FlightPtr& flight);
  void Drop(const FlightPtr& flight);
  void DropOldest();
  void End(const FlightPtr& flight, Result<Response> result);
  asio::awaitable<void> Fly(FlightPtr flight);

  const FetchSettings settings_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard_;
  Exchange exchange_;
  std::set<Ticket*> tickets_;  // of the network thread
  bool stopping_ = false;      // the network thread's view of stopped_

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::list<FlightPtr> expected_;  // oldest first; nobody has asked for them yet
  std::uint64_t expected_bytes_ = 0;
  std::thread thread_;
};

void NetworkTransport::Launch(const FlightPtr& flight) {
  asio::co_spawn(io_, Fly(flight), asio::detached);
}

asio::awaitable<void> NetworkTransport::Fly(FlightPtr flight) {
  tickets_.insert(&flight->ticket);
  if (stopping_) flight->ticket.Cancel();
  Result<Response> result;
  try {
    result = co_await exchange_.Fetch(flight->key, flight->held, flight->ticket, flight->ahead);
  } catch (const std::exception& e) {
    result =
        Fail(HttpError("HTTP_TOO_LARGE", flight->key, std::string("the request failed inside: ") + e.what()));
  }
  tickets_.erase(&flight->ticket);
  End(flight, std::move(result));
  if (stopping_ && tickets_.empty()) io_.stop();
}

void NetworkTransport::End(const FlightPtr& flight, Result<Response> result) {
  const std::lock_guard<std::mutex> lock(mutex_);
  flight->result = std::move(result);
  flight->done = true;
  flight->ended = std::chrono::steady_clock::now();
  if (std::find(expected_.begin(), expected_.end(), flight) != expected_.end()) {
    if (flight->result) expected_bytes_ += flight->result->bytes.size();
    while (expected_bytes_ > settings_.expected_bytes_max) DropOldest();
  }
  changed_.notify_all();
}

// Takes a flight off the list of the expected ones.
void NetworkTransport::Drop(const FlightPtr& flight) {
  if (flight->done && flight->result) expected_bytes_ -= flight->result->bytes.size();
  expected_.remove(flight);
}

void NetworkTransport::DropOldest() {
  const FlightPtr oldest = expected_.front();
  Drop(oldest);
  if (!oldest->done) asio::post(io_, [oldest] { oldest->ticket.Cancel(); });
}

FlightPtr NetworkTransport::TakeExpected(std::string_view key, const Validators& held) {
  const auto place = std::find_if(expected_.begin(), expected_.end(), [&](const FlightPtr& flight) {
    return flight->key == key && flight->held == held;
  });
  if (place == expected_.end()) return nullptr;
  FlightPtr flight = *place;
  Drop(flight);
  const auto age = std::chrono::steady_clock::now() - flight->ended;
  if (flight->done && age > std::chrono::milliseconds(settings_.expected_age_ms)) return nullptr;
  return flight;
}

Result<Response> NetworkTransport::Fetch(std::string_view key, const Validators& held) {
  ETL_CHECK_OK(Exchange::CheckKey(key));
  std::unique_lock<std::mutex> lock(mutex_);
  FlightPtr flight = stopped_ ? nullptr : TakeExpected(key, held);
  if (!flight && !stopped_) {
    flight = std::make_shared<Flight>(key, held, true);
    Launch(flight);
  }
  changed_.wait(lock, [&] { return stopped_ || flight->done; });
  if (stopped_) return Fail(HttpError("STOPPED", std::string(key), "asked to stop"));
  return std::move(flight->result);
}

void NetworkTransport::Expect(std::string_view key, const Validators& held) {
  if (!Exchange::CheckKey(key)) return;  // Fetch will say so
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_ || settings_.expected_max == 0) return;
  for (const FlightPtr& flight : expected_) {
    if (flight->key == key && flight->held == held) return;
  }
  while (expected_.size() >= static_cast<std::size_t>(settings_.expected_max)) DropOldest();
  expected_.push_back(std::make_shared<Flight>(key, held, false));
  Launch(expected_.back());
}

void NetworkTransport::Stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (std::exchange(stopped_, true)) return;
  changed_.notify_all();
  asio::post(io_, [this] {
    stopping_ = true;
    for (Ticket* const ticket : tickets_) ticket->Cancel();
    if (tickets_.empty()) io_.stop();
  });
}

Status PrepareStateDir(const std::string& dir) {
  if (dir.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (!error && access(dir.c_str(), W_OK | X_OK) != 0)
    error = std::error_code(errno, std::generic_category());
  if (!error) return {};
  return Fail(Errc::kUnavailable, "FETCH_STATE", dir,
              "the folder cannot be made or written: " + error.message(),
              "make it, or its parent, writable for this user");
}

Status CheckCaFile(const std::string& file) {
  if (file.empty() || access(file.c_str(), R_OK) == 0) return {};
  return Fail(Errc::kInvalid, "FETCH_CA_FILE", file,
              std::string("the file of certificates cannot be read: ") + std::strerror(errno),
              "give a PEM file, or leave it out to trust the system's certificates");
}

}  // namespace

Result<std::unique_ptr<HttpTransport>> OpenHttp(const FetchSettings& settings, Clock& clock,
                                                const HttpSeams& seams) {
  ETL_CHECK_OK(settings.Validate());
  ETL_CHECK_OK(CheckCaFile(settings.ca_file));
  ETL_CHECK_OK(PrepareStateDir(settings.state_dir));
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK) {
    return Fail(Errc::kUnavailable, "HTTP_PROTOCOL", "libcurl", curl_easy_strerror(ready),
                "check the installed libcurl");
  }
  try {
    auto transport = std::make_unique<NetworkTransport>(settings, clock, seams);
    ETL_CHECK_OK(transport->Start());
    return transport;
  } catch (const std::exception& e) {  // no memory, no thread, no descriptor
    return Fail(Errc::kUnavailable, "HTTP_PROTOCOL", settings.base_url,
                std::string("the network cannot be started: ") + e.what(), "free memory or descriptors");
  }
}

}  // namespace etl
