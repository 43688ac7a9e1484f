#include "fetch/http_error.h"

#include <utility>

namespace etl {
namespace {

struct Entry {
  std::string_view code;
  bool repeated;
  bool host_failure;
  std::string_view fix;
};

constexpr std::string_view kLater = "nothing is lost; it is asked again at the next visit";

constexpr Entry kEntries[] = {
    {"HTTP_RESOLVE", true, true, "check the host's name and this machine's name lookup"},
    {"HTTP_CONNECT", true, true, "check that the host can be reached from here"},
    {"HTTP_TIMEOUT_CONNECT", true, true,
     "check that the host can be reached from here, or raise fetch.connect"},
    {"HTTP_TIMEOUT_IDLE", true, true, kLater},
    {"HTTP_TIMEOUT", false, true, "ask for less at once, or raise fetch.whole"},
    {"HTTP_RESET", true, true, kLater},
    {"HTTP_TRUNCATED", true, true, kLater},
    {"HTTP_BUSY", true, true, "wait; if it lasts, lower fetch.requests_per_second"},
    {"HTTP_BREAKER_OPEN", false, false, "wait; it is tried again by itself"},
    {"HTTP_TLS", false, true, "check this machine's time and certificates, and the base URL"},
    {"HTTP_PROTOCOL", false, false, "check that the base URL is that of a web server"},
    {"HTTP_304_UNASKED", false, false, kLater},
    {"HTTP_TOO_LARGE", false, false, "raise the limit if the answer is genuine"},
    {"HTTP_DECODE_RATIO", false, false, "raise the limit if the answer is genuine"},
    {"HTTP_CODING", false, false, kLater},
    {"HTTP_HEADERS_TOO_LARGE", false, false, "raise the limit if the answer is genuine"},
    {"HTTP_REDIRECTS", false, false, "set the base URL to where it leads"},
    {"HTTP_REDIRECT_FORBIDDEN", false, false, "if the place is genuine, add its host to the allowed hosts"},
    {"HTTP_ADDRESS_FORBIDDEN", false, false,
     "check the name lookup of the host: it leads into a private network"},
    {"ROBOTS_DISALLOWED", false, false, "ask the site for permission, or leave this out"},
    {"HTTP_KEY", false, false, "ask for a relative path without dot segments"},
    {"STOPPED", false, false, ""},
};

const Entry* Find(std::string_view code) {
  for (const Entry& entry : kEntries) {
    if (entry.code == code) return &entry;
  }
  return nullptr;
}

}  // namespace

Error HttpError(std::string_view code, std::string where, std::string what) {
  const Entry* const entry = Find(code);
  const Errc errc = code == "HTTP_KEY"  ? Errc::kInvalid
                    : code == "STOPPED" ? Errc::kStopped
                                        : Errc::kUnavailable;
  return Error{errc, std::string(code), std::move(where), std::move(what),
               std::string(entry == nullptr ? kLater : entry->fix)};
}

bool IsRepeated(std::string_view code) {
  const Entry* const entry = Find(code);
  return entry != nullptr && entry->repeated;
}

bool IsHostFailure(std::string_view code) {
  const Entry* const entry = Find(code);
  return entry != nullptr && entry->host_failure;
}

}  // namespace etl
