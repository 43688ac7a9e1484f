#include "daemon/http_session.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

namespace etl::internal {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::int64_t kRestDeadlines = 6;  // between requests
constexpr std::int64_t kEndMs = 1000;       // for what was still sent to be read and dropped
constexpr std::size_t kDiscardBytesMax = std::size_t{256} << 10;
constexpr std::int64_t kWriteBytesPerMs = 64;
constexpr std::int64_t kSweepMs = 50;

// A field value of ours could carry text of upstream; nothing that ends a line gets into the head.
void AppendField(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ");
  for (const char c : value) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  out += "\r\n";
}

}  // namespace

void HttpLoop::Add(HttpSession& session) {
  sessions.insert(&session);
  Arm();
}

void HttpLoop::Arm() {
  if (armed || sessions.empty()) return;
  armed = true;
  sweep.expires_after(std::chrono::milliseconds(kSweepMs));
  sweep.async_wait([this](const error_code& error) {
    armed = false;
    if (!error) Sweep();
  });
}

void HttpLoop::Sweep() {
  const std::uint64_t now_at = shared.version ? shared.version() : 0;
  const bool moved = now_at != version;
  version = now_at;
  const auto now = HttpSession::Clock::now();
  std::vector<std::shared_ptr<HttpSession>> all;
  all.reserve(sessions.size());
  for (HttpSession* session : sessions) all.push_back(session->shared_from_this());
  for (const auto& session : all) {
    if (moved) session->Retry();
    session->CheckDeadline(now);
  }
  Arm();
}

void HttpLoop::Stopping() {
  std::vector<std::shared_ptr<HttpSession>> all;
  for (HttpSession* session : sessions) all.push_back(session->shared_from_this());
  for (const auto& session : all) session->Stopping();
}

void HttpLoop::CloseAll() {
  std::vector<std::shared_ptr<HttpSession>> all;
  for (HttpSession* session : sessions) all.push_back(session->shared_from_this());
  for (const auto& session : all) session->Close();
}

std::string_view HttpLoop::Date() {
  const std::time_t now = std::time(nullptr);
  if (now != date_at || date.empty()) {
    static constexpr std::array<const char*, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr std::array<const char*, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    std::array<char, 64> text{};
    const int bytes = std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                                    kDays[static_cast<std::size_t>(utc.tm_wday)], utc.tm_mday,
                                    kMonths[static_cast<std::size_t>(utc.tm_mon)], utc.tm_year + 1900,
                                    utc.tm_hour, utc.tm_min, utc.tm_sec);
    date.assign(text.data(), static_cast<std::size_t>(std::max(bytes, 0)));
    date_at = now;
  }
  return date;
}

HttpSession::HttpSession(boost::asio::ip::tcp::socket socket, HttpLoop& loop)
    : socket_(std::move(socket)), loop_(loop), shared_(loop.shared), buffer_(kHttpBufferBytesMax) {}

void HttpSession::Start() {
  counted_ = true;
  loop_.Add(*this);
  if (shared_.stopping) return Close();
  error_code ignored;
  (void)socket_.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
  Rest(shared_.options.request_deadline_ms);
  Read();
}

void HttpSession::TurnAway() {
  turned_away_ = true;
  loop_.Add(*this);
  Refuse(503, "CONNECTIONS_MAX", "this server has as many connections as it may", "try again in a moment");
}

void HttpSession::Rest(std::int64_t ms) {
  state_ = State::kResting;
  Deadline(ms);
}

void HttpSession::Read() {
  if (reading_ || state_ == State::kClosed) return;
  const std::size_t room = kHttpBufferBytesMax - buffer_.size();
  if (room == 0) return;
  reading_ = true;
  socket_.async_read_some(boost::asio::buffer(chunk_.data(), std::min(room, chunk_.size())),
                          [self = shared_from_this()](const error_code& error, std::size_t bytes) {
                            self->OnRead(error, bytes);
                          });
}

void HttpSession::OnRead(const error_code& error, std::size_t bytes) {
  reading_ = false;
  if (state_ == State::kClosed) return;
  buffer_.commit(boost::asio::buffer_copy(buffer_.prepare(bytes), boost::asio::buffer(chunk_)));
  if (error) {
    // A peer that has said all may still wait for the answer it asked for; one that waits for news is gone.
    peer_done_ = true;
    if (state_ != State::kWriting) Close();
    return;
  }
  if (state_ == State::kEnding) return Discard();
  if (state_ == State::kResting || state_ == State::kReading) Process();
}

void HttpSession::Process() {
  if (buffer_.size() == 0) {
    if (peer_done_) return Close();
    return Read();
  }
  if (state_ == State::kResting) {
    state_ = State::kReading;
    begun_ = Clock::now();
    Deadline(shared_.options.request_deadline_ms);
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(kHttpHeaderBytesMax));
    parser_->body_limit(kHttpBodyBytesMax);
  }
  if (Parse()) Handle();
}

// Whether the request is complete. When not, more is read, or it was refused.
bool HttpSession::Parse() {
  while (!parser_->is_done()) {
    error_code error;
    const bool had_header = parser_->is_header_done();
    const std::size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
    if (error == http::error::need_more) error = {};
    if (error) {
      RefuseParse(error);
      return false;
    }
    if (!had_header && parser_->is_header_done() && !CheckHeader()) return false;
    if (parser_->is_done()) break;
    if (used > 0 && buffer_.size() > 0) continue;
    if (peer_done_) {
      Close();
      return false;
    }
    if (buffer_.size() >= kHttpBufferBytesMax) {
      RefuseParse(http::error::header_limit);
      return false;
    }
    Read();
    return false;
  }
  return true;
}

void HttpSession::RefuseParse(const error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    const auto data = buffer_.data();
    const std::string_view bytes(static_cast<const char*>(data.data()), data.size());
    if (parser_->get().target().empty() && bytes.find('\n') == std::string_view::npos)
      return Refuse(414, "TARGET_TOO_LONG", "the request line is over 16 KiB", "ask for less at once");
    return Refuse(431, "HEADER_TOO_LARGE", "the header is over 16 KiB", "send fewer or shorter fields");
  }
  if (error == http::error::body_limit)
    return Refuse(413, "BODY_TOO_LARGE", "the body is over 64 KiB", "send less at once");
  if (error == http::error::bad_version)
    return Refuse(505, "HTTP_VERSION", "only HTTP/1.1 and HTTP/1.0 are spoken here");
  Refuse(400, "REQUEST_SYNTAX", "this is no HTTP request: " + error.message(),
         "send what RFC 9112 describes");
}

// What the header alone can be refused for.
bool HttpSession::CheckHeader() {
  const auto& request = parser_->get();
  http_1_0_ = request.version() == 10;
  if (request.version() != 10 && request.version() != 11) {
    Refuse(505, "HTTP_VERSION", "only HTTP/1.1 and HTTP/1.0 are spoken here");
  } else if (request.target().size() > serve::kTargetBytesMax) {
    Refuse(414, "TARGET_TOO_LONG", "the URL is over 8 KiB", "ask for less at once");
  } else if (request.count(http::field::host) > 1 || (!http_1_0_ && request.count(http::field::host) == 0)) {
    Refuse(400, "HOST_FIELD", "a request names one host", "send one Host field");
  } else if (request.count(http::field::expect) > 0) {
    Refuse(417, "EXPECTATION", "no expectation is met here", "send the request without Expect");
  } else {
    return true;
  }
  return false;
}

void HttpSession::Handle() {
  auto message = parser_->release();
  parser_.reset();
  const auto text = [&](http::field field) { return std::string(message[field]); };
  request_ = serve::Request();
  request_.id = shared_.id_prefix + std::to_string(shared_.next_id.fetch_add(1, std::memory_order_relaxed));
  request_.method = std::string(message.method_string());
  request_.if_none_match = text(http::field::if_none_match);
  request_.accept = text(http::field::accept);
  request_.accept_encoding = text(http::field::accept_encoding);
  request_.content_type = text(http::field::content_type);
  request_.last_event_id = std::string(message["Last-Event-ID"]);
  request_.body = std::move(message.body());
  keep_ = message.keep_alive();
  head_only_ = request_.method == "HEAD";
  shared_.in_flight.fetch_add(1, std::memory_order_relaxed);
  flying_ = true;
  if (const Status target = serve::SetTarget(request_, std::string_view(message.target())); !target) {
    return Respond(serve::Problem(target.error().code == "TARGET_TOO_LONG" ? 414 : 400, target.error()));
  }
  Ask();
}

void HttpSession::Ask() {
  serve::Response response;
  try {
    response = shared_.handler(request_);
  } catch (...) {
    response = serve::Problem(500, "INTERNAL", "the server failed to answer", "tell who runs this mirror");
  }
  if (!response.wait_ms) return Respond(std::move(response));
  if (shared_.stopping || !request_.may_wait) {
    if (!request_.may_wait)
      return Respond(serve::Problem(500, "INTERNAL", "the server found no end of waiting"));
    request_.may_wait = false;
    return Ask();
  }
  if (state_ != State::kWaiting) {
    state_ = State::kWaiting;
    Deadline(*response.wait_ms);
    Read();  // to see it when the peer goes away
  }
}

void HttpSession::Retry() {
  if (state_ == State::kWaiting) Ask();
}

void HttpSession::Refuse(int status, std::string code, std::string what, std::string fix) {
  keep_ = false;
  head_only_ = false;
  parser_.reset();
  request_ = serve::Request();
  request_.id = shared_.id_prefix + std::to_string(shared_.next_id.fetch_add(1, std::memory_order_relaxed));
  serve::Response response = serve::Problem(status, std::move(code), std::move(what), std::move(fix));
  response.route = "refused";
  Respond(std::move(response));
}

void HttpSession::Respond(serve::Response response) {
  serve::Finish(response, request_.id);
  response_ = std::move(response);
  if (shared_.stopping || turned_away_ || peer_done_) keep_ = false;
  const bool body = response_.body && !response_.body->empty() && !head_only_ && response_.status != 304 &&
                    response_.status != 204;
  AppendHead(response_, body);
  state_ = State::kWriting;
  const std::size_t bytes = head_.size() + (body ? response_.body->size() : 0);
  Deadline(shared_.options.request_deadline_ms + static_cast<std::int64_t>(bytes) / kWriteBytesPerMs);
  const std::array<boost::asio::const_buffer, 2> parts{
      boost::asio::buffer(head_), body ? boost::asio::buffer(*response_.body) : boost::asio::const_buffer()};
  boost::asio::async_write(socket_, parts, [self = shared_from_this()](const error_code& error, std::size_t) {
    self->OnWritten(error);
  });
}

void HttpSession::AppendHead(const serve::Response& response, bool body) {
  head_.assign("HTTP/1.1 ");
  head_.append(std::to_string(response.status)).append(" ").append(serve::Reason(response.status));
  head_.append("\r\n");
  AppendField(head_, "Date", loop_.Date());
  if (!response.content_type.empty() && response.status != 304) {
    AppendField(head_, "Content-Type", response.content_type);
    AppendField(head_, "X-Content-Type-Options", "nosniff");
  }
  for (const auto& [name, value] : response.headers) AppendField(head_, name, value);
  // A HEAD has the length of what GET would have sent; a 304 tells none.
  if (body || response.status != 304) AppendField(head_, "Content-Length", std::to_string(response.bytes()));
  if (!keep_) {
    AppendField(head_, "Connection", "close");
  } else if (http_1_0_) {
    AppendField(head_, "Connection", "keep-alive");
  }
  head_ += "\r\n";
}

void HttpSession::OnWritten(const error_code& error) {
  if (flying_) {
    flying_ = false;
    shared_.in_flight.fetch_sub(1, std::memory_order_relaxed);
  }
  if (state_ == State::kClosed) return;
  if (shared_.observer && !turned_away_) {
    const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
    shared_.observer({response_.route, response_.status, head_only_ ? 0 : response_.bytes(), seconds});
  }
  response_ = serve::Response();
  if (error) return Close();
  if (!keep_ || shared_.stopping) return End();
  Rest(shared_.options.request_deadline_ms * kRestDeadlines);
  Process();
}

// Says that nothing follows, and reads what is still on its way: closing with bytes unread would take the
// answer from the peer.
void HttpSession::End() {
  error_code ignored;
  (void)socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
  if (peer_done_) return Close();
  state_ = State::kEnding;
  Deadline(kEndMs);
  Discard();
}

void HttpSession::Discard() {
  discarded_ += buffer_.size();
  buffer_.consume(buffer_.size());
  if (discarded_ > kDiscardBytesMax) return Close();
  Read();
}

void HttpSession::CheckDeadline(Clock::time_point now) {
  if (now < deadline_ || state_ == State::kClosed) return;
  switch (state_) {
    case State::kWaiting:
      request_.may_wait = false;
      return Ask();
    case State::kReading:
      return Refuse(408, "REQUEST_TIMEOUT", "the request did not arrive in time", "send it at once");
    case State::kResting:
    case State::kWriting:
    case State::kEnding:
    case State::kClosed:
      return Close();
  }
}

void HttpSession::Stopping() {
  if (state_ == State::kResting) return Close();
  if (state_ == State::kWaiting) {
    request_.may_wait = false;
    Ask();
  }
}

void HttpSession::Close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  if (flying_) {
    flying_ = false;
    shared_.in_flight.fetch_sub(1, std::memory_order_relaxed);
  }
  error_code ignored;
  (void)socket_.close(ignored);
  loop_.Remove(*this);
  if (turned_away_) {
    shared_.turning_away.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  if (!counted_) return;
  const std::lock_guard lock(shared_.mutex);
  --shared_.connections;
  shared_.ended.notify_all();
}

}  // namespace etl::internal
