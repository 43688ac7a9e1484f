#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"

namespace etl {

// What goes over the control socket: HTTP/1.1 (RFC 9112) on a UNIX socket. One request, POST /v1/command,
// carries a command line of etlctl and what its terminal is like; the answer is a chunked body of frames, in
// the order in which the command wrote them, that ends with its exit status. A body that ends without it was
// cut off.

inline constexpr std::string_view kControlTarget = "/v1/command";
inline constexpr std::size_t kControlBodyBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kControlArgumentsMax = 4096;
inline constexpr std::size_t kControlFrameBytesMax = std::size_t{256} << 10;

struct ControlCall {
  std::vector<std::string> arguments;  // without the program's name
  std::string store_dir;               // the store that is meant, absolute
  std::string directory;               // that relative paths start from, absolute
  bool data_is_terminal = false, talk_is_terminal = false, color = false;
  std::int64_t columns = 80;  // of the talk terminal

  // {"arguments":[...],"directory":"/home/me","store":"/srv/etld","terminal":{"color":false,"columns":80,"data":false,"talk":true}}
  std::string Json() const;
  // Errors: kInvalid CONTROL_REQUEST, `where` the member.
  static Result<ControlCall> Parse(std::string_view json);
};

struct ControlFrame {
  enum class Kind : char { kData = 'd', kTalk = 't', kExit = 'x' };
  Kind kind = Kind::kData;
  std::string bytes;  // of an exit: the status in decimal
};

// One byte of kind, four of length (big-endian), the bytes; more than kControlFrameBytesMax become several.
void AppendFrames(std::string& out, ControlFrame::Kind kind, std::string_view bytes);

// Takes frames apart as bytes arrive.
class FrameReader {
 public:
  void Append(std::string_view bytes) { buffer_.append(bytes); }
  // The next whole frame, or nothing yet. Errors: kInvalid CONTROL_FRAME: no such kind, or too long.
  Result<std::optional<ControlFrame>> Next();

 private:
  std::string buffer_;
};

}  // namespace etl
