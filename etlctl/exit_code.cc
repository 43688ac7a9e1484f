#include "etlctl/exit_code.h"

#include <algorithm>
#include <array>

#include "etlctl/escape.h"
#include "etlctl/json_out.h"

namespace etl::ctl {
namespace {

// Refusals of what was typed, wherever in the house they arise.
constexpr std::array<std::string_view, 7> kUsageCodes{"USAGE",         "DIGEST_PREFIX",   "DIGEST_PATTERN",
                                                      "AS_OF_PATTERN", "INSTANT_PATTERN", "INSTANT_RANGE",
                                                      "SOURCE_UNKNOWN"};

}  // namespace

Exit ExitFor(const Error& error) {
  if (std::find(kUsageCodes.begin(), kUsageCodes.end(), error.code) != kUsageCodes.end()) return Exit::kUsage;
  // What stands in the settings file was typed too.
  if (error.errc == Errc::kInvalid && error.code.starts_with("CONFIG_")) return Exit::kUsage;
  if (error.code == "STORE_LOCKED") return Exit::kLocked;
  if (error.code == "AMBIGUOUS") return Exit::kNotFound;
  switch (error.errc) {
    case Errc::kNotFound:
      return Exit::kNotFound;
    case Errc::kCorrupt:
      return Exit::kDamage;
    case Errc::kStopped:
      return Exit::kIncomplete;
    case Errc::kInvalid:
    case Errc::kUnavailable:
    case Errc::kConflict:
      return Exit::kFailed;
  }
  return Exit::kFailed;
}

void Report(Output& out, const Error& error) {
  Report(out, error, ExitFor(error));
}

void Report(Output& out, const Error& error, Exit exit) {
  if (out.json()) {
    JsonObject object;
    object.Text("code", error.code)
        .Text("where", error.where)
        .Text("what", error.what)
        .Text("fix", error.fix);
    object.Integer("exit", static_cast<int>(exit));
    out.TalkLine(object.Done());
    return;
  }
  std::string line = "etlctl: " + out.StyledTalk(error.code, Style::kBad);
  if (!error.where.empty()) line += " at " + Safe(error.where);
  if (!error.what.empty()) line += ": " + SafeLines(error.what);
  out.TalkLine(line);
  if (!error.fix.empty()) out.TalkLine("  fix: " + Safe(error.fix));
}

Error UsageError(std::string command, std::string what, std::string fix) {
  return Error{Errc::kInvalid, "USAGE", std::move(command), std::move(what), std::move(fix)};
}

}  // namespace etl::ctl
