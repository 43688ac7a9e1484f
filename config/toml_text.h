#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/error.h"

namespace etl::config {

// A value of a TOML document, as far as settings need it: monostate stands for what no setting can be.
using TomlValue =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::string>>;

struct TomlNode {
  std::string key;   // any valid UTF-8: a quoted key may hold control characters
  std::string type;  // for people: "a string", "a table"
  TomlValue value;
  std::vector<TomlNode> children;  // of a table, in the order of the text
  bool is_table = false;
  std::size_t line = 0;
  std::size_t column = 0;
};

// The document as a tree, cut three levels below its root: settings are no deeper. Errors are kInvalid:
// CONFIG_SYNTAX and CONFIG_DUPLICATE_KEY, at FILE:LINE:COLUMN. At most kDotsMax dots stand on one line and
// kNestingMax arrays or inline tables in each other (both CONFIG_SYNTAX), which bounds the depth of the
// parser's own tree and so the stack that it needs.
inline constexpr std::size_t kDotsMax = 256;
inline constexpr std::size_t kNestingMax = 8;
Result<TomlNode> ReadToml(std::string_view text, std::string_view file_name);

// `text` on one line: control characters as \xNN, at most 80 code points.
std::string Printable(std::string_view text);

}  // namespace etl::config
