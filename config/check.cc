#include "config/check.h"

#include <algorithm>
#include <numeric>

#include "config/text_rules.h"
#include "model/text.h"

namespace etl::config {
namespace {

constexpr std::size_t kWordBytesMax = 64;
constexpr std::size_t kListedMax = 8;  // names in one message

Error Fault(std::string_view code, std::string_view where, std::string what, std::string fix) {
  return Error{Errc::kInvalid, std::string(code), std::string(where), std::move(what), std::move(fix)};
}

// "burst = 4", or what the default means where it is "".
std::string DefaultHint(const Key& key) {
  return "remove the line for the default: " + DefaultText(key);
}

Error TypeFault(const Key& key, std::string_view name, std::string_view type, std::string_view where) {
  const std::string example = key.unset.empty() && key.form != Form::kHosts ? DefaultLiteral(key)
                              : key.form == Form::kHosts                    ? R"(["example.org"])"
                                                                            : R"("...")";
  return Fault("CONFIG_TYPE", where,
               std::string(name) + " is " + std::string(type) + ", and must be " + FormText(key),
               "write it as in: " + std::string(key.name) + " = " + example);
}

Error RangeFault(const Key& key, std::string_view name, const std::string& value, std::string_view where) {
  return Fault("CONFIG_RANGE", where, std::string(name) + " is " + value + ", and must be " + LimitsText(key),
               "set it within these limits, or " + DefaultHint(key));
}

// A URL with a user may have the password too, which is no business of a message.
std::string WithoutUser(std::string_view text) {
  const auto scheme = text.find("://");
  if (scheme == std::string_view::npos) return std::string(text);
  const auto host = scheme + 3;
  const auto user = text.substr(host, text.find('/', host) - host).rfind('@');
  std::string shown(text.substr(0, host));
  return shown.append(user == std::string_view::npos ? text.substr(host)
                                                     : "...@" + std::string(text.substr(host + user + 1)));
}

Error ValueFault(const Key& key, std::string_view name, std::string_view text, std::string_view why,
                 std::string_view where) {
  std::string fix = DefaultHint(key);
  if (key.form == Form::kWord) {
    const std::string_view near = Nearest(text, key.words);
    fix = near.empty() ? fix : "did you mean " + Literal(near) + "?";
  }
  return Fault("CONFIG_VALUE", where,
               std::string(name) + " is " + Literal(Printable(WithoutUser(text))) + ", and must be " +
                   std::string(why),
               "correct it, or " + fix);
}

std::optional<Error> AssignHosts(const Key& key, const Slot& slot, const TomlValue& value,
                                 std::string_view name, std::string_view type, std::string_view where) {
  const auto* const hosts = std::get_if<std::vector<std::string>>(&value);
  if (hosts == nullptr) {
    const bool list = type == "a list";
    return TypeFault(key, name, list ? "a list of other things" : type, where);
  }
  if (static_cast<double>(hosts->size()) > key.max)
    return RangeFault(key, name, "a list of " + std::to_string(hosts->size()), where);
  for (const std::string& host : *hosts) {
    if (!IsHost(host))
      return ValueFault(key, name, host, "a list of host names without scheme or port", where);
  }
  *std::get<std::vector<std::string>*>(slot) = *hosts;
  return std::nullopt;
}

std::optional<Error> AssignNumber(const Key& key, const Slot& slot, const TomlValue& value,
                                  std::string_view name, std::string_view type, std::string_view where) {
  const auto* const whole = std::get_if<std::int64_t>(&value);
  const auto* const fraction = std::get_if<double>(&value);
  if (whole == nullptr && (fraction == nullptr || key.form == Form::kWhole))
    return TypeFault(key, name, type, where);
  const double number = whole != nullptr ? static_cast<double>(*whole) : *fraction;
  // Written so that a NaN is outside.
  if (!(number >= key.min && number <= key.max))
    return RangeFault(key, name, whole != nullptr ? std::to_string(*whole) : NumberText(number), where);
  if (key.form == Form::kWhole) {
    *std::get<std::int64_t*>(slot) = *whole;
  } else {
    *std::get<double*>(slot) = number;
  }
  return std::nullopt;
}

std::optional<Error> AssignText(const Key& key, const Slot& slot, const TomlValue& value,
                                std::string_view name, std::string_view type, std::string_view where) {
  const auto* const text = std::get_if<std::string>(&value);
  if (text == nullptr) return TypeFault(key, name, type, where);
  if (!text->empty() || key.unset.empty()) {
    if (static_cast<double>(text->size()) > key.max && key.form != Form::kWord)
      return ValueFault(key, name, *text, FormText(key) + " of " + LimitsText(key), where);
    if (const std::string_view why = BrokenRule(key, *text); !why.empty())
      return ValueFault(key, name, *text, key.form == Form::kWord ? LimitsText(key) : std::string(why),
                        where);
  }
  *std::get<std::string*>(slot) = *text;
  return std::nullopt;
}

// Levenshtein's distance in two rows; both are short.
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

bool IsIn(const Key& key, std::string_view section) {
  return section == "source" ? key.in_source != nullptr : key.section == section;
}

}  // namespace

std::optional<Error> Assign(const Key& key, const Slot& slot, const TomlValue& value, std::string_view name,
                            std::string_view type, std::string_view where) {
  switch (key.form) {
    case Form::kBool:
      if (const bool* const set = std::get_if<bool>(&value)) {
        *std::get<bool*>(slot) = *set;
        return std::nullopt;
      }
      return TypeFault(key, name, type, where);
    case Form::kWhole:
    case Form::kNumber:
      return AssignNumber(key, slot, value, name, type, where);
    case Form::kHosts:
      return AssignHosts(key, slot, value, name, type, where);
    case Form::kPath:
    case Form::kContact:
    case Form::kBaseUrl:
    case Form::kAddress:
    case Form::kGroup:
    case Form::kWord:
      break;
  }
  return AssignText(key, slot, value, name, type, where);
}

std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.size() > kWordBytesMax) return "";
  const std::string lower = Lower(word);
  std::string_view best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t distance = Distance(lower, candidate);
    // A word of which nothing is left is not near.
    if (distance < least && distance < candidate.size()) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string UnknownKeyFix(std::string_view section, std::string_view name) {
  std::vector<std::string_view> here, elsewhere;
  std::string all;
  for (const Key& key : Keys()) {
    (IsIn(key, section) ? here : elsewhere).push_back(key.name);
    if (IsIn(key, section)) all.append(all.empty() ? "" : ", ").append(key.name);
  }
  if (const std::string_view near = Nearest(name, here); !near.empty())
    return "did you mean " + std::string(near) + "?";
  if (const std::string_view near = Nearest(name, elsewhere); !near.empty()) {
    const auto keys = Keys();
    const auto key = std::find_if(keys.begin(), keys.end(),
                                  [&](const Key& k) { return k.name == near && !IsIn(k, section); });
    return "did you mean " + std::string(near) + " in [" + std::string(key->section) +
           (key->section == "source" ? ".<slug>]?" : "]?");
  }
  if (here.empty()) return "remove it";
  return here.size() > kListedMax ? "remove it; see etld.toml(5)" : "remove it; known here: " + all;
}

std::string UnknownSectionFix(std::string_view name) {
  std::vector<std::string_view> known;
  std::string all;
  for (const Section& section : Sections()) {
    known.push_back(section.name);
    all.append(all.empty() ? "" : ", ").append(section.name);
  }
  const std::string_view near = Nearest(name, known);
  if (near.empty()) return "remove it; the sections are: " + all;
  return "did you mean [" + std::string(near) + (near == "source" ? ".<slug>]?" : "]?");
}

}  // namespace etl::config
