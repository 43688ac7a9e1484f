#pragma once

#include "daemon/command_host.h"
#include "daemon/control_server.h"

namespace etl::ctl {

// Runs the command line of a control session inside the daemon: the same commands, over the daemon's store,
// with what they write sent to the caller. Returns the exit status. Any thread; never throws.
int RunHosted(CommandHost& host, ControlSession& session);

}  // namespace etl::ctl
