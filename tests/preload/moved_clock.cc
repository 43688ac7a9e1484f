// Preloaded into a program under test, moves its wall clock by the whole seconds that the file named by
// MOVED_CLOCK_FILE holds, read anew each time. Steady clocks and timers are left alone. (libfaketime 0.9.10
// also shifts the absolute times that timerfd_settime is given, which turns those of Asio into errors.)
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

long OffsetS() {
  const char* path = std::getenv("MOVED_CLOCK_FILE");
  const int fd = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[32] = {};
  const ssize_t size = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  return size > 0 ? std::strtol(text, nullptr, 10) : 0;
}

using ClockGettime = int (*)(clockid_t, struct timespec*);

int Real(clockid_t clock, struct timespec* at) {
  static const auto next = reinterpret_cast<ClockGettime>(::dlsym(RTLD_NEXT, "clock_gettime"));
  return next(clock, at);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, struct timespec* at) {
  const int result = Real(clock, at);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) at->tv_sec += OffsetS();
  return result;
}

int gettimeofday(struct timeval* at, void*) {
  struct timespec now {};
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  *at = {now.tv_sec, now.tv_nsec / 1000};
  return result;
}

time_t time(time_t* at) {
  struct timespec now {};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  if (at != nullptr) *at = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
