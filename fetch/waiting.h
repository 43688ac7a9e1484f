#pragma once

#include <cstdint>
#include <functional>
#include <list>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

// How the coroutines of one network thread wait: everything here belongs to that thread.
namespace etl {

// What stands for one request while it is under way, so that it can be stopped wherever it waits. At most one
// wait at a time.
class Ticket {
 public:
  bool cancelled() const { return cancelled_; }
  // Wakes the wait under way; later waits end at once.
  void Cancel();

  // Registers how to wake the wait that is about to begin.
  class Wait {
   public:
    Wait(Ticket& ticket, std::function<void()> wake);
    ~Wait() { ticket_.wake_ = nullptr; }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    Ticket& ticket_;
  };

 private:
  bool cancelled_ = false;
  std::function<void()> wake_;
};

// Something that happens once, and one coroutine that waits for it.
class Signal {
 public:
  explicit Signal(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  void Set();
  boost::asio::awaitable<void> Wait();

 private:
  void Resume();

  boost::asio::any_io_executor executor_;
  std::function<void()> resume_;
  bool set_ = false;
};

// Lets a number of coroutines in at a time, the others wait in line.
class Gate {
 public:
  Gate(boost::asio::any_io_executor executor, int places) : executor_(std::move(executor)), places_(places) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // True once inside; the caller then owes a Leave(). False if the ticket was cancelled. `ahead`: before
  // those that wait already.
  boost::asio::awaitable<bool> Enter(Ticket& ticket, bool ahead);
  void Leave();

 private:
  struct Waiter {
    Signal* signal;
    bool inside = false;
  };
  boost::asio::any_io_executor executor_;
  int places_;
  std::list<Waiter> line_;
};

// Calls Gate::Leave() at the end of its scope.
class Inside {
 public:
  explicit Inside(Gate& gate) : gate_(&gate) {}
  ~Inside() { Leave(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  void Leave() {
    if (gate_ != nullptr) gate_->Leave();
    gate_ = nullptr;
  }

 private:
  Gate* gate_;
};

// Ends after this long, or when the ticket is cancelled.
boost::asio::awaitable<void> Sleep(std::int64_t duration_ms, Ticket& ticket);

}  // namespace etl
