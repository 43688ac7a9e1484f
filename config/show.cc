#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/keys.h"
#include "config/settings.h"
#include "config/toml_text.h"

namespace etl {
namespace {

using config::Key;
using config::Section;

constexpr std::size_t kOriginColumn = 48;
constexpr std::size_t kTextColumns = 98;

std::string Dotted(std::string_view section, std::string_view name) {
  return std::string(section).append(".").append(name);
}

std::string OriginOf(const Settings& settings, const std::string& dotted) {
  const auto found = settings.origins.find(dotted);
  return found == settings.origins.end() ? "" : config::Printable(found->second);
}

// A source that does not set a key has it from the section of the key.
std::string OriginInSource(const Settings& settings, const std::string& section, const Key& key) {
  std::string origin = OriginOf(settings, Dotted(section, key.name));
  if (!origin.empty() || key.in_settings == nullptr) return origin;
  origin = OriginOf(settings, Dotted(key.section, key.name));
  if (!origin.empty()) origin.insert(0, "[" + std::string(key.section) + "], ");
  return origin;
}

// Calls visit(section, key, slot, origin) for every value; the origin is "" for a default.
template <class Visit>
void ForEachValue(const Settings& settings, const Visit& visit) {
  Settings values = settings;  // the table points into what may be changed
  for (const Section& section : config::Sections()) {
    if (section.name == "source") {
      for (auto& [slug, source] : values.sources) {
        const std::string name = "source." + slug;
        for (const Key& key : config::Keys()) {
          if (key.in_source != nullptr)
            visit(name, key, key.in_source(source), OriginInSource(settings, name, key));
        }
      }
      continue;
    }
    const std::string name(section.name);
    for (const Key& key : config::Keys()) {
      if (key.section == section.name)
        visit(name, key, key.in_settings(values), OriginOf(settings, Dotted(name, key.name)));
    }
  }
}

// "burst = 4       # default"
void AppendValue(std::string_view name, const config::Slot& slot, std::string_view origin, std::string& out) {
  std::string line = std::string(name) + " = " + config::Literal(slot);
  line.resize(std::max(line.size() + 1, kOriginColumn), ' ');
  out.append(line).append("# ").append(origin.empty() ? "default" : origin).append("\n");
}

// As comment lines of at most kTextColumns.
void AppendComment(std::string_view text, std::string& out) {
  while (!text.empty()) {
    std::size_t cut = text.size();
    if (cut > kTextColumns) cut = text.rfind(' ', kTextColumns);
    out.append("# ").append(text.substr(0, cut)).append("\n");
    text.remove_prefix(std::min(text.size(), cut + 1));
  }
}

void AppendDefault(const Key& key, std::string& out) {
  std::string facts = config::FormText(key);
  if (const std::string limits = config::LimitsText(key); !limits.empty()) facts.append(", ").append(limits);
  facts.append("; default: ").append(config::DefaultText(key));
  out += '\n';
  AppendComment(key.about, out);
  AppendComment(facts, out);
  out.append("#").append(key.name).append(" = ").append(config::DefaultLiteral(key)).append("\n");
}

}  // namespace

std::vector<EffectiveValue> EffectiveSettings(const Settings& settings) {
  std::vector<EffectiveValue> list;
  ForEachValue(settings, [&](const std::string& section, const Key& key, const config::Slot& slot,
                             const std::string& origin) {
    EffectiveValue& value = list.emplace_back();
    value.section = section;
    value.name = key.name;
    std::visit([&](const auto* held) { value.value = *held; }, slot);
    value.origin = origin.empty() ? "default" : origin;
  });
  return list;
}

std::string ShowSettings(const Settings& settings) {
  std::string out, shown;
  ForEachValue(settings, [&](const std::string& section, const Key& key, const config::Slot& slot,
                             const std::string& origin) {
    if (section != shown) out.append(out.empty() ? "[" : "\n[").append(section).append("]\n");
    shown = section;
    AppendValue(key.name, slot, origin, out);
  });
  return out;
}

std::string DefaultSettingsFile() {
  std::string out =
      "# Settings of etld, in TOML 1.0; see etld.toml(5). Every key stands here as a comment with its "
      "default:\n"
      "# remove the # before one to set it. The file is checked as a whole before any of it is used. Secrets "
      "do not\n"
      "# belong here.\n";
  for (const Section& section : config::Sections()) {
    out += '\n';
    AppendComment(section.about, out);
    // A source that nobody asked for must not appear, so its heading is a comment too.
    out.append(section.name == "source" ? "#[source.sol-execbench]" : "[" + std::string(section.name) + "]")
        .append("\n");
    for (const Key& key : config::Keys()) {
      if (key.section == section.name) AppendDefault(key, out);
    }
  }
  return out;
}

}  // namespace etl
