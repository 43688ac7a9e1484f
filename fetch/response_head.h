#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fetch/body_decoder.h"
#include "fetch/transport.h"

namespace etl {

enum class HeadFault : std::uint8_t {
  kNone,
  kTooLarge,  // over the limit
  kCoding,    // a coding that was not asked for, several, or a transfer coding other than chunked
  kProtocol,  // lengths that contradict each other, a length beside chunks, no status line
};

// The head of a response (RFC 9112), line by line: what the transport needs of it.
class ResponseHead {
 public:
  // A validator longer than this is taken for none.
  static constexpr std::size_t kValidatorBytesMax = 1024;

  void Start(std::uint64_t bytes_max);
  // The next line with its line end; interim (1xx) heads and trailers too. Counts all of them.
  HeadFault Line(std::string_view line);

  // Whether the empty line behind a final head was seen.
  bool complete() const { return complete_; }
  int status() const { return status_; }
  // A redirect that says where to.
  bool redirects() const;
  // Whether the body's end is told otherwise than by the end of the connection, or there is none.
  bool has_end() const { return chunked_ || content_length_ || status_ == 304 || status_ == 204; }
  // 5xx or 429: come again later.
  bool busy() const { return status_ == 429 || status_ >= 500; }
  // Whether anybody will look at the body. Faults of its coding are told, and coding() is other than
  // identity, only then.
  bool body_matters() const { return status_ != 304 && !busy() && !redirects(); }
  ContentCoding coding() const { return body_matters() ? coding_ : ContentCoding::kIdentity; }
  std::optional<std::uint64_t> content_length() const { return content_length_; }
  const Validators& validators() const { return validators_; }
  const std::string& location() const { return location_; }        // empty if none
  const std::string& retry_after() const { return retry_after_; }  // empty if none

 private:
  HeadFault Field(std::string_view name, std::string_view value);
  void Coding(std::string_view value);

  std::uint64_t bytes_max_ = 0;
  std::uint64_t bytes_ = 0;
  bool complete_ = false;
  bool chunked_ = false;
  bool coded_ = false, coding_refused_ = false;
  int status_ = 0;
  ContentCoding coding_ = ContentCoding::kIdentity;
  std::optional<std::uint64_t> content_length_;
  Validators validators_;
  bool etag_seen_ = false, last_modified_seen_ = false;
  std::string location_;
  std::string retry_after_;
};

// Whether a validator may stand in a request: not empty, not too long, no control character.
bool IsHeaderValue(std::string_view text);

}  // namespace etl
