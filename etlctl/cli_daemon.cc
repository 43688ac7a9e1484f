#include <memory>

#include "etlctl/cli.h"

namespace etl::ctl {
namespace {

void AddSource(CommandLine& line, const char* name, const char* what, const char* example,
               Result<Exit> (*run)(const Session&, const SourceOptions&)) {
  auto options = std::make_shared<SourceOptions>();
  CLI::App* app = line.Add(&line.root, name, what, example);
  app->add_option("SOURCE", options->source, "The source, by its slug")->required()->check(Text());
  line.commands.push_back(
      {app, [options, run](const Session& session) { return run(session, *options); }, Needs::kChange});
}

}  // namespace

void AddDaemonCommands(CommandLine& line) {
  CLI::App* app = line.Add(&line.root, "sources",
                           "How each source is: last full visit, next poll, last error", "etlctl sources");
  line.commands.push_back({app, ShowSources});
  AddSource(line, "pause", "Polls a source no more, until it is resumed", "etlctl pause sol-execbench",
            &PauseSource);
  AddSource(line, "resume", "Polls a paused source again", "etlctl resume sol-execbench", &ResumeSource);
  app = line.Add(&line.root, "reload", "Has the daemon read its settings again", "etlctl reload");
  line.commands.push_back({app, ReloadDaemon, Needs::kChange});
  auto drain = std::make_shared<SourceOptions>();
  app = line.Add(&line.root, "drain", "Has the daemon begin no more visits, and waits for those under way",
                 "etlctl drain && systemctl stop etld");
  app->add_flag("--end", drain->end, "Follow the sources again");
  line.commands.push_back(
      {app, [drain](const Session& session) { return DrainDaemon(session, *drain); }, Needs::kChange});
}

}  // namespace etl::ctl
