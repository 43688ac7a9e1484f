#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace etl::ctl {

// Upstream text (user names, error messages, member names) may hold anything: line breaks, terminal escapes,
// marks that reverse the line. Everything of it that reaches a terminal or a page goes through one of these.

// One line of text, harmless on a terminal: C0 and C1 controls and DEL become \n, \t, \r or \xNN; direction
// marks, zero-width and other invisible formatting characters, line and paragraph separators, and private or
// unassigned tag characters become \u{NNNN}; bytes that are no UTF-8 become \xNN. Everything else, a
// backslash included, stays as it is.
std::string Safe(std::string_view text);

// The same for text of several lines: line breaks and tabs stay.
std::string SafeLines(std::string_view text);

// The same for JSON text, which keeps its meaning: what Safe would replace becomes \uNNNN. `json` must be
// valid JSON.
std::string SafeJson(std::string_view json);

// Columns that valid UTF-8 takes on a terminal: 2 for wide East Asian characters and emoji, 0 for combining
// marks.
std::size_t DisplayWidth(std::string_view utf8);

// At most `columns` columns of it, the last of them "…" when something was cut.
std::string CutToWidth(std::string_view utf8, std::size_t columns);

// Whether these bytes are valid UTF-8.
bool IsUtf8(std::string_view bytes);

}  // namespace etl::ctl
