#pragma once

#include <string>
#include <vector>

#include "etlctl/exit_code.h"
#include "etlctl/output.h"
#include "model/error.h"

namespace etl::ctl {

// The control socket of the daemon that holds this store; empty: none does. Where the store's folder may not
// be looked into, that of the usual daemon, which will say which store it holds.
std::string DaemonOf(const std::string& store_dir);

// Has that daemon run the command; what it writes goes to `out` as it comes. Errors: those of CallDaemon.
Result<Exit> Forward(const std::string& socket, const std::string& store_dir,
                     const std::vector<std::string>& arguments, Output& out);

}  // namespace etl::ctl
