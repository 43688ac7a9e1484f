#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/error.h"

namespace etl {

// A moment in UTC, whole milliseconds since 1970-01-01T00:00:00Z, no leap seconds.
struct Instant {
  std::int64_t ms = 0;

  friend auto operator<=>(const Instant&, const Instant&) = default;
  // "2026-08-18T18:15:52.587Z"; years 0001 to 9999.
  std::string Text() const;
};

// Reads a source's time: ISO 8601 date and time ("T" or one space between), seconds optional, any number of
// fraction digits up to 9 (finer than milliseconds are cut, not rounded), then nothing (UTC), "Z", or an
// offset +hh:mm, +hhmm or +hh, which is converted. Errors (kInvalid): INSTANT_PATTERN for another shape,
// INSTANT_RANGE for a day, hour, offset or year (outside 0001..9999) that does not exist, a leap second
// (":60") included.
Result<Instant> ParseSourceInstant(std::string_view text);

// Reads only the canonical form with exactly three fraction digits and "Z". Errors as above.
Result<Instant> ParseCanonicalInstant(std::string_view text);

// Where time comes from. Passed in, never global, so that tests and replay own it. Now() may be called from
// any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant Now() = 0;
};

}  // namespace etl
