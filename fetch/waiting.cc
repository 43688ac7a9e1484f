#include "fetch/waiting.h"

#include <chrono>
#include <memory>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace etl {
namespace asio = boost::asio;

void Ticket::Cancel() {
  cancelled_ = true;
  if (wake_) wake_();
}

Ticket::Wait::Wait(Ticket& ticket, std::function<void()> wake) : ticket_(ticket) {
  ticket_.wake_ = std::move(wake);
}

void Signal::Set() {
  if (std::exchange(set_, true)) return;
  if (resume_) Resume();
}

void Signal::Resume() {
  // Posted, so that who sets a signal is done with its own work before the waiter goes on.
  asio::post(executor_, std::exchange(resume_, nullptr));
}

asio::awaitable<void> Signal::Wait() {
  return asio::async_initiate<const asio::use_awaitable_t<>, void()>(
      [this](auto handler) {
        // The handler can only be moved, and std::function wants to copy.
        auto shared = std::make_shared<decltype(handler)>(std::move(handler));
        resume_ = [shared] { std::move (*shared)(); };
        if (set_) Resume();
      },
      asio::use_awaitable);
}

asio::awaitable<bool> Gate::Enter(Ticket& ticket, bool ahead) {
  if (ticket.cancelled()) co_return false;
  if (places_ > 0) {
    --places_;
    co_return true;
  }
  Signal signal(executor_);
  const auto self = line_.insert(ahead ? line_.begin() : line_.end(), Waiter{&signal});
  {
    const Ticket::Wait wait(ticket, [&signal] { signal.Set(); });
    co_await signal.Wait();
  }
  const bool inside = self->inside;
  line_.erase(self);
  if (!inside) co_return false;
  if (!ticket.cancelled()) co_return true;
  Leave();
  co_return false;
}

void Gate::Leave() {
  for (Waiter& waiter : line_) {
    if (waiter.inside) continue;  // was let in, and has not run yet
    waiter.inside = true;
    waiter.signal->Set();
    return;
  }
  ++places_;
}

asio::awaitable<void> Sleep(std::int64_t duration_ms, Ticket& ticket) {
  if (ticket.cancelled()) co_return;
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor, std::chrono::milliseconds(duration_ms));
  const Ticket::Wait wait(ticket, [&timer] { timer.cancel(); });
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

}  // namespace etl
