#include "etlctl/settings_file.h"

#include "adapters/adapter.h"

namespace etl::ctl {
namespace {

constexpr const char* kUsualFile = "/etc/etld/etld.toml";

}  // namespace

SettingsFile SettingsFileOf(const Session& session, const std::string& named) {
  if (!named.empty()) return {named};
  if (!session.settings_file.empty()) return {session.settings_file};
  if (auto file = ProcessEnvironment()("ETL_CONFIG"); file && !file->empty()) return {*std::move(file)};
  return {kUsualFile, true};
}

Result<Settings> LoadSettingsFile(SettingsFile& file, std::vector<Error>* faults) {
  const Environment environment = ProcessEnvironment();
  auto settings = LoadSettings(file.path, environment, faults, AdapterSlugs());
  if (settings || !file.usual || settings.error().code != "CONFIG_MISSING") return settings;
  file.path.clear();
  return ParseSettings("", kUsualFile, environment, faults);
}

}  // namespace etl::ctl
