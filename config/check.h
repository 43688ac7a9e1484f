#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/keys.h"
#include "config/toml_text.h"
#include "model/error.h"

namespace etl::config {

// Checks `value` against the form and limits of `key` and stores it in `slot`, which is of that key. `name`
// is the dotted name for messages, `type` what the value is called, `where` its place. On a fault the slot
// keeps what it holds: CONFIG_TYPE, CONFIG_RANGE or CONFIG_VALUE.
std::optional<Error> Assign(const Key& key, const Slot& slot, const TomlValue& value, std::string_view name,
                            std::string_view type, std::string_view where);

// The known word nearest to `word` by edit distance (Levenshtein), letters without case; "" when none is
// near: at most a third of its letters, and at least 2, may differ. Words above 64 bytes are near to none.
std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& known);

// What to do about an unknown key of a section ("source" for any source), or an unknown section.
std::string UnknownKeyFix(std::string_view section, std::string_view name);
std::string UnknownSectionFix(std::string_view name);

}  // namespace etl::config
