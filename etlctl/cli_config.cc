#include <memory>

#include "etlctl/cli.h"

namespace etl::ctl {

void AddConfigCommands(CommandLine& line) {
  CLI::App* group = line.AddGroup("config", "The settings file", "etlctl config check /etc/etld/etld.toml");
  const auto add = [&](const char* name, const char* what, const char* example, auto command) {
    auto options = std::make_shared<ConfigOptions>();
    CLI::App* app = line.Add(group, name, what, example);
    app->add_option("FILE", options->file, "The file (default as --config)")->check(Text());
    line.commands.push_back(
        {app, [options, command](const Session& session) { return command(session, *options); }, Needs::kNothing});
  };
  add("check", "Names every fault of the file; status 2 where there is one",
      "etlctl config check /etc/etld/etld.toml", &ConfigCheck);
  add("show", "Every value that holds, and where it comes from", "etlctl config show", &ConfigShow);
}

}  // namespace etl::ctl
