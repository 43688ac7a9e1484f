#include "tests/support/http_client.h"

#include <array>
#include <cctype>
#include <cstdlib>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace etl::test {

std::string HttpAnswer::code() const {
  constexpr std::string_view kMember = "\"code\":\"";
  const std::size_t at = body.find(kMember);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kMember.size();
  return body.substr(begin, body.find('"', begin) - begin);
}

HttpClient::HttpClient(std::uint16_t port) {
  fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{20, 0};
  (void)::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  (void)::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) {
    ::close(fd_);
    fd_ = -1;
  }
}

HttpClient::~HttpClient() {
  if (fd_ >= 0) ::close(fd_);
}

bool HttpClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void HttpClient::EndSending() {
  (void)::shutdown(fd_, SHUT_WR);
}

bool HttpClient::More() {
  std::array<char, 16384> chunk;
  const ssize_t got = ::recv(fd_, chunk.data(), chunk.size(), 0);
  if (got <= 0) return false;
  pending_.append(chunk.data(), static_cast<std::size_t>(got));
  return true;
}

std::optional<HttpAnswer> HttpClient::Read(bool head) {
  std::size_t end = 0;
  while ((end = pending_.find("\r\n\r\n")) == std::string::npos)
    if (!More()) return std::nullopt;
  HttpAnswer answer;
  std::string_view lines = std::string_view(pending_).substr(0, end + 2);
  answer.status = std::atoi(std::string(lines.substr(9, 3)).c_str());
  lines.remove_prefix(lines.find("\r\n") + 2);
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find("\r\n"));
    lines.remove_prefix(line.size() + 2);
    const std::size_t colon = line.find(": ");
    std::string name(line.substr(0, colon));
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    answer.headers[name] = std::string(line.substr(colon + 2));
  }
  pending_.erase(0, end + 4);
  const auto length = answer.headers.find("content-length");
  const std::size_t bytes =
      head || length == answer.headers.end() ? 0 : std::strtoull(length->second.c_str(), nullptr, 10);
  while (pending_.size() < bytes)
    if (!More()) return std::nullopt;
  answer.body = pending_.substr(0, bytes);
  pending_.erase(0, bytes);
  return answer;
}

bool HttpClient::ClosedByPeer() {
  if (!pending_.empty()) return false;
  char byte = 0;
  return ::recv(fd_, &byte, 1, 0) == 0;
}

std::optional<HttpAnswer> HttpClient::Get(std::string_view target, std::string_view fields) {
  std::string request("GET ");
  request.append(target).append(" HTTP/1.1\r\nHost: test\r\n").append(fields).append("\r\n");
  if (!Send(request)) return std::nullopt;
  return Read();
}

std::optional<HttpAnswer> HttpGet(std::uint16_t port, std::string_view target, std::string_view fields) {
  HttpClient client(port);
  return client.Get(target, fields);
}

}  // namespace etl::test
