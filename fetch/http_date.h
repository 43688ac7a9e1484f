#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/instant.h"

namespace etl {

// Reads a date of HTTP in any of the three forms of RFC 9110, section 5.6.7: "Sun, 06 Nov 1994 08:49:37 GMT",
// "Sunday, 06-Nov-94 08:49:37 GMT" and "Sun Nov  6 08:49:37 1994". A year of two digits is the one at most 50
// years after `now`. A leap second counts as the second before it. None when it is anything else; the name of
// the day is not compared with the date.
std::optional<Instant> ParseHttpDate(std::string_view text, Instant now);

// How long a Retry-After header asks to wait, in milliseconds: whole seconds or a date, 0 for a date that is
// past. None when it is neither. At most 10^12.
std::optional<std::int64_t> ParseRetryAfterMs(std::string_view text, Instant now);

}  // namespace etl
