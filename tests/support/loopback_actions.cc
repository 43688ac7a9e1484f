#include "tests/support/loopback_actions.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <limits>
#include <memory>

#include <strings.h>

namespace etl::test {
namespace {

using Kind = WireStep::Kind;

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
constexpr std::uint64_t kForEver = std::numeric_limits<std::uint64_t>::max();

std::shared_ptr<const std::string> Share(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

WireStep Bytes(std::string text) {
  return {Kind::kBytes, Share(std::move(text)), 1, 0};
}
WireStep Step(Kind kind) {
  return {kind, nullptr, 1, 0};
}
WireStep Pause(int pause_ms) {
  return {Kind::kPause, nullptr, 1, pause_ms};
}

// `text` `times` times, in pieces that are worth a system call.
void AppendRepeated(Wire& wire, const std::string& text, std::uint64_t times) {
  if (text.empty() || times == 0) return;
  const std::uint64_t together = std::min(std::max(kPieceBytes / text.size(), std::size_t{1}), times);
  std::string piece;
  for (std::uint64_t i = 0; i < together; ++i) piece += text;
  wire.push_back({Kind::kBytes, Share(std::move(piece)), times / together, 0});
  if (times % together > 0) wire.push_back({Kind::kBytes, Share(text), times % together, 0});
}

std::string_view ReasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Other";
  }
}

bool HasBody(int status) {
  return status >= 200 && status != 204 && status != 304;
}

std::string Hex(std::size_t number) {
  char text[16];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number, 16);
  return {text, end};
}

int StatusOf(const LoopbackAnswer& answer) {
  return answer.is_not_modified ? 304 : answer.status;
}

// The head, with the length that is told, if one is.
std::string HeadOf(const LoopbackAnswer& answer, Framing framing, bool is_last, std::uint64_t told_bytes) {
  const int status = StatusOf(answer);
  std::string head = "HTTP/1.1 " + std::to_string(status) + " ";
  head.append(ReasonOf(status)).append("\r\n");
  for (const auto& [name, value] : answer.headers)
    head.append(name).append(": ").append(value).append("\r\n");
  if (HasBody(status) && framing == Framing::kLength)
    head += "Content-Length: " + std::to_string(told_bytes) + "\r\n";
  if (HasBody(status) && framing == Framing::kChunked) head += "Transfer-Encoding: chunked\r\n";
  if (is_last || framing == Framing::kClose) head += "Connection: close\r\n";
  return head + "\r\n";
}

void SetHeader(Headers& headers, const std::string& name, std::string value) {
  std::erase_if(headers, [&](const auto& had) { return strcasecmp(had.first.c_str(), name.c_str()) == 0; });
  headers.emplace_back(name, std::move(value));
}

LoopbackAnswer InFull(const LoopbackAnswer& usual) {
  LoopbackAnswer answer = usual;
  answer.is_not_modified = false;
  answer.is_head = false;
  return answer;
}

LoopbackAnswer WithBody(const LoopbackAnswer& usual, std::string body) {
  LoopbackAnswer answer = InFull(usual);
  answer.body = Share(std::move(body));
  return answer;
}

}  // namespace

Wire WireOf(const LoopbackAnswer& answer, Framing framing, bool is_last) {
  Wire wire;
  wire.push_back(Bytes(HeadOf(answer, framing, is_last, answer.body->size())));
  if (HasBody(StatusOf(answer)) && !answer.is_head) {
    const bool is_chunked = framing == Framing::kChunked;
    const bool is_empty = answer.body->empty();
    if (is_chunked && !is_empty) wire.push_back(Bytes(Hex(answer.body->size()) + "\r\n"));
    if (!is_empty) wire.push_back({Kind::kBytes, answer.body, 1, 0});
    if (is_chunked) wire.push_back(Bytes(is_empty ? "0\r\n\r\n" : "\r\n0\r\n\r\n"));
  }
  if (is_last || framing == Framing::kClose) wire.push_back(Step(Kind::kClose));
  return wire;
}

std::string WireBytes(const LoopbackAnswer& answer, Framing framing) {
  std::string text;
  for (const WireStep& step : WireOf(answer, framing)) {
    if (step.kind == Kind::kBytes) text += *step.bytes;
  }
  return text;
}

LoopbackAction CutBody(std::size_t bytes, Framing framing, bool cut_tls) {
  return [=](const LoopbackRequest&, const LoopbackAnswer& usual) {
    const LoopbackAnswer answer = InFull(usual);
    std::string text = HeadOf(answer, framing, false, answer.body->size());
    if (framing == Framing::kChunked) text += Hex(answer.body->size()) + "\r\n";
    text += answer.body->substr(0, bytes);
    return Wire{Bytes(std::move(text)), Step(cut_tls ? Kind::kCut : Kind::kClose)};
  };
}

LoopbackAction CutWire(std::size_t bytes, Framing framing) {
  return [=](const LoopbackRequest&, const LoopbackAnswer& usual) {
    return Wire{Bytes(WireBytes(InFull(usual), framing).substr(0, bytes)), Step(Kind::kClose)};
  };
}

LoopbackAction WrongLength(std::int64_t difference) {
  return [=](const LoopbackRequest&, const LoopbackAnswer& usual) {
    const LoopbackAnswer answer = InFull(usual);
    const std::int64_t told =
        std::max<std::int64_t>(0, static_cast<std::int64_t>(answer.body->size()) + difference);
    std::string text = HeadOf(answer, Framing::kLength, false, static_cast<std::uint64_t>(told));
    return Wire{Bytes(text + *answer.body), Step(Kind::kClose)};
  };
}

LoopbackAction ReplyFramed(Framing framing) {
  return [=](const LoopbackRequest&, const LoopbackAnswer& usual) { return WireOf(InFull(usual), framing); };
}

LoopbackAction CutTls(Framing framing) {
  return [=](const LoopbackRequest&, const LoopbackAnswer& usual) {
    Wire wire = WireOf(InFull(usual), framing);
    std::erase_if(wire, [](const WireStep& step) { return step.kind == Kind::kClose; });
    wire.push_back(Step(Kind::kCut));
    return wire;
  };
}

LoopbackAction SlowFirstByte(int pause_ms) {
  return [=](const LoopbackRequest&, const LoopbackAnswer& usual) {
    Wire wire = WireOf(usual);
    wire.insert(wire.begin(), Pause(pause_ms));
    return wire;
  };
}

LoopbackAction Drip(std::size_t piece_bytes, int pause_ms) {
  return [=](const LoopbackRequest&, const LoopbackAnswer& usual) {
    const std::string text = WireBytes(usual);
    Wire wire;
    for (std::size_t at = 0; at < text.size(); at += std::max<std::size_t>(piece_bytes, 1)) {
      wire.push_back(Pause(pause_ms));
      wire.push_back(Bytes(text.substr(at, std::max<std::size_t>(piece_bytes, 1))));
    }
    return wire;
  };
}

LoopbackAction Silence() {
  return [](const LoopbackRequest&, const LoopbackAnswer&) { return Wire{Step(Kind::kSilence)}; };
}

LoopbackAction SilenceAfter(std::size_t bytes) {
  return [=](const LoopbackRequest&, const LoopbackAnswer& usual) {
    return Wire{Bytes(WireBytes(usual).substr(0, bytes)), Step(Kind::kSilence)};
  };
}

LoopbackAction Reset() {
  return [](const LoopbackRequest&, const LoopbackAnswer&) { return Wire{Step(Kind::kReset)}; };
}

LoopbackAction ResetAfter(std::size_t bytes) {
  return [=](const LoopbackRequest&, const LoopbackAnswer& usual) {
    // The pause lets the bytes arrive: a reset throws away what the client has not read.
    return Wire{Bytes(WireBytes(usual).substr(0, bytes)), Pause(20), Step(Kind::kReset)};
  };
}

LoopbackAction CloseAtOnce() {
  return [](const LoopbackRequest&, const LoopbackAnswer&) { return Wire{Step(Kind::kClose)}; };
}

LoopbackAction NamedCoding(std::string coding) {
  return [=](const LoopbackRequest&, const LoopbackAnswer& usual) {
    LoopbackAnswer answer = InFull(usual);
    SetHeader(answer.headers, "Content-Encoding", coding);
    return WireOf(answer);
  };
}

LoopbackAction Redirect(int status, std::string location) {
  return [=](const LoopbackRequest&, const LoopbackAnswer&) {
    LoopbackAnswer answer;
    answer.status = status;
    answer.headers = {{"Location", location}};
    return WireOf(answer);
  };
}

LoopbackAction RedirectToItself(int status) {
  return [=](const LoopbackRequest& request, const LoopbackAnswer&) {
    LoopbackAnswer answer;
    answer.status = status;
    answer.headers = {{"Location", request.target}};
    return WireOf(answer);
  };
}

LoopbackAction NotModified(Headers headers) {
  return [=](const LoopbackRequest&, const LoopbackAnswer&) {
    LoopbackAnswer answer;
    answer.status = 304;
    answer.headers = headers;
    return WireOf(answer);
  };
}

LoopbackAction UsualInFull() {
  return [](const LoopbackRequest&, const LoopbackAnswer& usual) { return WireOf(InFull(usual)); };
}

LoopbackAction FlappingEtag() {
  const auto number = std::make_shared<std::atomic<int>>(0);
  return [=](const LoopbackRequest&, const LoopbackAnswer& usual) {
    LoopbackAnswer answer = InFull(usual);
    SetHeader(answer.headers, "ETag", "\"flap-" + std::to_string(++*number) + "\"");
    return WireOf(answer);
  };
}

LoopbackAction WithHeaders(Headers headers) {
  return [=](const LoopbackRequest&, const LoopbackAnswer& usual) {
    LoopbackAnswer answer = usual;
    for (const auto& [name, value] : headers) SetHeader(answer.headers, name, value);
    return WireOf(answer);
  };
}

LoopbackAction Reply(int status, Headers headers, std::string body) {
  return [=, shared = Share(std::move(body))](const LoopbackRequest&, const LoopbackAnswer&) {
    LoopbackAnswer answer;
    answer.status = status;
    answer.headers = headers;
    answer.body = shared;
    return WireOf(answer);
  };
}

LoopbackAction Reply(int status, std::string body) {
  return Reply(status, {}, std::move(body));
}

LoopbackAction Substitute(std::string body) {
  return [=](const LoopbackRequest&, const LoopbackAnswer& usual) { return WireOf(WithBody(usual, body)); };
}

LoopbackAction HugeHeader(std::size_t bytes) {
  return [=](const LoopbackRequest& request, const LoopbackAnswer& usual) {
    return WithHeaders({{"X-Huge", std::string(bytes, 'h')}})(request, usual);
  };
}

LoopbackAction EndlessHeaders() {
  return [](const LoopbackRequest&, const LoopbackAnswer&) {
    Wire wire{Bytes("HTTP/1.1 200 OK\r\n")};
    AppendRepeated(wire, "X-Endless: " + std::string(100, 'e') + "\r\n", kForEver);
    return wire;
  };
}

LoopbackAction ManyHeaders(std::size_t count) {
  return [=](const LoopbackRequest&, const LoopbackAnswer& usual) {
    LoopbackAnswer answer = usual;
    for (std::size_t i = 0; i < count; ++i) answer.headers.emplace_back("X-Many-" + std::to_string(i), "m");
    return WireOf(answer);
  };
}

LoopbackAction BodyOf(std::uint64_t bytes, Framing framing) {
  return [=](const LoopbackRequest&, const LoopbackAnswer&) {
    Wire wire{Bytes(HeadOf({}, framing, false, bytes))};
    const std::string piece(kPieceBytes, ' ');
    const std::string rest(bytes % kPieceBytes, ' ');
    if (framing == Framing::kChunked) {
      AppendRepeated(wire, Hex(piece.size()) + "\r\n" + piece + "\r\n", bytes / kPieceBytes);
      if (!rest.empty()) wire.push_back(Bytes(Hex(rest.size()) + "\r\n" + rest + "\r\n"));
      wire.push_back(Bytes("0\r\n\r\n"));
    } else {
      AppendRepeated(wire, piece, bytes / kPieceBytes);
      AppendRepeated(wire, rest, 1);
      if (framing == Framing::kClose) wire.push_back(Step(Kind::kClose));
    }
    return wire;
  };
}

LoopbackAction Raw(std::string bytes) {
  return [=](const LoopbackRequest&, const LoopbackAnswer&) {
    return Wire{Bytes(bytes), Step(Kind::kClose)};
  };
}

}  // namespace etl::test
