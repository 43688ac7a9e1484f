#include <cstdio>
#include <cstdlib>
#include <string>

#include <CLI/CLI.hpp>

#include "daemon/service.h"
#include "etlctl/hosted.h"

namespace {

int Check(const etl::ServiceOptions& options) {
  const auto settings = etl::LoadServiceSettings(options);
  if (settings) {
    std::puts("etld: the settings are right");
    return 0;
  }
  std::fprintf(stderr, "etld: %s\n", settings.error().Message().c_str());
  return etl::ServiceExit(settings.error());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Keeps a mirror of kernel leaderboards current; see etld(8)", "etld");
  etl::ServiceOptions options;
  bool check = false;
  app.add_option("--config", options.settings_file,
                 "Settings file (default $ETL_CONFIG, else /etc/etld/etld.toml)")
      ->type_name("FILE");
  app.add_option("--store", options.store_dir, "Folder of the store (default by the settings)")
      ->type_name("DIR");
  app.add_flag("--check", check, "Check the settings, and exit");
  app.set_version_flag("--version", "etld " ETL_VERSION, "Show the version and exit");
  app.footer(
      "Exit status: 0 stopped as told, 1 failed, 2 settings or usage, 5 another process holds the store,\n"
      "6 damage found or a newer format.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    (void)app.exit(error);
    return 2;
  }
  options.settings_named = !options.settings_file.empty();
  if (!options.settings_named) {
    const char* named = std::getenv("ETL_CONFIG");
    options.settings_named = named != nullptr && *named != '\0';
    options.settings_file = options.settings_named ? named : "/etc/etld/etld.toml";
  }
  return check ? Check(options) : etl::RunService(options, etl::ctl::RunHosted);
}
