#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace etl::test {

// The etld program in a process of its own, with a service manager's notification socket that the test reads.
// Everything it needs (settings, store, control socket) is in one folder. Waits give up after kHangMs, which
// only a hang takes. The destructor kills what still runs.
struct EtldOptions {
  std::string program;   // path of etld
  std::string dir;       // made by the caller, short enough for a socket's path
  std::string settings;  // the whole file; empty: none is written and --config names it all the same
  std::vector<std::string> arguments;
  std::vector<std::string> wrapper;  // a program that runs it, with its arguments
  std::vector<std::pair<std::string, std::string>> environment;
};

class EtldProcess {
 public:
  static constexpr int kHangMs = 60'000;

  explicit EtldProcess(EtldOptions options);
  ~EtldProcess();
  EtldProcess(const EtldProcess&) = delete;
  EtldProcess& operator=(const EtldProcess&) = delete;

  void Signal(int signal) const;
  // Its exit status, or 128 and the signal that ended it; -1: it hangs.
  int Wait();
  // Waits until a notification has come that starts with this; false: the process ended, or hangs.
  bool Notified(std::string_view prefix);
  const std::vector<std::string>& notifications() const { return notifications_; }
  // Waits until this holds, looking again and again; false: the process ended, or hangs.
  bool Until(const std::function<bool()>& holds);
  // What it wrote to standard error.
  std::string Log() const;
  pid_t pid() const { return pid_; }

 private:
  bool Ended();
  void ReadNotifications(int wait_ms);

  EtldOptions options_;
  int notify_ = -1;
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
  std::vector<std::string> notifications_;
};

// A settings file for a daemon in `dir` that follows the upstream at `base_url`, polling as fast as it may;
// `more` goes behind it.
std::string EtldSettings(const std::string& dir, const std::string& base_url, const std::string& more = {});

}  // namespace etl::test
