#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace etl::test {

// One answer as it came.
struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  std::string code() const;  // of problem details; empty for other answers
};

// A blocking connection to a port of this machine that sends what it is told, right or wrong. Waits at most
// 20 seconds for anything, then answers as if the peer had closed.
class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  bool connected() const { return fd_ >= 0; }
  // False when the peer takes no more.
  bool Send(std::string_view bytes);
  void EndSending();  // half a close
  // The next answer, or nothing when the connection ends before it is complete. `head`: it has no body,
  // whatever its length says.
  std::optional<HttpAnswer> Read(bool head = false);
  // Whether the peer closes without another byte.
  bool ClosedByPeer();
  // GET with a Host field; more fields end with CRLF each.
  std::optional<HttpAnswer> Get(std::string_view target, std::string_view fields = {});

 private:
  bool More();
  int fd_ = -1;
  std::string pending_;
};

// One GET on a connection of its own.
std::optional<HttpAnswer> HttpGet(std::uint16_t port, std::string_view target, std::string_view fields = {});

}  // namespace etl::test
