#include <memory>

#include "etlctl/cli.h"

namespace etl::ctl {
namespace {

void AddVisitOptions(CLI::App* app, VisitCommandOptions& options) {
  app->add_option("--source", options.source, "The source, by its slug")
      ->required()
      ->type_name("SLUG")
      ->check(Text());
  app->add_option("--from", options.from,
                  "Folder of saved responses, or of definition files; else the network")
      ->type_name("DIR")
      ->check(Text());
  app->add_option("--base-url", options.base_url, "Where the source answers (default from the settings)")
      ->type_name("URL")
      ->check(Text());
  app->add_option("--kernel", options.kernels, "Only this kernel; may be given again")
      ->check(Text())
      ->type_name("NAME")
      ->allow_extra_args(false);
  app->add_flag("--accept-shrunken", options.accept_shrunken,
                "Believe lists that lost more than the settings allow");
  app->add_flag("--dry-run", options.dry_run, "Say what would change, and write nothing");
  app->add_option("--captured-at", options.captured_at, "When the saved responses were fetched (default now)")
      ->type_name("INSTANT")
      ->check(Text());
}

void AddVisits(CommandLine& line) {
  auto backfill = std::make_shared<VisitCommandOptions>();
  CLI::App* app =
      line.Add(&line.root, "backfill", "Takes all of a source's rows in; makes the store where there is none",
               "etlctl backfill --source sol-execbench --from saved/ --kernel 013_fused_residual_rms_norm");
  AddVisitOptions(app, *backfill);
  app->add_option("--limit", backfill->limit, "Stop asking after about this many rows")
      ->check(Count())
      ->type_name("N");
  line.commands.push_back({app,
                           [backfill](const Session& session) { return RunVisitCommand(session, *backfill); },
                           Needs::kChange});
  auto poll = std::make_shared<VisitCommandOptions>();
  poll->poll = true;
  app = line.Add(&line.root, "poll", "Takes in what changed since the last poll",
                 "etlctl poll --source sol-execbench");
  AddVisitOptions(app, *poll);
  app->add_flag("--now", poll->now, "Tell the daemon to poll now, and wait for nothing");
  line.commands.push_back(
      {app, [poll](const Session& session) { return RunVisitCommand(session, *poll); }, Needs::kChange});
}

void AddFiles(CommandLine& line) {
  const auto add = [&](const char* name, const char* what, const char* example, auto command) {
    auto options = std::make_shared<FileOptions>();
    CLI::App* app = line.Add(&line.root, name, what, example);
    app->add_option("FILE", options->files, "JSON manifests; - is standard input")->required();
    line.commands.push_back(
        {app, [options, command](const Session& session) { return command(session.out, *options); },
         Needs::kNothing});
  };
  add("digest", "The digests of manifest files", "etlctl digest run.json", &DigestFiles);
  add("validate", "Checks manifest files: a path and a reason for each fault", "etlctl validate run.json",
      &ValidateFiles);
}

void AddWholeStore(CommandLine& line) {
  auto export_options = std::make_shared<ExportOptions>();
  CLI::App* app = line.Add(&line.root, "export", "The whole store as JSON lines in a fixed order",
                           "etlctl export > mirror.jsonl");
  app->add_option("--as-of", export_options->as_of,
                  "The state after this sequence (EPOCH:SEQ or SEQ) or at this instant")
      ->type_name("WHEN")
      ->check(Text());
  line.commands.push_back({app, OnStore([export_options](const Session& session, const Store& store) {
                             return ExportStore(session.out, store, *export_options);
                           })});
  app = line.Add(&line.root, "verify", "Computes everything again and names every fault", "etlctl verify");
  line.commands.push_back({app, OnStore([](const Session& session, const Store& store) {
                             return VerifyStore(session.out, store);
                           })});
  auto rebuild = std::make_shared<RebuildOptions>();
  app =
      line.Add(&line.root, "rebuild", "The whole store again from its stored snapshots, into an empty folder",
               "etlctl rebuild /srv/etld-new");
  app->add_option("TARGET", rebuild->target, "Folder of the new store")->required()->check(Text());
  line.commands.push_back(
      {app, [rebuild](const Session& session) { return RebuildStore(session, *rebuild); }, Needs::kChange});
}

void AddBackup(CommandLine& line) {
  CLI::App* group = line.AddGroup("backup", "Backups of the store", "etlctl backup create");
  auto options = std::make_shared<BackupOptions>();
  CLI::App* app =
      line.Add(group, "create", "Adds a backup; only what is new is copied", "etlctl backup create");
  app->add_option("--to", options->to, "Folder of backups (default backups/ in the store)")
      ->type_name("DIR")
      ->check(Text());
  line.commands.push_back(
      {app, [options](const Session& session) { return BackupCreate(session, *options); }, Needs::kChange});
  app = line.Add(group, "list", "The backups there are", "etlctl backup list");
  app->add_option("--from", options->from, "Folder of backups (default backups/ in the store)")
      ->type_name("DIR")
      ->check(Text());
  line.commands.push_back(
      {app, [options](const Session& session) { return BackupList(session, *options); }, Needs::kNothing});
  app = line.Add(group, "restore", "A backup as a store with a new epoch",
                 "etlctl backup restore --from /srv/backups --to /srv/etld");
  app->add_option("--from", options->from, "Folder of backups (default backups/ in the store)")
      ->type_name("DIR")
      ->check(Text());
  app->add_option("--to", options->to, "Folder to restore into, absent or empty (default the store's)")
      ->type_name("DIR")
      ->check(Text());
  app->add_option("--id", options->id, "Which backup (default the newest)")->check(Count())->type_name("N");
  line.commands.push_back(
      {app, [options](const Session& session) { return BackupRestore(session, *options); }, Needs::kNothing});
}

}  // namespace

void AddStoreCommands(CommandLine& line) {
  AddVisits(line);
  AddFiles(line);
  for (Command& command : line.commands) command.stoppable = command.needs == Needs::kChange;
  AddWholeStore(line);
  AddBackup(line);
}

}  // namespace etl::ctl
