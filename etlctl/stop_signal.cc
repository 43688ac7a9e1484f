#include "etlctl/stop_signal.h"

#include <csignal>

namespace etl::ctl {
namespace {

std::atomic<bool> g_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch what needs no lock");

void OnSignal(int) {
  g_stop.store(true);
}

void Install(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignal::StopSignal() {
  g_stop.store(false);
  // SA_RESETHAND cannot be had without its clang warning; it is an int by POSIX.
  constexpr int kOnce = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  Install(SIGINT, OnSignal, kOnce);
  Install(SIGTERM, OnSignal, kOnce);
  Install(SIGPIPE, SIG_IGN, 0);
}

StopSignal::~StopSignal() {
  Install(SIGINT, SIG_DFL, 0);
  Install(SIGTERM, SIG_DFL, 0);
  Install(SIGPIPE, SIG_DFL, 0);
}

const std::atomic<bool>* StopSignal::flag() const {
  return &g_stop;
}

}  // namespace etl::ctl
