#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "etlctl/exit_code.h"
#include "etlctl/output.h"
#include "model/error.h"
#include "model/instant.h"
#include "store/store.h"

namespace etl::ctl {

// What each command of etlctl does. A command writes its data and its talk to `out`, and returns its exit
// status, or an Error that the caller reports (exit_code.h). Commands that only read take a store that is
// open; the others open their own.

// Where the store is and how to reach it.
struct Session {
  Output& out;
  Clock& clock;
  std::string store_dir;
  std::string settings_file;  // empty: the usual one, if there is one

  Result<std::unique_ptr<Store>> Open(Store::Mode mode, bool create = false) const;
};

// The store when none is named: $ETL_STORE; else /var/lib/etld for root; else $XDG_STATE_HOME/etld,
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
Result<Exit> ShowStatus(Output& out, const Store& store);

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
};
Result<Exit> RunVisitCommand(const Session& session, const VisitCommandOptions& options);

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
