#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "fetch/transfer.h"
#include "fetch/waiting.h"

namespace etl {

// libcurl's multi interface, driven by one Asio executor: sends requests, keeps connections open between
// them, enforces the deadlines of each attempt. Everything belongs to the executor's one thread; the
// destructor wants no request under way.
class Wire {
 public:
  Wire(const boost::asio::any_io_executor& executor, WireOptions options);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // One attempt. Never throws for what the network does. A cancelled ticket ends it with the code STOPPED.
  boost::asio::awaitable<WireAnswer> Send(const WireRequest& request, Ticket& ticket);

 private:
  struct Watch;
  struct Active;
  struct Callbacks;

  void End(Transfer* transfer, int curl_code);
  void Act(int socket, int events);
  void Arm(const std::shared_ptr<Watch>& watch);
  void OnSocket(int socket, int what);
  void OnTimer(long timeout_ms);
  void Sweep();

  boost::asio::any_io_executor executor_;
  WireOptions options_;
  boost::asio::steady_timer timer_;  // curl's own
  boost::asio::steady_timer sweep_;  // the deadlines
  bool sweeping_ = false;
  void* multi_;
  std::map<int, std::shared_ptr<Watch>> watches_;
  std::vector<Active> active_;
  std::vector<std::unique_ptr<Transfer>> idle_;
};

}  // namespace etl
