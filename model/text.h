#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace etl {

// Lower-case; every run of characters outside [a-z0-9] becomes "-"; trimmed of "-"; the first 100 characters
// (then trimmed again at the end). May be empty ("你好"). Only ASCII letters are lowered.
std::string Kebab(std::string_view text);

// identity.md's patterns.
bool IsToken(std::string_view text);     // [a-z][a-z0-9_]*
bool IsSlug(std::string_view text);      // [a-z0-9][a-z0-9-]*, at most 100
bool IsName(std::string_view text);      // [a-z0-9][a-z0-9._-]*, at most 200
bool IsCommit(std::string_view text);    // 40 lower-case hex
bool IsHttpsUrl(std::string_view text);  // https:// and a host, printable ASCII without spaces, at most 2000

// ASCII lower case; other bytes as they are.
std::string Lower(std::string_view text);

// Unicode code points in valid UTF-8.
std::size_t CodePoints(std::string_view utf8);

// `text` when it has at most `max` code points, else its first max-1 and "…".
std::string CutTo(std::string_view utf8, std::size_t max);

// A name as a token: lower-cased, characters outside [a-z0-9_] become "_" (one per code point), "x_" in front
// if it does not start with a letter. Never empty.
std::string TokenFrom(std::string_view text);

// Order of member names in an upstream case key: "_" before digits before letters (any other character before
// "_", by byte), letters without case, lower before upper where names are otherwise equal. A strict weak
// order.
bool CollatedLess(std::string_view a, std::string_view b);

}  // namespace etl
