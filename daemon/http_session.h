#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "daemon/http_server.h"
#include "serve/http.h"

// The connections of daemon/http_server.h; for its .cc files only.
namespace etl::internal {

inline constexpr std::size_t kHttpReadBytes = std::size_t{4} << 10;
// More than a whole header, so that the parser sees one that is too long.
inline constexpr std::size_t kHttpBufferBytesMax = kHttpHeaderBytesMax + kHttpReadBytes;

// What all connections share.
struct HttpShared {
  HttpOptions options;
  HttpHandler handler;
  HttpVersion version;
  HttpObserver observer;
  std::string id_prefix;  // of request ids, different in every process
  std::atomic<std::uint64_t> next_id{1};
  std::atomic<bool> stopping{false};
  std::atomic<std::size_t> in_flight{0}, turning_away{0};
  std::atomic<std::uint64_t> accepted{0}, turned_away{0};
  mutable std::mutex mutex;
  std::condition_variable ended;
  std::size_t connections = 0;  // guarded by mutex
};

class HttpSession;

// One thread with its connections; everything of a connection happens there. Deadlines are looked at in
// turns, which costs less than a timer for each.
class HttpLoop {
 public:
  explicit HttpLoop(HttpShared& all) : shared(all), sweep(io) {}
  void Add(HttpSession& session);
  void Remove(HttpSession& session) { sessions.erase(&session); }
  std::string_view Date();  // of now, for the header
  void Stopping();          // closes what rests
  void CloseAll();

  HttpShared& shared;
  boost::asio::io_context io{1};

 private:
  void Arm();
  void Sweep();

  boost::asio::steady_timer sweep;
  bool armed = false;
  std::unordered_set<HttpSession*> sessions;  // each keeps itself alive until it closes
  std::uint64_t version = 0;
  std::time_t date_at = 0;
  std::string date;
};

class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  using Clock = std::chrono::steady_clock;

  HttpSession(boost::asio::ip::tcp::socket socket, HttpLoop& loop);

  void Start();
  void TurnAway();  // instead of Start: there are too many

  // What the loop asks: the deadline is over; what it waited for may be there; the server stops.
  void CheckDeadline(Clock::time_point now);
  void Retry();
  void Stopping();
  void Close();

 private:
  enum class State : std::uint8_t { kResting, kReading, kWaiting, kWriting, kEnding, kClosed };
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  void Deadline(std::int64_t ms) { deadline_ = Clock::now() + std::chrono::milliseconds(ms); }
  void Rest(std::int64_t ms);
  void Read();
  void OnRead(const boost::system::error_code& error, std::size_t bytes);
  void Process();
  bool Parse();
  void RefuseParse(const boost::system::error_code& error);
  void Refuse(int status, std::string code, std::string what, std::string fix = {});
  bool CheckHeader();
  void Handle();
  void Ask();
  void Respond(serve::Response response);
  void AppendHead(const serve::Response& response, bool body);
  void OnWritten(const boost::system::error_code& error);
  void End();
  void Discard();

  boost::asio::ip::tcp::socket socket_;
  HttpLoop& loop_;
  HttpShared& shared_;
  State state_ = State::kResting;
  Clock::time_point deadline_, begun_;
  // Read into first: what the buffer holds may be used up while a read is under way.
  std::array<char, kHttpReadBytes> chunk_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  serve::Request request_;
  serve::Response response_;
  std::string head_;
  bool keep_ = false, head_only_ = false, http_1_0_ = false, reading_ = false, peer_done_ = false;
  bool counted_ = false, turned_away_ = false, flying_ = false;
  std::size_t discarded_ = 0;
};

}  // namespace etl::internal
