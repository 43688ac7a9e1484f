#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/error.h"

namespace etl {

// A socket that listens, owned: closed when this goes.
class ListeningSocket {
 public:
  ListeningSocket() = default;
  explicit ListeningSocket(int fd) : fd_(fd) {}
  ListeningSocket(ListeningSocket&& other) noexcept : fd_(other.Release()) {}
  ListeningSocket& operator=(ListeningSocket&& other) noexcept;
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;
  ~ListeningSocket();

  int fd() const { return fd_; }
  int Release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  // "127.0.0.1:8417", "[::1]:8417"; empty for what is no TCP socket.
  std::string Address() const;
  std::uint16_t Port() const;  // 0 for what is no TCP socket

 private:
  int fd_ = -1;
};

// Listens on a numeric IPv4 or IPv6 address; port 0: any that is free. Errors: kConflict SERVE_IN_USE (the
// port is taken), kInvalid SERVE_ADDRESS (no address of this machine, or a port that it may not use).
Result<ListeningSocket> ListenOn(const std::string& address, std::uint16_t port);

// The socket that the service manager listens on for this process under a name (sd_listen_fds(3)), or none.
// It is taken once.
ListeningSocket TakeInherited(std::string_view name);

}  // namespace etl
