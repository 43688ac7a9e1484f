#pragma once

#include <cstdint>
#include <string>

namespace etl {

// Tells the service manager how the daemon is (sd_notify(3), through libsystemd). Where none listens
// (NOTIFY_SOCKET is not set), nothing happens. Any thread; never blocks for long, never fails: a manager that
// does not hear us judges by what it does hear.
namespace notify {

void Ready(const std::string& status);
void Status(const std::string& status);  // one line, shown by `systemctl status`
void Reloading();                        // Ready follows
void Stopping();
void ExtendTimeout(std::int64_t ms);  // start-up or stop takes this much longer
void Watchdog();

// The time in which the manager wants to hear Watchdog (WATCHDOG_USEC); 0: it does not.
std::int64_t WatchdogMs();

}  // namespace notify
}  // namespace etl
