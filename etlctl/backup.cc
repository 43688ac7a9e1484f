#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "etlctl/commands.h"
#include "etlctl/escape.h"
#include "etlctl/format.h"
#include "etlctl/json_out.h"

namespace etl::ctl {
namespace {

std::string BackupJson(const Store::BackupInfo& backup) {
  return JsonObject()
      .Count("id", backup.id)
      .Text("at", backup.at)
      .Count("bytes", backup.bytes)
      .Text("epoch", backup.epoch)
      .Count("sequence", backup.sequence)
      .Done();
}

std::string FolderOr(const std::string& given, const Session& session) {
  return given.empty() ? session.store_dir + "/backups" : session.Path(given);
}

}  // namespace

Result<Exit> BackupCreate(const Session& session, const BackupOptions& options) {
  const std::string folder = FolderOr(options.to, session);
  ETL_TRY(const std::shared_ptr<Store> store, session.Open(Store::Mode::kWrite));
  ETL_TRY(const Store::BackupInfo backup, store->CreateBackup(folder));
  ETL_CHECK_OK(session.Close(*store));
  if (session.out.json()) {
    session.out.DataLine(BackupJson(backup));
  } else {
    session.out.DataLine(fmt::format("Backup {} of {}:{} in {} ({})", backup.id, backup.epoch,
                                     backup.sequence, Safe(folder), FormatBytes(backup.bytes)));
  }
  return Exit::kDone;
}

Result<Exit> BackupList(const Session& session, const BackupOptions& options) {
  const std::string folder = FolderOr(options.from, session);
  ETL_TRY(const std::vector<Store::BackupInfo> backups, Store::ListBackups(folder));
  ListWriter list(
      session.out, "backups",
      {{"ID", Align::kRight}, {"AT"}, {"SIZE", Align::kRight}, {"EPOCH"}, {"SEQUENCE", Align::kRight}});
  for (const Store::BackupInfo& backup : backups) {
    list.Add(BackupJson(backup), {std::to_string(backup.id), backup.at.Text(), FormatBytes(backup.bytes),
                                  backup.epoch, std::to_string(backup.sequence)});
  }
  list.Finish("", "no backup in " + Safe(folder));
  return Exit::kDone;
}

Result<Exit> BackupRestore(const Session& session, const BackupOptions& options) {
  const std::string folder = FolderOr(options.from, session);
  const std::string target = options.to.empty() ? session.store_dir : options.to;
  ETL_CHECK_OK(Store::RestoreBackup(folder, options.id, target, session.clock));
  if (session.out.json()) {
    session.out.DataLine(
        JsonObject().Text("restored", target).Text("from", folder).Count("id", options.id).Done());
  } else {
    session.out.DataLine(fmt::format(
        "Restored {} into {}, as a store with a new epoch.",
        options.id == 0 ? "the newest backup" : fmt::format("backup {}", options.id), Safe(target)));
  }
  return Exit::kDone;
}

}  // namespace etl::ctl
