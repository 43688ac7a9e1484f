#include <string>
#include <variant>
#include <vector>

#include "adapters/adapter.h"
#include "config/settings.h"
#include "etlctl/commands.h"
#include "etlctl/escape.h"
#include "etlctl/json_out.h"
#include "etlctl/settings_file.h"

namespace etl::ctl {
namespace {

// What is no fault, and yet seldom meant.
std::vector<std::string> NotesOn(const Settings& settings) {
  std::vector<std::string> notes;
  for (const std::string& slug : AdapterSlugs()) {
    const SourceSettings source = settings.Source(slug);
    if (source.enabled && source.fetch.contact.empty())
      notes.push_back("no contact is set for " + slug + ": nothing is fetched over the network");
  }
  return notes;
}

void ShowCheckJson(Output& out, const std::string& path, const std::vector<Error>& faults,
                   const std::vector<std::string>& notes) {
  std::vector<std::string> list;
  for (const Error& fault : faults) list.push_back(FaultJson(fault));
  JsonObject object;
  object.Text("file", path).Bool("ok", faults.empty());
  out.DataLine(object.Raw("faults", JsonArray(list)).Texts("notes", notes).Done());
}

void ShowFaults(Output& out, const std::string& path, const std::vector<Error>& faults) {
  for (const Error& fault : faults) Report(out, fault, Exit::kUsage);
  const bool full = faults.size() == kSettingsFaultsMax;
  out.TalkLine(Safe(path) + ": " + (full ? "at least " : "") + std::to_string(faults.size()) +
               (faults.size() == 1 ? " fault" : " faults"));
}

std::string ValueJson(const EffectiveValue& value) {
  JsonObject object;
  object.Text("section", value.section).Text("key", value.name);
  if (const auto* const flag = std::get_if<bool>(&value.value)) object.Bool("value", *flag);
  if (const auto* const whole = std::get_if<std::int64_t>(&value.value)) object.Integer("value", *whole);
  if (const auto* const number = std::get_if<double>(&value.value)) object.Number("value", *number);
  if (const auto* const text = std::get_if<std::string>(&value.value)) object.Text("value", *text);
  if (const auto* const list = std::get_if<std::vector<std::string>>(&value.value))
    object.Texts("value", *list);
  return object.Text("from", value.origin).Done();
}

}  // namespace

Result<Exit> ConfigCheck(const Session& session, const ConfigOptions& options) {
  Output& out = session.out;
  SettingsFile file = SettingsFileOf(session, options.file);
  const std::string path = file.path;
  std::vector<Error> faults;
  const auto settings = LoadSettingsFile(file, &faults);
  // A file that cannot be read at all is no file with a fault.
  if (!settings && settings.error().errc != Errc::kInvalid) return Fail(settings.error());
  if (!settings) {
    if (out.json()) {
      ShowCheckJson(out, path, faults, {});
    } else {
      ShowFaults(out, path, faults);
    }
    return Exit::kUsage;
  }
  const std::vector<std::string> notes = NotesOn(*settings);
  if (out.json()) {
    ShowCheckJson(out, file.path, {}, notes);
    return Exit::kDone;
  }
  out.DataLine(file.path.empty() ? "ok: there is no " + path + ", and the defaults hold"
                                 : Safe(path) + ": ok");
  for (const std::string& note : notes) out.TalkLine("note: " + note);
  return Exit::kDone;
}

Result<Exit> ConfigShow(const Session& session, const ConfigOptions& options) {
  SettingsFile file = SettingsFileOf(session, options.file);
  ETL_TRY(Settings settings, LoadSettingsFile(file));
  // A source that the file does not name has effective values too.
  for (const std::string& slug : AdapterSlugs()) settings.sources.try_emplace(slug, settings.Source(slug));
  if (!session.out.json()) {
    session.out.Data(ShowSettings(settings));
    return Exit::kDone;
  }
  ListWriter list(session.out, "settings", {});
  for (const EffectiveValue& value : EffectiveSettings(settings)) list.Add(ValueJson(value), {});
  std::string more = JsonObject().Text("file", file.path).Done();
  list.Finish(more.substr(1, more.size() - 2), "");
  return Exit::kDone;
}

}  // namespace etl::ctl
