#include <utility>

#include "fetch/exchange.h"
#include "fetch/http_error.h"

namespace etl {

namespace asio = boost::asio;

namespace {

// After a failure the last good copy serves this long before the host is asked again.
constexpr std::int64_t kRobotsRetryMs = 10 * 60 * 1000;

}  // namespace

void Exchange::TakeRobots(Host& host, RobotsCopy copy) {
  host.rules = copy.absent ? RobotsRules() : RobotsRules::Parse(copy.text, "etld");
  host.robots = std::move(copy);
}

void Exchange::LoadRobotsOnce(Host& host) {
  if (std::exchange(host.robots_loaded, true)) return;
  const std::string file = StateFile("robots", host.at);
  if (file.empty()) return;
  if (auto copy = LoadRobots(file)) TakeRobots(host, *std::move(copy));
}

// Whether what is there may be used without asking.
bool Exchange::RobotsKnown(const Host& host) {
  const Instant now = clock_.Now();
  if (!host.robots) return false;
  if (IsFresh(*host.robots, now)) return true;
  return host.robots_failure && host.robots_failed <= now && now.ms - host.robots_failed.ms < kRobotsRetryMs;
}

asio::awaitable<Status> Exchange::CheckRobots(Host& host, const Url& url, Ticket& ticket, bool ahead) {
  LoadRobotsOnce(host);
  if (!RobotsKnown(host)) {
    // Of those that come while it is being read, all share what came of it.
    const std::uint64_t readings = host.robots_readings;
    const bool entered = co_await host.robots_reading.Enter(ticket, ahead);
    if (!entered) co_return Fail(HttpError("STOPPED", "", "asked to stop"));
    const Inside inside(host.robots_reading);
    if (host.robots_readings == readings) co_await ReadRobots(host, ticket, ahead);
    if (ticket.cancelled()) co_return Fail(HttpError("STOPPED", "", "asked to stop"));
    if (!host.robots) co_return Fail(*host.robots_failure);
  }
  if (host.rules.Allows(url.target)) co_return Status();
  co_return Fail(HttpError("ROBOTS_DISALLOWED", url.Text(), "robots.txt of the host forbids it"));
}

// Afterwards host.robots is as good as it can be; where it is still empty, host.robots_failure says why.
asio::awaitable<void> Exchange::ReadRobots(Host& host, Ticket& ticket, bool ahead) {
  Url url = host.at;
  url.target = "/robots.txt";
  const std::string where = url.Text();
  WireRequest request;
  request.kept_bytes_max = RobotsRules::kBytesMax;
  Result<WireAnswer> answer = co_await Follow(url, request, true, ticket, ahead);
  if (ticket.cancelled()) co_return;  // nothing was learnt; the next in line asks itself
  ++host.robots_readings;
  host.robots_failure.reset();
  RobotsCopy copy;
  copy.read = clock_.Now();
  if (answer && answer->head.status() >= 200 && answer->head.status() < 300) {
    copy.text = std::move(answer->body);
  } else if (answer && answer->head.status() >= 400) {
    copy.absent = true;
  } else {
    host.robots_failed = copy.read;
    const bool unsaid = answer || answer.error().code == "HTTP_BUSY";
    host.robots_failure =
        unsaid ? HttpError("ROBOTS_DISALLOWED", where,
                           "robots.txt cannot be had" + (answer ? "" : ": " + answer.error().what))
               : answer.error();
    co_return;
  }
  const std::string file = StateFile("robots", host.at);
  if (!file.empty()) {
    const Status saved = SaveRobots(file, copy);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!saved)
      report_.last_error = saved.error().Message();  // it is asked for again after a restart, no more
  }
  TakeRobots(host, std::move(copy));
}

}  // namespace etl
