#include "daemon/listen.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

namespace etl {
namespace {

struct SocketName {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

bool Parse(const std::string& text, std::uint16_t port, SocketName& out) {
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&out.storage);
  if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    out.bytes = sizeof(sockaddr_in);
    return true;
  }
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(&out.storage);
  if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) != 1) return false;
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(port);
  out.bytes = sizeof(sockaddr_in6);
  return true;
}

std::string Joined(const std::string& address, std::uint16_t port) {
  const bool v6 = address.find(':') != std::string::npos;
  return (v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

tl::unexpected<Error> Refused(const std::string& where, int error) {
  if (error == EADDRINUSE)
    return Fail(Errc::kConflict, "SERVE_IN_USE", where, "another process listens on this port",
                "stop it (`ss -ltnp` shows which it is), or set another [serve] listen_port");
  return Fail(Errc::kInvalid, "SERVE_ADDRESS", where, std::strerror(error),
              error == EACCES ? "set [serve] listen_port to 1024 or above"
                              : "set [serve] listen_address to an address of this machine");
}

}  // namespace

ListeningSocket& ListeningSocket::operator=(ListeningSocket&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.Release();
  }
  return *this;
}

ListeningSocket::~ListeningSocket() {
  if (fd_ >= 0) ::close(fd_);
}

std::uint16_t ListeningSocket::Port() const {
  SocketName own;
  own.bytes = sizeof(own.storage);
  if (fd_ < 0 || ::getsockname(fd_, own.get(), &own.bytes) != 0) return 0;
  if (own.storage.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in*>(&own.storage)->sin_port);
  if (own.storage.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<sockaddr_in6*>(&own.storage)->sin6_port);
  return 0;
}

std::string ListeningSocket::Address() const {
  SocketName own;
  own.bytes = sizeof(own.storage);
  if (fd_ < 0 || ::getsockname(fd_, own.get(), &own.bytes) != 0) return {};
  char text[INET6_ADDRSTRLEN] = {};
  const void* const bits =
      own.storage.ss_family == AF_INET
          ? static_cast<const void*>(&reinterpret_cast<sockaddr_in*>(&own.storage)->sin_addr)
          : static_cast<const void*>(&reinterpret_cast<sockaddr_in6*>(&own.storage)->sin6_addr);
  if (own.storage.ss_family != AF_INET && own.storage.ss_family != AF_INET6) return {};
  if (::inet_ntop(own.storage.ss_family, bits, text, sizeof(text)) == nullptr) return {};
  return Joined(text, Port());
}

Result<ListeningSocket> ListenOn(const std::string& address, std::uint16_t port) {
  const std::string where = Joined(address, port);
  SocketName own;
  if (!Parse(address, port, own)) return Refused(where, EINVAL);
  ListeningSocket socket(::socket(own.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.fd() < 0) return Refused(where, errno);
  const int on = 1;
  (void)::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(socket.fd(), own.get(), own.bytes) != 0) return Refused(where, errno);
  if (::listen(socket.fd(), SOMAXCONN) != 0) return Refused(where, errno);
  return socket;
}

ListeningSocket TakeInherited(std::string_view name) {
  char** names = nullptr;
  const int count = ::sd_listen_fds_with_names(0, &names);
  ListeningSocket found;
  for (int i = 0; i < count; ++i) {
    const int fd = SD_LISTEN_FDS_START + i;
    if (found.fd() < 0 && name == names[i] && ::sd_is_socket(fd, AF_UNSPEC, SOCK_STREAM, 1) > 0)
      found = ListeningSocket(fd);
    std::free(names[i]);
  }
  std::free(names);
  return found;
}

}  // namespace etl
