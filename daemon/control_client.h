#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "daemon/control_message.h"
#include "model/error.h"

namespace etl {

// Has the daemon that answers on a control socket run a command, and hands on what it writes, as it comes.
// Returns the command's exit status. Blocking, without a limit on how long a command runs; when this process
// ends, the daemon stops the command. Errors: kUnavailable CONTROL_SOCKET (nobody answers there), CONTROL_CUT
// (the daemon ended in the middle), CONTROL_BUSY; kInvalid CONTROL_FORBIDDEN, CONTROL_REQUEST, CONTROL_FRAME.
Result<int> CallDaemon(const std::string& socket_path, const ControlCall& call,
                       const std::function<void(ControlFrame::Kind, std::string_view)>& sink);

}  // namespace etl
