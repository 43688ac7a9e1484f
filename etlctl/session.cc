#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include <unistd.h>

#include "daemon/peer.h"
#include "etlctl/commands.h"
#include "etlctl/exit_code.h"

namespace etl::ctl {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

// Of a daemon's store, a reader gets the state of this moment, so that all that a command says fits together
// while commits go on.
Result<std::shared_ptr<Store>> Session::Open(Store::Mode mode, bool create) const {
  if (host != nullptr && mode == Store::Mode::kRead) return host->store().View();
  if (host != nullptr) return std::shared_ptr<Store>(&host->store(), [](Store*) {});
  Store::Options options;
  options.mode = mode;
  options.create = create;
  ETL_TRY(auto store, Store::Open(store_dir, options, clock));
  return std::shared_ptr<Store>(std::move(store));
}

Status Session::Close(Store& store) const {
  return host != nullptr ? store.Sync() : store.Close();
}

Result<std::shared_ptr<void>> Session::HoldSource(const std::string& source) const {
  if (host == nullptr) return std::shared_ptr<void>();
  return host->HoldSource(source);
}

std::string Session::Path(const std::string& typed) const {
  if (directory.empty() || typed.empty() || typed.front() == '/') return typed;
  return (std::filesystem::path(directory) / typed).lexically_normal().string();
}

std::string Session::User() const {
  return host != nullptr ? host->user() : UserNameOf(::geteuid());
}

Result<std::string> DefaultStoreDir() {
  if (std::string dir = Environment("ETL_STORE"); !dir.empty()) return dir;
  if (::geteuid() == 0) return std::string("/var/lib/etld");
  if (const std::string state = Environment("XDG_STATE_HOME"); !state.empty()) return state + "/etld";
  if (const std::string home = Environment("HOME"); !home.empty()) return home + "/.local/state/etld";
  return Fail(
      UsageError("--store", "no store is named, and there is no home folder to look in", "give --store DIR"));
}

}  // namespace etl::ctl
