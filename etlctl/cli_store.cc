#include <memory>

#include "etlctl/cli.h"

namespace etl::ctl {
namespace {

void AddBackfill(CommandLine& line) {
  auto options = std::make_shared<BackfillOptions>();
  CLI::App* app =
      line.Add(&line.root, "backfill", "Takes a source's rows in; makes the store where there is none",
               "etlctl backfill --source sol-execbench --from saved/ --kernel 013_fused_residual_rms_norm");
  app->add_option("--source", options->source, "The source, by its slug")->required()->type_name("SLUG");
  app->add_option("--from", options->from, "Folder of saved responses, or of definition files")
      ->type_name("DIR");
  app->add_option("--kernel", options->kernels, "Only this kernel; may be given again")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app->add_option("--limit", options->limit, "Stop asking after about this many rows")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  app->add_flag("--dry-run", options->dry_run, "Say what would change, and write nothing");
  app->add_option("--captured-at", options->captured_at, "When the responses were saved (default now)")
      ->type_name("INSTANT");
  line.commands.push_back({app, [options](const Session& session) { return Backfill(session, *options); }});
}

void AddFiles(CommandLine& line) {
  const auto add = [&](const char* name, const char* what, const char* example, auto command) {
    auto options = std::make_shared<FileOptions>();
    CLI::App* app = line.Add(&line.root, name, what, example);
    app->add_option("FILE", options->files, "JSON manifests; - is standard input")->required();
    line.commands.push_back(
        {app, [options, command](const Session& session) { return command(session.out, *options); }});
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
      ->type_name("WHEN");
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
  app->add_option("TARGET", rebuild->target, "Folder of the new store")->required();
  line.commands.push_back(
      {app, [rebuild](const Session& session) { return RebuildStore(session, *rebuild); }});
}

void AddBackup(CommandLine& line) {
  CLI::App* group = line.AddGroup("backup", "Backups of the store", "etlctl backup create");
  auto options = std::make_shared<BackupOptions>();
  CLI::App* app =
      line.Add(group, "create", "Adds a backup; only what is new is copied", "etlctl backup create");
  app->add_option("--to", options->to, "Folder of backups (default backups/ in the store)")->type_name("DIR");
  line.commands.push_back(
      {app, [options](const Session& session) { return BackupCreate(session, *options); }});
  app = line.Add(group, "list", "The backups there are", "etlctl backup list");
  app->add_option("--from", options->from, "Folder of backups (default backups/ in the store)")
      ->type_name("DIR");
  line.commands.push_back({app, [options](const Session& session) { return BackupList(session, *options); }});
  app = line.Add(group, "restore", "A backup as a store with a new epoch",
                 "etlctl backup restore --from /srv/backups --to /srv/etld");
  app->add_option("--from", options->from, "Folder of backups (default backups/ in the store)")
      ->type_name("DIR");
  app->add_option("--to", options->to, "Folder to restore into, absent or empty (default the store's)")
      ->type_name("DIR");
  app->add_option("--id", options->id, "Which backup (default the newest)")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  line.commands.push_back(
      {app, [options](const Session& session) { return BackupRestore(session, *options); }});
}

}  // namespace

void AddStoreCommands(CommandLine& line) {
  AddBackfill(line);
  AddFiles(line);
  AddWholeStore(line);
  AddBackup(line);
}

}  // namespace etl::ctl
