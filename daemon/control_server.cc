#include "daemon/control_server.h"

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace etl {
namespace {

namespace http = boost::beast::http;
using Socket = boost::asio::local::stream_protocol::socket;
using Acceptor = boost::asio::local::stream_protocol::acceptor;
using Endpoint = boost::asio::local::stream_protocol::endpoint;
using boost::system::error_code;

constexpr std::size_t kHeaderBytesMax = std::size_t{16} << 10;
constexpr int kWatchMs = 50;            // how soon a session sees that its caller is gone
constexpr std::int64_t kGraceMs = 500;  // for a command that was told to stop to say its last words

tl::unexpected<Error> SocketError(const std::string& path, const std::string& what) {
  return Fail(Errc::kUnavailable, "CONTROL_SOCKET", path, what,
              "make its folder and give it to the user that runs etld, or set [control] socket");
}

std::string ProblemJson(int status, std::string_view code, std::string_view what) {
  std::string out = R"({"code":")";
  out.append(code).append(R"(","status":)").append(std::to_string(status)).append(R"(,"what":")");
  return out.append(what).append("\"}\n");
}

// One connection, served with blocking calls on its own thread: there are few, and each may run a command for
// minutes.
class Session final : public ControlSession {
 public:
  Session(Socket socket, const ControlOptions& options, const ControlHandler& handler,
          const std::atomic<bool>& stopping)
      : socket_(std::move(socket)), options_(options), handler_(handler), stopping_(stopping) {}

  const ControlCall& call() const override { return call_; }
  const Peer& peer() const override { return peer_; }
  Access access() const override { return access_; }
  const std::atomic<bool>& stop() const override { return stop_; }

  bool Write(ControlFrame::Kind kind, std::string_view bytes) override {
    const std::lock_guard lock(writing_);
    if (gone_) return false;
    std::string frames;
    AppendFrames(frames, kind, bytes);
    error_code error;
    boost::asio::write(socket_, http::make_chunk(boost::asio::buffer(frames)), error);
    gone_ = gone_ || error;
    return !gone_;
  }

  void Serve() {
    std::thread watch([this] { Watch(); });
    Answer();
    done_ = true;
    watch.join();
  }

  void RefuseBusy() { Refuse(http::status::service_unavailable, "CONTROL_BUSY", "too many commands run"); }

 private:
  void Answer() {
    const auto peer = PeerOf(socket_.native_handle());
    if (!peer) return Refuse(http::status::forbidden, "CONTROL_PEER", "it cannot be told who asks");
    peer_ = *peer;
    access_ = AccessOf(peer_, options_.access);
    if (access_ == Access::kNone)
      return Refuse(http::status::forbidden, "CONTROL_FORBIDDEN", "neither root nor in a group that may ask");
    boost::beast::flat_buffer buffer;
    http::request_parser<http::string_body> parser;
    parser.body_limit(kControlBodyBytesMax);
    parser.header_limit(kHeaderBytesMax);
    error_code error;
    http::read(socket_, buffer, parser, error);
    if (error == http::error::body_limit)
      return Refuse(http::status::payload_too_large, "CONTROL_REQUEST", "the body is too long");
    if (error) return Refuse(http::status::bad_request, "CONTROL_REQUEST", "no complete HTTP request");
    const auto& request = parser.get();
    if (request.target() != kControlTarget)
      return Refuse(http::status::not_found, "CONTROL_TARGET", "only POST /v1/command is answered");
    if (request.method() != http::verb::post)
      return Refuse(http::status::method_not_allowed, "CONTROL_METHOD", "only POST is answered");
    auto call = ControlCall::Parse(request.body());
    if (!call) return Refuse(http::status::bad_request, "CONTROL_REQUEST", "the body is no command");
    call_ = *std::move(call);
    asked_ = true;
    Run();
  }

  void Refuse(http::status status, std::string_view code, std::string_view what) {
    http::response<http::string_body> response(status, 11);
    response.set(http::field::content_type, "application/problem+json");
    response.body() = ProblemJson(static_cast<int>(status), code, what);
    response.keep_alive(false);
    response.prepare_payload();
    error_code error;
    http::write(socket_, response, error);
  }

  void Run() {
    http::response<http::empty_body> head(http::status::ok, 11);
    head.set(http::field::content_type, "application/vnd.etld.frames");
    head.chunked(true);
    head.keep_alive(false);
    http::response_serializer<http::empty_body> serializer(head);
    error_code error;
    http::write_header(socket_, serializer, error);
    if (error) return;
    const int exit = handler_(*this);
    (void)Write(ControlFrame::Kind::kExit, std::to_string(exit));
    const std::lock_guard lock(writing_);
    if (!gone_) boost::asio::write(socket_, http::make_chunk_last(), error);
  }

  // Tells the command when nobody waits for it any more, and ends what waits for the caller: a request that
  // does not arrive in time, and bytes that nobody reads when the daemon stops. (Blocking calls of Asio heed
  // no timeout of the socket.)
  void Watch() {
    using std::chrono::steady_clock;
    const auto deadline = steady_clock::now() + std::chrono::milliseconds(options_.request_deadline_ms);
    std::optional<steady_clock::time_point> last_words;
    while (!done_) {
      struct pollfd ready {
        socket_.native_handle(), POLLRDHUP, 0
      };
      const bool gone =
          ::poll(&ready, 1, kWatchMs) > 0 && (ready.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
      const auto now = steady_clock::now();
      if (gone || stopping_) stop_ = true;
      if (stopping_ && !last_words) last_words = now + std::chrono::milliseconds(kGraceMs);
      if (gone || (!asked_ && now > deadline) || (last_words && now > *last_words)) {
        ::shutdown(socket_.native_handle(), SHUT_RDWR);
        return;
      }
    }
  }

  Socket socket_;
  const ControlOptions& options_;
  const ControlHandler& handler_;
  const std::atomic<bool>& stopping_;
  ControlCall call_;
  Peer peer_;
  Access access_ = Access::kNone;
  std::atomic<bool> stop_{false}, asked_{false}, done_{false};
  std::mutex writing_;
  bool gone_ = false;
};

class Server final : public ControlServer {
 public:
  Server(const ControlOptions& options, ControlHandler handler)
      : options_(options), handler_(std::move(handler)), acceptor_(io_) {}
  ~Server() override { (void)Stop(60'000); }

  Status Open() {
    const std::string& path = options_.path;
    error_code error;
    const Endpoint endpoint = [&] {
      try {
        return Endpoint(path);
      } catch (const boost::system::system_error& thrown) {
        error = thrown.code();
        return Endpoint();
      }
    }();
    if (error) return SocketError(path, error.message());
    Socket probe(io_);
    (void)probe.connect(endpoint, error);
    if (!error)
      return Fail(Errc::kConflict, "CONTROL_IN_USE", path, "another process answers on the control socket",
                  "stop it, or set another [control] socket");
    if (error == boost::asio::error::connection_refused) ::unlink(path.c_str());
    (void)acceptor_.open(endpoint.protocol(), error);
    if (!error) (void)acceptor_.bind(endpoint, error);
    if (error) return SocketError(path, error.message());
    bound_ = true;
    if (::chmod(path.c_str(), 0666) != 0) return SocketError(path, "its mode cannot be set");
    (void)acceptor_.listen(boost::asio::socket_base::max_listen_connections, error);
    if (error) return SocketError(path, error.message());
    accepting_ = std::thread([this] { Accept(); });
    return {};
  }

  bool Stop(std::int64_t wait_ms) override {
    if (!stopping_.exchange(true)) {
      if (accepting_.joinable()) accepting_.join();
      error_code ignored;
      (void)acceptor_.close(ignored);
      if (bound_) ::unlink(options_.path.c_str());
    }
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, std::chrono::milliseconds(wait_ms), [this] { return running_ == 0; });
  }

  std::size_t sessions() const override {
    const std::lock_guard lock(mutex_);
    return running_;
  }

 private:
  void Accept() {
    while (!stopping_) {
      struct pollfd ready {
        acceptor_.native_handle(), POLLIN, 0
      };
      if (::poll(&ready, 1, kWatchMs) <= 0) continue;
      error_code error;
      Socket socket(io_);
      (void)acceptor_.accept(socket, error);
      if (error) {
        // Out of descriptors, most likely: what waits stays in the queue.
        std::this_thread::sleep_for(std::chrono::milliseconds(kWatchMs));
        continue;
      }
      Start(std::move(socket));
    }
  }

  void Start(Socket socket) {
    auto session = std::make_shared<Session>(std::move(socket), options_, handler_, stopping_);
    {
      const std::lock_guard lock(mutex_);
      if (running_ >= options_.sessions_max) {
        session->RefuseBusy();
        return;
      }
      ++running_;
    }
    std::thread([this, session = std::move(session)]() mutable {
      session->Serve();
      session.reset();
      const std::lock_guard lock(mutex_);
      --running_;
      ended_.notify_all();
    }).detach();  // counted by running_, which Stop waits for
  }

  ControlOptions options_;
  ControlHandler handler_;
  boost::asio::io_context io_;
  Acceptor acceptor_;
  bool bound_ = false;
  std::atomic<bool> stopping_{false};
  std::thread accepting_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t running_ = 0;
};

}  // namespace

Result<std::unique_ptr<ControlServer>> ControlServer::Listen(const ControlOptions& options,
                                                             ControlHandler handler) {
  auto server = std::make_unique<Server>(options, std::move(handler));
  ETL_CHECK_OK(server->Open());
  return std::unique_ptr<ControlServer>(std::move(server));
}

}  // namespace etl
