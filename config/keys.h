#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/settings.h"

// The one table of all settings. Private to config and its tests.
namespace etl::config {

// What a value may be. The first four are TOML's types, the others texts with a rule.
enum class Form : std::uint8_t {
  kBool,
  kWhole,
  kNumber,
  kHosts,    // a list of host names or IPv4 addresses
  kPath,     // absolute
  kContact,  // an e-mail address or https URL, fit for a User-Agent comment (RFC 9110, section 5.6.5)
  kBaseUrl,  // https, or http to a loopback host; no user, query or fragment
  kAddress,  // an IPv4 or IPv6 address
  kGroup,    // a name of a group of the system
  kWord,     // one of Key::words
};

// The place of a value in the structs.
using Slot = std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<std::string>*>;

struct Key {
  std::string_view section = {};
  std::string_view name = {};
  Form form = Form::kBool;
  std::string_view unit = {};                    // in the plural, empty where there is none
  double min = 0;                                // of numbers; both inclusive
  double max = 0;                                // of numbers; bytes of a text; items of a list
  std::vector<std::string_view> words{};         // of kWord
  std::string_view unset = {};                   // what "" means; empty where "" is not allowed
  std::string_view about = {};                   // one sentence
  Slot (*in_settings)(Settings&) = nullptr;      // null in section "source"
  Slot (*in_source)(SourceSettings&) = nullptr;  // null where a source cannot override it
};

struct Section {
  std::string_view name;
  std::string_view about;  // one sentence
};

// In the order of the shipped file; all keys of a section stand together.
std::span<const Section> Sections();
std::span<const Key> Keys();

// The key that `name` is in a section other than "source", or null.
const Key* FindKey(std::string_view section, std::string_view name);
// The key that `name` is in [source.<slug>], of whichever section, or null.
const Key* FindSourceKey(std::string_view name);

// A value as TOML writes it: true, 4, 0.25, "text", ["a", "b"].
std::string Literal(const Slot& slot);
std::string Literal(std::string_view text);
// A number in the fewest digits, without an exponent up to 10^15.
std::string NumberText(double value);

// For people: "a whole number", "from 1 to 1000 requests", and the default as TOML writes it. Sizes of 1 KiB
// and more also say it in KiB, MiB, GiB or TiB.
std::string FormText(const Key& key);
std::string LimitsText(const Key& key);
std::string DefaultLiteral(const Key& key);
std::string DefaultText(const Key& key);

}  // namespace etl::config
