#pragma once

#include <string>
#include <vector>

#include "config/settings.h"
#include "etlctl/commands.h"
#include "model/error.h"

namespace etl::ctl {

// The settings file of a command: the one it names, else --config, else $ETL_CONFIG, else
// /etc/etld/etld.toml, which alone may be missing.
struct SettingsFile {
  std::string path;
  bool usual = false;
};
SettingsFile SettingsFileOf(const Session& session, const std::string& named = {});

// Its settings, with those of the environment; the defaults where the usual file is missing, and `path` is
// emptied. A section of a source that no adapter reads is a fault. Errors and `faults` as LoadSettings.
Result<Settings> LoadSettingsFile(SettingsFile& file, std::vector<Error>* faults = nullptr);

}  // namespace etl::ctl
