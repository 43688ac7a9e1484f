#include "daemon/control_message.h"

#include <algorithm>
#include <utility>

#include "model/json.h"
#include "model/json_writer.h"

namespace etl {
namespace {

constexpr std::size_t kFrameHeadBytes = 5;
constexpr std::int64_t kColumnsMin = 20, kColumnsMax = 10'000;

tl::unexpected<Error> Bad(std::string where, std::string what) {
  return Fail(Errc::kInvalid, "CONTROL_REQUEST", std::move(where), std::move(what),
              "use the etlctl of the same version as the daemon");
}

}  // namespace

std::string ControlCall::Json() const {
  std::string terminal;
  json::ObjectWriter(terminal)
      .Bool("color", color)
      .Integer("columns", columns)
      .Bool("data", data_is_terminal)
      .Bool("talk", talk_is_terminal)
      .End();
  std::string out;
  json::ObjectWriter(out)
      .Raw("arguments", json::TextArray(arguments))
      .Text("directory", directory)
      .Text("store", store_dir)
      .Raw("terminal", terminal)
      .End();
  return out;
}

Result<ControlCall> ControlCall::Parse(std::string_view text) {
  const auto document = json::Document::Parse(text);
  if (!document) return Bad("body", document.error().Message());
  const json::Value root = document->root();
  const json::Value arguments = root.Find("arguments"), terminal = root.Find("terminal");
  if (!arguments.IsArray()) return Bad("arguments", "is not a list");
  if (arguments.size() > kControlArgumentsMax) return Bad("arguments", "has too many elements");
  ControlCall call;
  for (const json::Value argument : arguments.elements()) {
    if (!argument.IsString()) return Bad("arguments", "has an element that is no text");
    call.arguments.emplace_back(argument.AsString());
    if (call.arguments.back().find('\0') != std::string::npos)
      return Bad("arguments", "has an element with a NUL character");
  }
  if (!root.Find("store").IsString()) return Bad("store", "is not a text");
  call.store_dir = root.Find("store").AsString();
  call.directory = root.Find("directory").AsString();
  if (!terminal.IsObject()) return Bad("terminal", "is not an object");
  call.color = terminal.Find("color").IsTrue();
  call.data_is_terminal = terminal.Find("data").IsTrue();
  call.talk_is_terminal = terminal.Find("talk").IsTrue();
  call.columns =
      std::clamp(terminal.Find("columns").AsInt64().value_or(call.columns), kColumnsMin, kColumnsMax);
  return call;
}

void AppendFrames(std::string& out, ControlFrame::Kind kind, std::string_view bytes) {
  do {
    const std::size_t size = std::min(bytes.size(), kControlFrameBytesMax);
    out += static_cast<char>(kind);
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((size >> shift) & 0xff);
    out.append(bytes.substr(0, size));
    bytes.remove_prefix(size);
  } while (!bytes.empty());
}

Result<std::optional<ControlFrame>> FrameReader::Next() {
  if (buffer_.size() < kFrameHeadBytes) return std::optional<ControlFrame>();
  const char kind = buffer_[0];
  std::size_t size = 0;
  for (std::size_t i = 1; i < kFrameHeadBytes; ++i) size = size << 8 | static_cast<unsigned char>(buffer_[i]);
  if ((kind != 'd' && kind != 't' && kind != 'x') || size > kControlFrameBytesMax)
    return Fail(Errc::kInvalid, "CONTROL_FRAME", "",
                "what answers on the control socket does not speak our language",
                "use the etlctl of the same version as the daemon");
  if (buffer_.size() < kFrameHeadBytes + size) return std::optional<ControlFrame>();
  ControlFrame frame{static_cast<ControlFrame::Kind>(kind), buffer_.substr(kFrameHeadBytes, size)};
  buffer_.erase(0, kFrameHeadBytes + size);
  return std::optional<ControlFrame>(std::move(frame));
}

}  // namespace etl
