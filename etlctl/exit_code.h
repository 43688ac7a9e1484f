#pragma once

#include <string>
#include <string_view>

#include "etlctl/output.h"
#include "model/error.h"

namespace etl::ctl {

// What a script can tell from the exit status.
enum class Exit : int {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,
  kIncomplete = 3,  // a visit that did not bring what was asked for
  kNotFound = 4,
  kLocked = 5,  // another process holds the store
  kDamage = 6,  // stored bytes are wrong
};

// The one place where an Error becomes an exit status.
Exit ExitFor(const Error& error);

// Says on the talk stream what went wrong: "etlctl: CODE at WHERE: WHAT" and "  fix: ...", or one JSON object
// {code, where, what, fix, exit} when the format is JSON.
void Report(Output& out, const Error& error);
// The same where the command ends with another status than the error alone would mean.
void Report(Output& out, const Error& error, Exit exit);

// A command line that cannot be understood: code USAGE, exit status 2. `command` names the part ("get run").
Error UsageError(std::string command, std::string what, std::string fix);

}  // namespace etl::ctl
