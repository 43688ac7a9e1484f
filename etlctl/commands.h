#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/command_host.h"
#include "etlctl/exit_code.h"
#include "etlctl/output.h"
#include "model/error.h"
#include "model/instant.h"
#include "store/store.h"

namespace etl::ctl {

// What each command of etlctl does. A command writes its data and its talk to `out`, and returns its exit
// status, or an Error that the caller reports (exit_code.h). Commands that only read take a store that is
// open; the others open their own.

// Where the store is and how to reach it, and who runs the command: etlctl itself, or a daemon that holds the
// store, for somebody who asked over its control socket.
struct Session {
  Output& out;
  Clock& clock;
  std::string store_dir;
  std::string settings_file;      // empty: the usual one, if there is one
  const std::atomic<bool>* stop;  // set: the command is to end soon
  CommandHost* host = nullptr;    // null: etlctl itself
  std::string directory;          // that relative paths start from; empty: this process's own

  // The store, opened for this command; or the daemon's own, which is open already.
  Result<std::shared_ptr<Store>> Open(Store::Mode mode, bool create = false) const;
  // What was written is durable, and the store is closed if this command opened it.
  Status Close(Store& store) const;
  // For commands that write about a source: no visit of it goes on while what comes back lives.
  Result<std::shared_ptr<void>> HoldSource(const std::string& source) const;
  // A path that was typed, as this process has to name it.
  std::string Path(const std::string& typed) const;
  // Who decides.
  std::string User() const;
};

// The store when neither the command line nor the settings name one: $ETL_STORE; else /var/lib/etld for root;
// else $XDG_STATE_HOME/etld,
// ~/.local/state/etld. kInvalid USAGE when not even a home is known.
Result<std::string> DefaultStoreDir();

// --- get.cc, get_run.cc ---
struct GetOptions {
  std::string id;
};
Result<Exit> GetRun(Output& out, const Store& store, Clock& clock, const GetOptions& options);
Result<Exit> GetEntry(Output& out, const Store& store, const GetOptions& options);
Result<Exit> GetObject(Output& out, const Store& store, const GetOptions& options);

// --- ranks.cc ---
struct RanksOptions {
  std::string group, kernel, source, as_of;
  std::uint64_t top = 0;  // 0: all
  bool all_versions = false;
};
Result<Exit> Ranks(Output& out, const Store& store, const RanksOptions& options);
Result<Exit> Records(Output& out, const Store& store, const RanksOptions& options);
// The groups that `options` ask for, in the order they are shown: that of a group; those of a kernel's newest
// operation, or of all its operations; every group where neither is named.
Result<std::vector<GroupInfo>> SelectGroups(const Store& store, const RanksOptions& options, AsOf as_of);

// --- history.cc ---
struct HistoryOptions {
  std::string id;
};
Result<Exit> History(Output& out, const Store& store, const HistoryOptions& options);

// --- compare.cc ---
struct CompareOptions {
  std::vector<std::string> ids;
};
Result<Exit> Compare(Output& out, const Store& store, const CompareOptions& options);

// --- changes.cc ---
struct ChangesOptions {
  std::string since;
  std::uint64_t limit = 0;  // 0: all
};
Result<Exit> Changes(Output& out, const Store& store, const ChangesOptions& options);

// --- lists.cc, quarantine.cc ---
struct ListOptions {
  std::string source, id;
  bool all = false;  // what was decided too
};
Result<Exit> QuarantineList(Output& out, const Store& store, const ListOptions& options);
Result<Exit> QuarantineShow(Output& out, const Store& store, const ListOptions& options);
Result<Exit> DriftList(Output& out, const Store& store, const ListOptions& options);
Result<Exit> GapList(Output& out, const Store& store, const ListOptions& options);
struct StatusOptions {
  bool check = false;  // say what needs somebody, and tell it by the exit status
};
Result<Exit> ShowStatus(const Session& session, const Store& store, const StatusOptions& options);

// --- review.cc, quarantine.cc: what people decide; these commands write ---
struct DecideOptions {
  std::string source, id, reason;
  std::string what;  // kAdmitted, kRejected
  bool all = false;
};
Result<Exit> ReviewList(Output& out, const Store& store, const DecideOptions& options);
Result<Exit> ReviewDecide(const Session& session, const DecideOptions& options);
Result<Exit> QuarantineDrop(const Session& session, const DecideOptions& options);
Result<Exit> QuarantineRetry(const Session& session, const DecideOptions& options);

// --- backfill.cc: backfill and poll ---
struct VisitCommandOptions {
  bool poll = false;  // else a backfill
  std::string source, from, base_url, captured_at;
  std::vector<std::string> kernels;
  std::optional<std::uint64_t> limit;
  bool dry_run = false, accept_shrunken = false;
  bool now = false;  // of a daemon: only tell it to poll
};
Result<Exit> RunVisitCommand(const Session& session, const VisitCommandOptions& options);

// --- sources.cc: what the daemon follows, and how ---
Result<Exit> ShowSources(const Session& session);
// The daemon's reports; without one, what the store knows.
Result<std::vector<SourceReport>> SourceReports(const Session& session);
struct SourceOptions {
  std::string source;
  bool end = false;  // of a drain
};
Result<Exit> PauseSource(const Session& session, const SourceOptions& options);
Result<Exit> ResumeSource(const Session& session, const SourceOptions& options);
Result<Exit> PollNow(const Session& session, const std::string& source);
Result<Exit> ReloadDaemon(const Session& session);
Result<Exit> DrainDaemon(const Session& session, const SourceOptions& options);

// --- config.cc: no store is needed ---
struct ConfigOptions {
  std::string file;  // empty: as --config
};
Result<Exit> ConfigCheck(const Session& session, const ConfigOptions& options);
Result<Exit> ConfigShow(const Session& session, const ConfigOptions& options);

// --- files.cc ---
struct FileOptions {
  std::vector<std::string> files;  // "-": standard input
};
Result<Exit> DigestFiles(Output& out, const FileOptions& options);
Result<Exit> ValidateFiles(Output& out, const FileOptions& options);

// --- whole_store.cc, backup.cc ---
struct ExportOptions {
  std::string as_of;
};
Result<Exit> ExportStore(Output& out, const Store& store, const ExportOptions& options);
Result<Exit> VerifyStore(Output& out, const Store& store);
struct RebuildOptions {
  std::string target;
};
Result<Exit> RebuildStore(const Session& session, const RebuildOptions& options);
struct BackupOptions {
  std::string to, from;
  std::uint32_t id = 0;  // 0: the newest
};
Result<Exit> BackupCreate(const Session& session, const BackupOptions& options);
Result<Exit> BackupList(const Session& session, const BackupOptions& options);
Result<Exit> BackupRestore(const Session& session, const BackupOptions& options);

}  // namespace etl::ctl
