#include <algorithm>
#include <limits>

#include "config/check.h"
#include "config/keys.h"
#include "config/settings.h"
#include "config/toml_text.h"
#include "model/text.h"

namespace etl {
namespace config {
namespace {

constexpr std::size_t kAfterTheFile = std::numeric_limits<std::size_t>::max();

// Two values of a section where the first may not be above the second; `factor` brings it to the other's
// unit.
struct Pair {
  std::string_view section, low, high;
  double factor;
};
constexpr Pair kPairs[] = {
    {"fetch", "connect_deadline_s", "request_deadline_s", 1},
    {"fetch", "idle_deadline_s", "request_deadline_s", 1},
    {"fetch", "body_bytes_max", "decoded_bytes_max", 1},
    {"fetch", "backoff_base_ms", "backoff_max_s", 0.001},
    {"poll", "interval_min_s", "interval_max_s", 1},
};

double NumberOf(const Slot& slot) {
  if (auto* const* const whole = std::get_if<std::int64_t*>(&slot)) return static_cast<double>(**whole);
  return *std::get<double*>(slot);
}

// Fills settings from the tree of a file, and gathers what is wrong with it.
class Reader {
 public:
  Reader(std::string_view file_name, const std::vector<std::string>& known_sources)
      : file_name_(file_name), known_sources_(known_sources) {}

  void Read(const TomlNode& root, const Environment& environment) {
    for (const TomlNode& section : root.children) ReadSection(section);
    if (environment) {
      Override(environment, "ETL_CONTACT", "fetch", "contact");
      Override(environment, "ETL_STORE", "store", "dir");
    }
    CheckPairs("", nullptr);
    // Last, as a source begins with what [fetch] and [poll] say, wherever they stand.
    for (const TomlNode* const source : sources_) ReadSource(*source);
  }

  Settings TakeSettings() { return std::move(settings_); }

  std::vector<Error> TakeFaults() {
    std::stable_sort(faults_.begin(), faults_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Error> faults;
    for (auto& [line, fault] : faults_) {
      if (faults.size() == kSettingsFaultsMax) break;  // the environment and contradictions may come on top
      faults.push_back(std::move(fault));
    }
    return faults;
  }

 private:
  std::string Where(const TomlNode& node) const { return file_name_ + ":" + std::to_string(node.line); }

  void Add(const TomlNode& node, std::string_view code, std::string what, std::string fix) {
    faults_.emplace_back(
        node.line, Error{Errc::kInvalid, std::string(code), Where(node), std::move(what), std::move(fix)});
  }

  // Told before a fault is worded: a file of nothing but faults costs no more than its limit.
  bool Full() const { return faults_.size() >= kSettingsFaultsMax; }

  void ReadSection(const TomlNode& node) {
    if (Full()) return;
    const auto sections = Sections();
    const bool known = std::any_of(sections.begin(), sections.end(),
                                   [&](const Section& section) { return section.name == node.key; });
    if (!known && node.is_table)
      return Add(node, "CONFIG_UNKNOWN_KEY", "unknown section [" + Printable(node.key) + "]",
                 UnknownSectionFix(node.key));
    if (!known)
      return Add(node, "CONFIG_UNKNOWN_KEY", "unknown key " + Printable(node.key) + " outside of any section",
                 UnknownKeyFix("", node.key));
    if (!node.is_table)
      return Add(node, "CONFIG_TYPE", node.key + " is " + node.type + ", and must be a section",
                 "write [" + node.key + (node.key == "source" ? ".<slug>]" : "]") +
                     " on a line, and its keys below it");
    if (node.key == "source") return ListSources(node);
    for (const TomlNode& child : node.children) ReadValue(node.key, child);
  }

  void ReadValue(const std::string& section, const TomlNode& node) {
    if (Full()) return;
    const std::string name = section + "." + node.key;
    const Key* const key = FindKey(section, node.key);
    if (key == nullptr) return AddUnknownKey(section, name, node);
    Store(*key, key->in_settings(settings_), name, node);
  }

  void AddUnknownKey(std::string_view section, const std::string& name, const TomlNode& node) {
    Add(node, "CONFIG_UNKNOWN_KEY", "unknown key " + Printable(name), UnknownKeyFix(section, node.key));
  }

  void Store(const Key& key, const Slot& slot, const std::string& name, const TomlNode& node) {
    if (std::optional<Error> fault = Assign(key, slot, node.value, name, node.type, Where(node))) {
      faults_.emplace_back(node.line, std::move(*fault));
    } else {
      settings_.origins[name] = Where(node);
      lines_[name] = node.line;
    }
  }

  void ListSources(const TomlNode& node) {
    for (const TomlNode& source : node.children) {
      if (Full()) return;
      if (!source.is_table) {
        Add(source, "CONFIG_TYPE",
            "source." + Printable(source.key) + " is " + source.type + ", and must be a section",
            "write [source.<slug>] on a line, and the keys of that source below it");
      } else if (!IsSlug(source.key)) {
        Add(source, "CONFIG_SLUG", Literal(Printable(source.key)) + " is not the slug of a source",
            "use a-z, 0-9 and -, at most 100, not - at the start, as in [source.sol-execbench]");
      } else if (sources_.size() == kSourcesMax) {
        return Add(source, "CONFIG_TOO_LARGE", "more than " + std::to_string(kSourcesMax) + " sources",
                   "remove sections of sources that are not used");
      } else {
        CheckKnown(source);
        sources_.push_back(&source);
      }
    }
  }

  void CheckKnown(const TomlNode& source) {
    if (known_sources_.empty() ||
        std::find(known_sources_.begin(), known_sources_.end(), source.key) != known_sources_.end())
      return;
    const std::string_view near = Nearest(source.key, {known_sources_.begin(), known_sources_.end()});
    std::string list;
    for (const std::string& known : known_sources_) list.append(list.empty() ? "" : ", ").append(known);
    Add(source, "CONFIG_UNKNOWN_SOURCE", "there is no source " + source.key,
        near.empty() ? "remove the section, or name one of: " + list
                     : "did you mean [source." + std::string(near) + "]?");
  }

  void ReadSource(const TomlNode& node) {
    SourceSettings& source = settings_.sources[node.key] = settings_.Source(node.key);
    const std::string prefix = "source." + node.key + ".";
    for (const TomlNode& child : node.children) {
      if (Full()) return;
      const Key* const key = FindSourceKey(child.key);
      if (key == nullptr) {
        AddUnknownKey("source", prefix + child.key, child);
      } else {
        Store(*key, key->in_source(source), prefix + child.key, child);
      }
    }
    CheckPairs(prefix, &source);
  }

  void Override(const Environment& environment, std::string_view variable, std::string_view section,
                std::string_view name) {
    const std::optional<std::string> value = environment(variable);
    if (!value || value->empty()) return;
    const Key& key = *FindKey(section, name);
    const std::string where = "environment " + std::string(variable);
    // Whoever sets a relative path there means the folder that the program was started in.
    const bool relative = key.form == Form::kPath && value->front() != '/';
    const std::string checked = relative ? "/" + *value : *value;
    if (std::optional<Error> fault =
            Assign(key, key.in_settings(settings_), checked, variable, "a string", where)) {
      faults_.emplace_back(kAfterTheFile, std::move(*fault));
      return;
    }
    *std::get<std::string*>(key.in_settings(settings_)) = *value;
    const std::string dotted = std::string(section) + "." + std::string(name);
    settings_.origins[dotted] = where;
    lines_.erase(dotted);
  }

  // Of a source, or with null of all. A source answers only for pairs of which it sets a part.
  void CheckPairs(const std::string& prefix, SourceSettings* source) {
    for (const Pair& pair : kPairs) {
      const auto dotted = [&](std::string_view name) {
        return source != nullptr ? prefix + std::string(name)
                                 : std::string(pair.section) + "." + std::string(name);
      };
      const auto low_line = lines_.find(dotted(pair.low)), high_line = lines_.find(dotted(pair.high));
      if (low_line == lines_.end() && high_line == lines_.end()) continue;
      const Key& low = *FindKey(pair.section, pair.low);
      const Key& high = *FindKey(pair.section, pair.high);
      const double low_value =
          NumberOf(source != nullptr ? low.in_source(*source) : low.in_settings(settings_));
      const double high_value =
          NumberOf(source != nullptr ? high.in_source(*source) : high.in_settings(settings_));
      if (low_value * pair.factor <= high_value) continue;
      const std::size_t line = low_line != lines_.end() ? low_line->second : high_line->second;
      faults_.emplace_back(
          line, Error{Errc::kInvalid, "CONFIG_CONFLICT", file_name_ + ":" + std::to_string(line),
                      dotted(pair.low) + " (" + NumberText(low_value) + " " + std::string(low.unit) +
                          ") is above " + dotted(pair.high) + " (" + NumberText(high_value) + " " +
                          std::string(high.unit) + ")",
                      "lower " + std::string(pair.low) + " or raise " + std::string(pair.high)});
    }
  }

  const std::string file_name_;
  const std::vector<std::string>& known_sources_;  // empty: not checked
  Settings settings_;
  std::map<std::string, std::size_t, std::less<>> lines_;  // of what the file sets
  std::vector<const TomlNode*> sources_;
  std::vector<std::pair<std::size_t, Error>> faults_;  // with the line, to sort by
};

// Hands over the whole list; the answer is its first.
tl::unexpected<Error> FailWith(std::vector<Error> list, std::vector<Error>* faults) {
  Error first = list.front();
  if (list.size() > 1) {
    const bool full = list.size() == kSettingsFaultsMax;
    first.what += std::string(full ? " (and at least " : " (and ") + std::to_string(list.size() - 1) +
                  (list.size() == 2 ? " more fault)" : " more faults)");
  }
  if (faults != nullptr) *faults = std::move(list);
  return Fail(std::move(first));
}

}  // namespace
}  // namespace config

Result<Settings> ParseSettings(std::string_view toml, std::string_view file_name,
                               const Environment& environment, std::vector<Error>* faults,
                               const std::vector<std::string>& known_sources) {
  if (faults != nullptr) faults->clear();
  if (toml.size() > kSettingsBytesMax) {
    return config::FailWith({Error{Errc::kInvalid, "CONFIG_TOO_LARGE", std::string(file_name),
                                   "more than " + std::to_string(kSettingsBytesMax) + " bytes",
                                   "check that this is the settings file"}},
                            faults);
  }
  Result<config::TomlNode> root = config::ReadToml(toml, file_name);
  if (!root) return config::FailWith({std::move(root).error()}, faults);
  config::Reader reader(file_name, known_sources);
  reader.Read(*root, environment);
  if (std::vector<Error> list = reader.TakeFaults(); !list.empty())
    return config::FailWith(std::move(list), faults);
  return reader.TakeSettings();
}

}  // namespace etl
