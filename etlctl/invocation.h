#pragma once

#include <string>
#include <vector>

#include "daemon/command_host.h"
#include "etlctl/output.h"

namespace etl::ctl {

// A command line, and who runs it where.
struct Invocation {
  std::vector<std::string> arguments;  // without the program's name
  CommandHost* host = nullptr;         // the daemon that runs it for somebody; null: etlctl itself
  std::string directory;               // that relative paths start from; empty: this process's own
};

// Reads the command line, runs the command, reports what went wrong, and returns the exit status. Never
// throws.
int RunInvocation(const Invocation& invocation, Output& out);

}  // namespace etl::ctl
