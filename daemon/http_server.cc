#include "daemon/http_server.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <spdlog/fmt/fmt.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/http_session.h"

namespace etl {
namespace {

using boost::system::error_code;
using internal::HttpLoop;
using internal::HttpSession;
using Tcp = boost::asio::ip::tcp;

constexpr std::size_t kTurnedAwayMax = 64;  // told so at once; more are closed without a word
constexpr std::int64_t kAcceptPauseMs = 100;

class Server final : public HttpServer {
 public:
  Server(ListeningSocket socket, const HttpOptions& options, HttpHandler handler, HttpVersion version,
         HttpObserver observer)
      : port_(socket.Port()) {
    shared_.options = options;
    shared_.handler = std::move(handler);
    shared_.version = std::move(version);
    shared_.observer = std::move(observer);
    shared_.id_prefix = fmt::format("{:08x}-", std::random_device()());
    for (unsigned i = 0; i < std::max(options.threads, 1U); ++i)
      loops_.push_back(std::make_unique<HttpLoop>(shared_));
    acceptor_.emplace(loops_.front()->io);
    pause_.emplace(loops_.front()->io);
    fd_ = std::move(socket);
  }

  ~Server() override {
    (void)Stop(0);
    for (const auto& loop : loops_) loop->io.stop();
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

  Status Open() {
    error_code error;
    sockaddr_storage own{};
    socklen_t bytes = sizeof(own);
    (void)::getsockname(fd_.fd(), reinterpret_cast<sockaddr*>(&own), &bytes);
    (void)acceptor_->assign(own.ss_family == AF_INET6 ? Tcp::v6() : Tcp::v4(), fd_.fd(), error);
    if (error)
      return Fail(Errc::kInvalid, "SERVE_ADDRESS", fd_.Address(), error.message(), "set [serve] listen_port");
    (void)fd_.Release();
    (void)acceptor_->non_blocking(true, error);
    Accept();
    try {
      for (const auto& loop : loops_) threads_.emplace_back([&io = loop->io] { Run(io); });
    } catch (const std::system_error& thrown) {
      return Fail(Errc::kUnavailable, "SERVE_THREADS", "", thrown.what(), "raise the limit on threads");
    }
    return {};
  }

  bool Stop(std::int64_t wait_ms) override {
    if (!shared_.stopping.exchange(true)) {
      boost::asio::post(loops_.front()->io, [this] {
        error_code ignored;
        (void)acceptor_->close(ignored);
        pause_->cancel();
      });
      for (const auto& loop : loops_) boost::asio::post(loop->io, [&loop] { loop->Stopping(); });
    }
    std::unique_lock lock(shared_.mutex);
    const auto none = [this] { return shared_.connections == 0; };
    if (shared_.ended.wait_for(lock, std::chrono::milliseconds(wait_ms), none)) return true;
    // Those that are left do not read their answer, or their handler still runs.
    for (const auto& loop : loops_) boost::asio::post(loop->io, [&loop] { loop->CloseAll(); });
    return shared_.ended.wait_for(lock, std::chrono::milliseconds(kAcceptPauseMs), none);
  }

  std::uint16_t port() const override { return port_; }
  std::size_t connections() const override {
    const std::lock_guard lock(shared_.mutex);
    return shared_.connections;
  }
  std::size_t in_flight() const override { return shared_.in_flight.load(); }
  std::uint64_t accepted() const override { return shared_.accepted.load(); }
  std::uint64_t turned_away() const override { return shared_.turned_away.load(); }

 private:
  // Nothing of ours throws there, but a library might run out of memory: the connection that met it is left
  // to its deadline, and the others go on.
  static void Run(boost::asio::io_context& io) {
    const auto work = boost::asio::make_work_guard(io);
    for (;;) {
      try {
        io.run();
        return;
      } catch (const std::exception&) {
        continue;
      }
    }
  }

  void Accept() {
    HttpLoop& loop = *loops_[next_++ % loops_.size()];
    acceptor_->async_accept(loop.io, [this, &loop](const error_code& error, Tcp::socket socket) {
      if (shared_.stopping) return;
      if (error) return Pause();
      Take(std::move(socket), loop);
      Accept();
    });
  }

  // Out of descriptors, most likely: what waits stays in the queue.
  void Pause() {
    pause_->expires_after(std::chrono::milliseconds(kAcceptPauseMs));
    pause_->async_wait([this](const error_code& error) {
      if (!error && !shared_.stopping) Accept();
    });
  }

  void Take(Tcp::socket socket, HttpLoop& loop) {
    shared_.accepted.fetch_add(1, std::memory_order_relaxed);
    bool room = false;
    {
      const std::lock_guard lock(shared_.mutex);
      room = shared_.connections < shared_.options.connections_max;
      if (room) ++shared_.connections;
    }
    if (!room) {
      shared_.turned_away.fetch_add(1, std::memory_order_relaxed);
      if (shared_.turning_away.fetch_add(1) >= kTurnedAwayMax) {
        shared_.turning_away.fetch_sub(1);
        return;  // the socket closes
      }
    }
    auto session = std::make_shared<HttpSession>(std::move(socket), loop);
    boost::asio::post(loop.io, [session = std::move(session), room] {
      if (room) {
        session->Start();
      } else {
        session->TurnAway();
      }
    });
  }

  internal::HttpShared shared_;
  std::vector<std::unique_ptr<HttpLoop>> loops_;
  std::optional<Tcp::acceptor> acceptor_;  // on the first loop, like the pause
  std::optional<boost::asio::steady_timer> pause_;
  ListeningSocket fd_;
  std::uint16_t port_;
  std::size_t next_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Start(ListeningSocket socket, const HttpOptions& options,
                                                      HttpHandler handler, HttpVersion version,
                                                      HttpObserver observer) {
  auto server = std::make_unique<Server>(std::move(socket), options, std::move(handler), std::move(version),
                                         std::move(observer));
  ETL_CHECK_OK(server->Open());
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace etl
