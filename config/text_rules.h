#pragma once

#include <string_view>

#include "config/keys.h"

namespace etl::config {

// What `text` must be and is not, or "" when it follows the rule of its form. Length is not looked at.
std::string_view BrokenRule(const Key& key, std::string_view text);

// A host name of letters, digits, "-" and "." (RFC 1123, section 2.1), at most 253 bytes; an IPv4 address is
// one.
bool IsHost(std::string_view text);

}  // namespace etl::config
