#include "daemon/notify.h"

#include <ctime>

#include <systemd/sd-daemon.h>

namespace etl::notify {
namespace {

void Send(const std::string& state) {
  (void)sd_notify(0, state.c_str());
}

// A status is one line of the message; what follows a line break would be another assignment.
std::string Line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

}  // namespace

void Ready(const std::string& status) {
  Send("READY=1\nSTATUS=" + Line(status));
}

void Status(const std::string& status) {
  Send("STATUS=" + Line(status));
}

void Reloading() {
  struct timespec now {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t usec = std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
  Send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(usec));
}

void Stopping() {
  Send("STOPPING=1");
}

void ExtendTimeout(std::int64_t ms) {
  Send("EXTEND_TIMEOUT_USEC=" + std::to_string(ms * 1000));
}

void Watchdog() {
  Send("WATCHDOG=1");
}

std::int64_t WatchdogMs() {
  std::uint64_t usec = 0;
  return sd_watchdog_enabled(0, &usec) > 0 ? static_cast<std::int64_t>(usec / 1000) : 0;
}

}  // namespace etl::notify
