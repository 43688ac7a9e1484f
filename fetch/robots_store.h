#pragma once

#include <optional>
#include <string>

#include "model/error.h"
#include "model/instant.h"

namespace etl {

// What an origin said when it was last asked for its robots.txt.
struct RobotsCopy {
  Instant read;
  bool absent = false;  // a 4xx: there are no rules
  std::string text;     // at most RobotsRules::kBytesMax
  friend bool operator==(const RobotsCopy&, const RobotsCopy&) = default;
};

// How long a copy is good (RFC 9309, section 2.4).
constexpr std::int64_t kRobotsAgeMsMax = 24LL * 3600 * 1000;

// Whether a copy is young enough. One from the future is not: the clock went back, and nobody knows how old
// it is.
bool IsFresh(const RobotsCopy& copy, Instant now);

// Keeps a copy in a file: a line with time, kind, length and checksum, then the text. A missing or damaged
// file is none.
std::optional<RobotsCopy> LoadRobots(const std::string& path);
// Replaces the file whole or not at all. Error: kUnavailable FETCH_STATE.
Status SaveRobots(const std::string& path, const RobotsCopy& copy);

}  // namespace etl
