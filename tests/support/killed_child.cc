#include "tests/support/killed_child.h"

#include <cstdlib>
#include <ctime>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace etl::test {

bool KilledWhile(const std::function<void(const std::function<void()>& tick)>& work, std::uint64_t ticks,
                 unsigned delay_us) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    std::uint64_t seen = 0;
    work([&] {
      if (++seen == ticks && write(ends[1], "x", 1) != 1) _exit(1);
    });
    _exit(0);
  }
  close(ends[1]);
  char byte = 0;
  if (read(ends[0], &byte, 1) == 1) {
    const timespec delay{0, static_cast<long>(delay_us) * 1000};
    nanosleep(&delay, nullptr);
    kill(child, SIGKILL);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

int CrashRounds() {
  const char* rounds = std::getenv("ETL_CRASH_ROUNDS");
  return rounds == nullptr ? 20 : std::atoi(rounds);
}

}  // namespace etl::test
