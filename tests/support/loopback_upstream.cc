#include "tests/support/loopback_upstream.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <ctime>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ssl.hpp>
#include <strings.h>

#include "tests/support/loopback_actions.h"
#include "tests/support/loopback_pages.h"
#include "tests/support/loopback_tls.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Tcp = asio::ip::tcp;
using TlsStream = asio::ssl::stream<Tcp::socket>;

constexpr std::size_t kHeadBytesMax = std::size_t{64} << 10;
constexpr auto kTlsGoodbye = std::chrono::seconds(1);  // for the client's own close_notify
constexpr auto kUse = asio::as_tuple(asio::use_awaitable);

bool SameName(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string HttpDate(std::time_t time) {
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[40];
  std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return text;
}

// Whether an If-None-Match names the tag, compared weakly (RFC 9110, section 13.1.2).
bool NamesTag(std::string_view list, std::string_view etag) {
  const std::string_view opaque = etag.substr(etag.starts_with("W/") ? 2 : 0);
  return list == "*" || list.find(opaque) != std::string_view::npos;
}

bool NotModifiedSince(const std::string& date, std::time_t modified) {
  std::tm parts{};
  if (strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts) == nullptr) return false;
  return modified <= timegm(&parts);
}

// Reads a request's head; what has no method and target gives an empty method.
LoopbackRequest ParseHead(std::string_view head, const std::string& prefix) {
  LoopbackRequest request;
  request.when = std::chrono::steady_clock::now();
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const std::size_t first = line.find(' ');
  const std::size_t second = line.find(' ', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return request;
  request.method = line.substr(0, first);
  request.target = line.substr(first + 1, second - first - 1);
  const std::string_view target = request.target;
  if (target.starts_with(prefix) && target.substr(prefix.size()).starts_with('/'))
    request.key = target.substr(prefix.size() + 1);
  for (head.remove_prefix(line.size() + 2); head.size() > 2;) {
    const std::string_view field = head.substr(0, head.find("\r\n"));
    head.remove_prefix(field.size() + 2);
    const std::size_t colon = std::min(field.find(':'), field.size());
    std::string_view value = field.substr(std::min(colon + 1, field.size()));
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
    request.headers.emplace_back(field.substr(0, colon), value);
  }
  return request;
}

bool Matches(std::string_view target, bool is_prefix, const LoopbackRequest& request) {
  const std::string_view seen = target.starts_with('/') ? request.target : request.key;
  return is_prefix ? seen.starts_with(target) : seen == target;
}

}  // namespace

std::string LoopbackRequest::Header(std::string_view name) const {
  for (const auto& [had, value] : headers) {
    if (SameName(had, name)) return value;
  }
  return {};
}

class LoopbackUpstream::Server {
 public:
  explicit Server(LoopbackOptions options)
      : options_(std::move(options)),
        temp_("loopback"),
        tls_(asio::ssl::context::tls_server),
        acceptor_(io_) {
    pages_.OpenFolder(options_.folder);
    pages_.SetLimits({options_.window_rows, options_.limit_max});
    if (options_.tls) PrepareTls();
    const Tcp::endpoint place(asio::ip::address_v4::loopback(), options_.port);
    acceptor_.open(place.protocol());
    acceptor_.set_option(Tcp::acceptor::reuse_address(true));
    acceptor_.bind(place);
    acceptor_.listen();
    port_ = acceptor_.local_endpoint().port();
    asio::co_spawn(io_, Accept(), asio::detached);
    thread_ = std::thread([this] { io_.run(); });
  }

  ~Server() {
    io_.stop();
    thread_.join();
  }

  std::uint16_t port() const { return port_; }
  const LoopbackOptions& options() const { return options_; }
  std::string ca_file() const { return options_.tls ? temp_.File("authority.pem") : std::string(); }

  template <class Change>
  auto Locked(Change change) {
    const std::lock_guard lock(mutex_);
    return change(*this);
  }

  struct Rule {
    LoopbackRule rule;
    int seen = 0;
  };

  // Guarded by mutex_.
  LoopbackPages pages_;
  std::vector<Rule> rules_;
  std::vector<LoopbackRequest> log_;
  std::size_t unlogged_ = 0;
  LoopbackOptions options_;

  std::atomic<std::size_t> accepted_{0}, open_{0};
  std::atomic<std::uint64_t> sent_{0}, received_{0};

 private:
  struct Opened {  // counts a connection while it is there
    explicit Opened(std::atomic<std::size_t>& count) : count_(count) { ++count_; }
    ~Opened() { --count_; }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    std::atomic<std::size_t>& count_;
  };

  void PrepareTls() {
    const LoopbackCertificate made = MakeLoopbackCertificate(options_.tls_names);
    std::ofstream(temp_.File("authority.pem")) << made.authority;
    tls_.use_certificate(asio::buffer(made.certificate), asio::ssl::context::pem);
    tls_.use_private_key(asio::buffer(made.private_key), asio::ssl::context::pem);
    if (!options_.tls_old) return;
    SSL_CTX_set_max_proto_version(tls_.native_handle(), TLS1_1_VERSION);
    SSL_CTX_set_cipher_list(tls_.native_handle(), "DEFAULT:@SECLEVEL=0");  // else it would offer none at all
  }

  asio::awaitable<void> Accept() {
    for (;;) {
      auto [error, socket] = co_await acceptor_.async_accept(kUse);
      if (error) continue;  // out of descriptors, or the client is gone already
      const int number = static_cast<int>(++accepted_);
      error_code ignored;
      socket.set_option(Tcp::no_delay(true), ignored);
      if (options_.tls) {
        asio::co_spawn(io_, ServeTls(TlsStream(std::move(socket), tls_), number), asio::detached);
      } else {
        asio::co_spawn(io_, ServePlain(std::move(socket), number), asio::detached);
      }
    }
  }

  asio::awaitable<void> ServePlain(Tcp::socket socket, int number) {
    const Opened opened(open_);
    co_await Serve(socket, number);
  }

  asio::awaitable<void> ServeTls(TlsStream stream, int number) {
    const Opened opened(open_);
    const auto [error] = co_await stream.async_handshake(asio::ssl::stream_base::server, kUse);
    if (!error) co_await Serve(stream, number);
  }

  template <class Stream>
  asio::awaitable<void> Serve(Stream& stream, int number) {
    std::string buffer;
    for (;;) {
      auto into = asio::dynamic_buffer(buffer, kHeadBytesMax);
      const auto [error, head_bytes] = co_await asio::async_read_until(stream, into, "\r\n\r\n", kUse);
      if (error) co_return;
      received_ += head_bytes;
      LoopbackRequest request = ParseHead(std::string_view(buffer).substr(0, head_bytes), options_.prefix);
      buffer.erase(0, head_bytes);
      request.connection = number;
      const bool is_last = SameName(request.Header("Connection"), "close");
      Wire wire = Answer(std::move(request));
      if (is_last) wire.push_back({WireStep::Kind::kClose, nullptr, 1, 0});
      const bool goes_on = co_await Run(stream, wire);
      if (!goes_on) co_return;
    }
  }

  // What goes over the wire for a request; logs it.
  Wire Answer(LoopbackRequest request) {
    LoopbackAction action;
    LoopbackAnswer usual;
    {
      const std::lock_guard lock(mutex_);
      if (log_.size() < options_.log_max) {
        log_.push_back(request);
      } else {
        ++unlogged_;
      }
      action = DueAction(request);
      usual = Usual(request);
    }
    if (action) return action(request, usual);
    Wire wire = WireOf(usual, Framing::kLength,
                       !options_.keep_alive || SameName(request.Header("Connection"), "close"));
    if (options_.delay_ms > 0)
      wire.insert(wire.begin(), {WireStep::Kind::kPause, nullptr, 1, options_.delay_ms});
    return wire;
  }

  LoopbackAction DueAction(const LoopbackRequest& request) {
    LoopbackAction due;
    for (Rule& rule : rules_) {
      if (!Matches(rule.rule.target, rule.rule.is_prefix, request)) continue;
      const int nth = ++rule.seen;
      const bool is_due =
          nth >= rule.rule.from && (rule.rule.times == 0 || nth - rule.rule.from < rule.rule.times);
      if (is_due && !due) due = rule.rule.action;
    }
    return due;
  }

  LoopbackAnswer Usual(const LoopbackRequest& request) {
    LoopbackAnswer answer;
    answer.is_head = request.method == "HEAD";
    if (request.target == "/robots.txt") {
      answer.status = options_.robots ? 200 : 404;
      answer.headers = {{"Content-Type", "text/plain"}};
      answer.body = std::make_shared<const std::string>(options_.robots.value_or(""));
      return answer;
    }
    answer.headers = {{"Content-Type", "application/json"}};
    if (request.method != "GET" && request.method != "HEAD") {
      answer.status = 405;
      return answer;
    }
    const LoopbackPages::Page& page = pages_.Find(request.key);  // "" is never there
    answer.status = page.status;
    answer.body = page.body;
    if (page.status == 200) AddValidators(request, page.tag, page.modified, answer);
    if (page.status == 200 && options_.gzip) AddCoding(request, answer);
    return answer;
  }

  void AddValidators(const LoopbackRequest& request, const std::string& tag, std::time_t modified,
                     LoopbackAnswer& answer) const {
    using Etag = LoopbackOptions::Etag;
    const std::string asked_tag = request.Header("If-None-Match");
    if (options_.etag != Etag::kNone) {
      const std::string etag = (options_.etag == Etag::kWeak ? "W/\"" : "\"") + tag + '"';
      answer.headers.emplace_back("ETag", etag);
      answer.is_not_modified = !asked_tag.empty() && NamesTag(asked_tag, etag);
    }
    if (options_.last_modified) {
      answer.headers.emplace_back("Last-Modified", HttpDate(modified));
      const std::string asked_date = request.Header("If-Modified-Since");
      if (asked_tag.empty() && !asked_date.empty())
        answer.is_not_modified = NotModifiedSince(asked_date, modified);
    }
  }

  void AddCoding(const LoopbackRequest& request, LoopbackAnswer& answer) {
    answer.headers.emplace_back("Vary", "Accept-Encoding");
    if (request.Header("Accept-Encoding").find("gzip") == std::string::npos) return;
    answer.headers.emplace_back("Content-Encoding", "gzip");
    answer.body = pages_.Gzip(request.key);
  }

  static Tcp::socket& SocketOf(Tcp::socket& socket) { return socket; }
  static Tcp::socket& SocketOf(TlsStream& stream) { return stream.next_layer(); }

  // Whether the connection can take another request.
  template <class Stream>
  asio::awaitable<bool> Run(Stream& stream, const Wire& wire) {
    using Kind = WireStep::Kind;
    for (std::size_t i = 0; i < wire.size(); ++i) {
      const WireStep& step = wire[i];
      switch (step.kind) {
        case Kind::kBytes: {
          const bool sent = co_await Send(stream, wire, i);
          if (!sent) co_return false;
          break;
        }
        case Kind::kPause: {
          asio::steady_timer timer(io_, std::chrono::milliseconds(step.pause_ms));
          co_await timer.async_wait(kUse);
          break;
        }
        case Kind::kSilence:
          co_await Drain(stream);
          co_return false;
        case Kind::kClose:
          co_await SayGoodbye(stream);
          [[fallthrough]];
        case Kind::kCut: {
          error_code ignored;
          SocketOf(stream).shutdown(Tcp::socket::shutdown_send, ignored);
          co_await Drain(SocketOf(stream));
          co_return false;
        }
        case Kind::kReset: {
          error_code ignored;
          SocketOf(stream).set_option(asio::socket_base::linger(true, 0), ignored);
          SocketOf(stream).close(ignored);
          co_return false;
        }
      }
    }
    co_return true;
  }

  // Sends the bytes of step `i`, together with those of the steps after it that are sent once; moves `i` to
  // the last one sent.
  template <class Stream>
  asio::awaitable<bool> Send(Stream& stream, const Wire& wire, std::size_t& i) {
    std::array<asio::const_buffer, 8> buffers{};
    std::size_t count = 0;
    buffers[count++] = asio::buffer(*wire[i].bytes);
    const std::uint64_t times = wire[i].times;
    while (times == 1 && i + 1 < wire.size() && count < buffers.size() &&
           wire[i + 1].kind == WireStep::Kind::kBytes && wire[i + 1].times == 1) {
      buffers[count++] = asio::buffer(*wire[++i].bytes);
    }
    for (std::uint64_t n = 0; n < times; ++n) {
      const auto [error, bytes] = co_await asio::async_write(stream, buffers, kUse);
      sent_ += bytes;
      if (error) co_return false;
    }
    co_return true;
  }

  // Reads until the client goes away, so that closing does not reset what it has not read yet.
  template <class Stream>
  static asio::awaitable<void> Drain(Stream& stream) {
    std::array<char, 4096> ignored{};
    for (;;) {
      const auto [error, bytes] = co_await stream.async_read_some(asio::buffer(ignored), kUse);
      if (error) co_return;
    }
  }

  static asio::awaitable<void> SayGoodbye(Tcp::socket& /*socket*/) { co_return; }
  asio::awaitable<void> SayGoodbye(TlsStream& stream) {
    using namespace asio::experimental::awaitable_operators;  // NOLINT: operators have no other way in
    asio::steady_timer timer(io_, kTlsGoodbye);
    co_await (stream.async_shutdown(kUse) || timer.async_wait(kUse));
  }

  TempDir temp_;
  std::mutex mutex_;
  asio::io_context io_{1};
  asio::ssl::context tls_;
  Tcp::acceptor acceptor_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

LoopbackUpstream::LoopbackUpstream(LoopbackOptions options)
    : server_(std::make_unique<Server>(std::move(options))) {}
LoopbackUpstream::~LoopbackUpstream() = default;

std::uint16_t LoopbackUpstream::port() const {
  return server_->port();
}
std::string LoopbackUpstream::origin() const {
  return (server_->options().tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port());
}
std::string LoopbackUpstream::base_url() const {
  return origin() + server_->options().prefix;
}
std::string LoopbackUpstream::ca_file() const {
  return server_->ca_file();
}

void LoopbackUpstream::Put(std::string_view key, std::string body) {
  server_->Locked([&](Server& server) { server.pages_.Put(key, std::move(body)); });
}
void LoopbackUpstream::Remove(std::string_view key) {
  server_->Locked([&](Server& server) { server.pages_.Remove(key); });
}
void LoopbackUpstream::SetRobots(std::optional<std::string> body) {
  server_->Locked([&](Server& server) { server.options_.robots = std::move(body); });
}
void LoopbackUpstream::SetWindow(std::int64_t window_rows) {
  server_->Locked([&](Server& server) {
    server.options_.window_rows = window_rows;
    server.pages_.SetLimits({window_rows, server.options_.limit_max});
  });
}
void LoopbackUpstream::SetFolder(const std::string& folder) {
  server_->Locked([&](Server& server) { server.pages_.OpenFolder(folder); });
}

void LoopbackUpstream::Script(LoopbackRule rule) {
  server_->Locked([&](Server& server) { server.rules_.push_back({std::move(rule), 0}); });
}
void LoopbackUpstream::Always(std::string_view target, LoopbackAction action) {
  Script({std::string(target), false, 1, 0, std::move(action)});
}
void LoopbackUpstream::Nth(std::string_view target, int nth, LoopbackAction action) {
  Script({std::string(target), false, nth, 1, std::move(action)});
}
void LoopbackUpstream::First(std::string_view target, int times, LoopbackAction action) {
  Script({std::string(target), false, 1, times, std::move(action)});
}
void LoopbackUpstream::AlwaysUnder(std::string_view target_prefix, LoopbackAction action) {
  Script({std::string(target_prefix), true, 1, 0, std::move(action)});
}
void LoopbackUpstream::ClearScripts() {
  server_->Locked([](Server& server) { server.rules_.clear(); });
}

std::vector<LoopbackRequest> LoopbackUpstream::log() const {
  return server_->Locked([](Server& server) { return server.log_; });
}
std::size_t LoopbackUpstream::count() const {
  return server_->Locked([](Server& server) { return server.log_.size() + server.unlogged_; });
}
std::size_t LoopbackUpstream::CountOf(std::string_view target) const {
  return server_->Locked([&](Server& server) {
    return static_cast<std::size_t>(
        std::count_if(server.log_.begin(), server.log_.end(),
                      [&](const LoopbackRequest& request) { return Matches(target, false, request); }));
  });
}
void LoopbackUpstream::ClearLog() {
  server_->Locked([](Server& server) {
    server.log_.clear();
    server.unlogged_ = 0;
  });
}
std::size_t LoopbackUpstream::connections() const {
  return server_->accepted_;
}
std::size_t LoopbackUpstream::open_connections() const {
  return server_->open_;
}
std::uint64_t LoopbackUpstream::bytes_sent() const {
  return server_->sent_;
}
std::uint64_t LoopbackUpstream::bytes_received() const {
  return server_->received_;
}

}  // namespace etl::test
