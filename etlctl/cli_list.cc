#include <memory>

#include "etlctl/cli.h"

namespace etl::ctl {
namespace {

void AddChanges(CommandLine& line) {
  auto options = std::make_shared<ChangesOptions>();
  CLI::App* app =
      line.Add(&line.root, "changes", "The change log, oldest first", "etlctl changes --limit 100 -o jsonl");
  app->add_option("--since", options->since, "Only what came after this")
      ->type_name("EPOCH:SEQ")
      ->check(Text());
  app->add_option("--limit", options->limit, "At most this many (default all)")
      ->type_name("N")
      ->check(Count());
  line.commands.push_back({app, OnStore([options](const Session& session, const Store& store) {
                             return Changes(session.out, store, *options);
                           })});
}

using ListCommand = Result<Exit> (*)(Output&, const Store&, const ListOptions&);

CLI::App* AddList(CommandLine& line, CLI::App* parent, const char* name, const char* what,
                  const char* example, ListCommand command, bool takes_id) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* app = line.Add(parent, name, what, example);
  if (takes_id)
    app->add_option("ID", options->id, "4 or more of the first hex digits of its id")
        ->required()
        ->check(Text());
  app->add_option("--source", options->source, "Of this source only")->check(Text());
  line.commands.push_back({app, OnStore([options, command](const Session& session, const Store& store) {
                             return command(session.out, store, *options);
                           })});
  return app;
}

void AddQuarantine(CommandLine& line) {
  CLI::App* group =
      line.AddGroup("quarantine", "Items that were refused, with their bytes", "etlctl quarantine list");
  AddList(line, group, "list", "What was refused, and why", "etlctl quarantine list", &QuarantineList, false);
  AddList(line, group, "show", "The exact bytes of one item, on standard output",
          "etlctl quarantine show 4f0c12ab > item.json", &QuarantineShow, true);
}

}  // namespace

void AddListCommands(CommandLine& line) {
  AddChanges(line);
  AddQuarantine(line);
  AddList(line, &line.root, "drift", "What the source says that its adapter does not know", "etlctl drift",
          &DriftList, false);
  AddList(line, &line.root, "gaps", "Rows that are known to be missing", "etlctl gaps", &GapList, false);
  CLI::App* status = line.Add(&line.root, "status", "The store at a glance", "etlctl status -o json");
  line.commands.push_back({status, OnStore([](const Session& session, const Store& store) {
                             return ShowStatus(session.out, store);
                           })});
}

}  // namespace etl::ctl
