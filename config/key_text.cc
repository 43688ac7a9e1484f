#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "config/keys.h"
#include "model/text.h"

namespace etl::config {
namespace {

// "32 MiB" for what is a whole number of such, else "".
std::string SizeText(double bytes) {
  constexpr std::array<std::string_view, 4> kUnits = {"KiB", "MiB", "GiB", "TiB"};
  std::string out;
  for (const std::string_view unit : kUnits) {
    bytes /= 1024;
    if (bytes < 1 || bytes != std::floor(bytes)) break;
    out = NumberText(bytes).append(" ").append(unit);
  }
  return out;
}

// The number, and in brackets the size when it counts bytes.
std::string LimitText(const Key& key, double value) {
  const std::string size = key.unit == "bytes" ? SizeText(value) : "";
  return size.empty() ? NumberText(value) : NumberText(value) + " (" + size + ")";
}

Slot SlotOf(const Key& key, Settings& settings, SourceSettings& source) {
  return key.in_settings ? key.in_settings(settings) : key.in_source(source);
}

}  // namespace

std::string NumberText(double value) {
  std::array<char, 32> buffer{};
  constexpr double kExact = 1e15;
  const bool whole = value == std::floor(value) && std::abs(value) <= kExact;
  const auto end = whole ? std::to_chars(buffer.begin(), buffer.end(), static_cast<std::int64_t>(value))
                         : std::to_chars(buffer.begin(), buffer.end(), value);
  return std::string(buffer.begin(), end.ptr);
}

std::string Literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04X", static_cast<unsigned>(byte));
      out += escape.data();
    } else {
      out += c;
    }
  }
  return out += '"';
}

std::string Literal(const Slot& slot) {
  struct Visitor {
    std::string operator()(const bool* value) const { return *value ? "true" : "false"; }
    std::string operator()(const std::int64_t* value) const { return std::to_string(*value); }
    std::string operator()(const double* value) const { return NumberText(*value); }
    std::string operator()(const std::string* value) const { return Literal(*value); }
    std::string operator()(const std::vector<std::string>* value) const {
      std::string out = "[";
      for (const std::string& item : *value) out.append(out.size() > 1 ? ", " : "").append(Literal(item));
      return out += ']';
    }
  };
  return std::visit(Visitor(), slot);
}

std::string FormText(const Key& key) {
  switch (key.form) {
    case Form::kBool:
      return "true or false";
    case Form::kWhole:
      return "a whole number";
    case Form::kNumber:
      return "a number";
    case Form::kHosts:
      return "a list of host names";
    case Form::kPath:
      return "an absolute path";
    case Form::kContact:
      return "an e-mail address or https URL";
    case Form::kBaseUrl:
      return "a URL without user, query or fragment";
    case Form::kAddress:
      return "an IPv4 or IPv6 address";
    case Form::kGroup:
      return "the name of a group";
    case Form::kWord:
      return "a word";
  }
  return "";
}

std::string LimitsText(const Key& key) {
  std::string out;
  switch (key.form) {
    case Form::kBool:
      return "";
    case Form::kWhole:
    case Form::kNumber:
      out = "from " + LimitText(key, key.min) + " to " + LimitText(key, key.max);
      break;
    case Form::kHosts:
      out = "at most " + NumberText(key.max);
      break;
    case Form::kWord:
      for (const std::string_view word : key.words) out.append(out.empty() ? "one of " : ", ").append(word);
      return out;
    case Form::kPath:
    case Form::kContact:
    case Form::kBaseUrl:
    case Form::kAddress:
    case Form::kGroup:
      return "at most " + NumberText(key.max) + " bytes";
  }
  return key.unit.empty() ? out : out.append(" ").append(key.unit);
}

std::string DefaultLiteral(const Key& key) {
  Settings settings;
  SourceSettings source;
  return Literal(SlotOf(key, settings, source));
}

std::string DefaultText(const Key& key) {
  std::string out = DefaultLiteral(key);
  if (!key.unset.empty()) out.append(", ").append(key.unset);
  if (key.unit == "bytes") {
    Settings settings;
    SourceSettings source;
    const Slot slot = SlotOf(key, settings, source);
    if (auto* const* const value = std::get_if<std::int64_t*>(&slot))
      out = LimitText(key, static_cast<double>(**value));
  }
  return out;
}

}  // namespace etl::config
