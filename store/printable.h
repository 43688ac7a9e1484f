#pragma once

#include <string>
#include <string_view>

namespace etl {

// A key for people: printable ASCII as it is, other bytes as \xx, at most 200 characters.
std::string PrintableKey(std::string_view key);

}  // namespace etl
