#include "tests/support/etld_process.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace etl::test {
namespace {

constexpr int kLookMs = 10;

int NotifySocket(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw std::runtime_error("the folder's path is too long: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ::unlink(path.c_str());
  if (::bind(fd, reinterpret_cast<struct sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("cannot bind " + path);
  return fd;
}

}  // namespace

EtldProcess::EtldProcess(EtldOptions options) : options_(std::move(options)) {
  const std::string socket = options_.dir + "/notify", config = options_.dir + "/etld.toml",
                    log = options_.dir + "/log";
  notify_ = NotifySocket(socket);
  if (!options_.settings.empty()) std::ofstream(config) << options_.settings;
  std::vector<std::string> arguments{options_.program, "--config", config};
  arguments.insert(arguments.end(), options_.arguments.begin(), options_.arguments.end());
  arguments.insert(arguments.begin(), options_.wrapper.begin(), options_.wrapper.end());
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::setenv("NOTIFY_SOCKET", socket.c_str(), 1);
  ::unsetenv("ETL_STORE");
  ::unsetenv("ETL_CONTACT");
  for (const auto& [name, value] : options_.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (::getenv("WATCHDOG_USEC") != nullptr) ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(out, STDERR_FILENO);
  ::dup2(out, STDOUT_FILENO);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

EtldProcess::~EtldProcess() {
  if (!Ended()) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(notify_);
}

void EtldProcess::Signal(int signal) const {
  ::kill(pid_, signal);
}

bool EtldProcess::Ended() {
  if (ended_) return true;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
  ended_ = true;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

void EtldProcess::ReadNotifications(int wait_ms) {
  struct pollfd ready {
    notify_, POLLIN, 0
  };
  while (::poll(&ready, 1, wait_ms) > 0) {
    std::array<char, 4096> text{};
    const ssize_t size = ::recv(notify_, text.data(), text.size(), MSG_DONTWAIT);
    if (size > 0) notifications_.emplace_back(text.data(), static_cast<std::size_t>(size));
    wait_ms = 0;
  }
}

bool EtldProcess::Until(const std::function<bool()>& holds) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(kHangMs);
  for (;;) {
    if (holds()) return true;
    if (Ended() || std::chrono::steady_clock::now() > give_up) return holds();
    ReadNotifications(kLookMs);
  }
}

int EtldProcess::Wait() {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(kHangMs);
  while (!Ended()) {
    if (std::chrono::steady_clock::now() > give_up) return -1;
    ReadNotifications(kLookMs);
  }
  ReadNotifications(0);
  return status_;
}

bool EtldProcess::Notified(std::string_view prefix) {
  return Until([&] {
    ReadNotifications(0);
    for (const std::string& n : notifications_)
      if (n.starts_with(prefix)) return true;
    return false;
  });
}

std::string EtldProcess::Log() const {
  std::ifstream file(options_.dir + "/log");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string EtldSettings(const std::string& dir, const std::string& base_url, const std::string& more) {
  std::ostringstream out;
  out << "[store]\ndir = \"" << dir << "/store\"\n"
      << "[control]\nsocket = \"" << dir << "/control\"\n"
      << "[serve]\nlisten_port = 0\n"
      << "[disk]\nreserve_bytes = 1048576\n"
      << "[fetch]\ncontact = \"tests@example.org\"\nrequests_per_second = 0\nretries_max = 0\n"
      << "[poll]\ninterval_min_s = 0.1\ninterval_max_s = 0.2\n"
      << "[source.sol-execbench]\nbase_url = \"" << base_url << "\"\n"
      << more;
  return out.str();
}

}  // namespace etl::test
