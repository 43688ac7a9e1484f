#pragma once

#include <functional>
#include <string>

#include "config/settings.h"
#include "daemon/command_host.h"
#include "daemon/control_server.h"
#include "model/error.h"

namespace etl {

// The daemon: holds the store, follows the sources, answers on the control socket, and tells the service
// manager how it is.

struct ServiceOptions {
  std::string settings_file;  // must be there where `settings_named`; else the defaults hold without it
  bool settings_named = false;
  std::string store_dir;  // empty: by the settings
};

// Runs a command of etlctl inside the daemon, and returns its exit status.
using CommandRunner = std::function<int(CommandHost&, ControlSession&)>;

// The settings that hold, checked as far as that can be done without touching anything: what `etld --check`
// and the start itself do first. Errors: those of LoadSettings and Polling::Check.
Result<Settings> LoadServiceSettings(const ServiceOptions& options);

// Runs until SIGTERM or SIGINT, and returns the exit status: 0 stopped as told; 1 failed; 2 the settings or
// the place are wrong, and the same start would fail again; 5 another process holds the store or the control
// socket; 6 damage found, or a store of a newer format. Everything that was taken in is durable when it
// returns, and it does within two seconds of the signal. SIGHUP reads the settings again.
//
// Blocks; takes over the signals named, SIGPIPE and SIGXFSZ of the process. Once in a process.
int RunService(const ServiceOptions& options, const CommandRunner& runner);

// The exit status that an error means.
int ServiceExit(const Error& error);

}  // namespace etl
