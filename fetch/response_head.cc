#include "fetch/response_head.h"

#include <algorithm>
#include <charconv>

#include "fetch/ascii.h"

namespace etl {
namespace {

// A field that came twice with different values tells nothing.
void TakeOnce(std::string& target, bool& seen, std::string_view value) {
  const bool usable = IsHeaderValue(value) && (!seen || target == value);
  target = usable ? value : std::string_view();
  seen = true;
}

}  // namespace

bool IsHeaderValue(std::string_view text) {
  return !text.empty() && text.size() <= ResponseHead::kValidatorBytesMax &&
         std::none_of(text.begin(), text.end(), [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return (byte < 0x20 && c != '\t') || byte == 0x7F;
         });
}

void ResponseHead::Start(std::uint64_t bytes_max) {
  *this = ResponseHead();
  bytes_max_ = bytes_max;
}

HeadFault ResponseHead::Line(std::string_view line) {
  bytes_ += line.size();
  if (bytes_ > bytes_max_) return HeadFault::kTooLarge;
  if (complete_) return HeadFault::kNone;  // a trailer
  if (line.starts_with("HTTP/")) {
    // A new head, after interim ones: nothing of theirs counts.
    const std::uint64_t bytes = bytes_;
    Start(bytes_max_);
    bytes_ = bytes;
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string_view rest = Trim(line.substr(space));
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), status_);
    if (error != std::errc() || end != rest.data() + 3 || status_ < 100) return HeadFault::kProtocol;
    return HeadFault::kNone;
  }
  if (Trim(line).empty()) {
    complete_ = status_ >= 200;
    // A length beside chunks is how answers are smuggled past who reads the other (RFC 9112, 6.3).
    if (complete_ && chunked_ && content_length_) return HeadFault::kProtocol;
    return complete_ && coding_refused_ && body_matters() ? HeadFault::kCoding : HeadFault::kNone;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return HeadFault::kNone;
  return Field(line.substr(0, colon), Trim(line.substr(colon + 1)));
}

bool ResponseHead::redirects() const {
  return !location_.empty() &&
         (status_ == 301 || status_ == 302 || status_ == 303 || status_ == 307 || status_ == 308);
}

void ResponseHead::Coding(std::string_view value) {
  if (value.empty() || SameName(value, "identity")) return;
  if (SameName(value, "gzip") || SameName(value, "x-gzip")) {
    coding_ = ContentCoding::kGzip;
  } else if (SameName(value, "deflate")) {
    coding_ = ContentCoding::kDeflate;
  } else {
    coding_refused_ = true;  // also a list: codings do not nest here
  }
  coding_refused_ = coding_refused_ || coded_;
  coded_ = true;
}

HeadFault ResponseHead::Field(std::string_view name, std::string_view value) {
  if (SameName(name, "Content-Length")) {
    std::uint64_t length = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
    if (error != std::errc() || end != value.data() + value.size()) return HeadFault::kProtocol;
    if (content_length_ && *content_length_ != length) return HeadFault::kProtocol;
    content_length_ = length;
  } else if (SameName(name, "Content-Encoding")) {
    Coding(value);
  } else if (SameName(name, "Transfer-Encoding")) {
    chunked_ = SameName(value, "chunked");
    return chunked_ ? HeadFault::kNone : HeadFault::kCoding;
  } else if (SameName(name, "ETag")) {
    TakeOnce(validators_.etag, etag_seen_, value);
  } else if (SameName(name, "Last-Modified")) {
    TakeOnce(validators_.last_modified, last_modified_seen_, value);
  } else if (SameName(name, "Location")) {
    location_ = value;
  } else if (SameName(name, "Retry-After")) {
    retry_after_ = value;
  }
  return HeadFault::kNone;
}

}  // namespace etl
