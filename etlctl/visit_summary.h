#pragma once

#include "daemon/visit.h"
#include "etlctl/exit_code.h"
#include "etlctl/output.h"

namespace etl::ctl {

// What a finished visit means for the exit status: failed by its error; incomplete when it is partial and
// that was not asked for (a row limit was, an interruption was not).
Exit ExitForVisit(const VisitResult& result, bool stopped);

// The result for people, as a table on the data stream. `place` is what was visited ("folder /srv/saved").
void WriteVisitSummary(Output& out, const VisitResult& result, const std::string& place);

}  // namespace etl::ctl
