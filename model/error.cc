#include "model/error.h"

namespace etl {

std::string_view ToString(Errc errc) noexcept {
  switch (errc) {
    case Errc::kInvalid:
      return "invalid";
    case Errc::kNotFound:
      return "not found";
    case Errc::kUnavailable:
      return "unavailable";
    case Errc::kConflict:
      return "conflict";
    case Errc::kCorrupt:
      return "corrupt";
    case Errc::kStopped:
      return "stopped";
  }
  return "unknown";
}

std::string Error::Message() const {
  std::string out = code;
  if (!where.empty()) out.append(" at ").append(where);
  if (!what.empty()) out.append(": ").append(what);
  if (!fix.empty()) out.append("; ").append(fix);
  return out;
}

}  // namespace etl
