#pragma once

#include <string>
#include <string_view>

#include "etlctl/commands.h"
#include "model/decision.h"

namespace etl::ctl {

// What the commands that decide something have in common.

// A decision of whoever runs this program, now; never before what the store already knows.
Decision DecisionNow(const Session& session, const Store& store, std::string_view what, std::string reason);

// {decision, reason, at, by}.
std::string DecisionJson(const Decision& decision);
// "dropped by NAME at INSTANT: REASON".
std::string DecisionLine(const Decision& decision);

}  // namespace etl::ctl
