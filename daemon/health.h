#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/settings.h"
#include "daemon/command_host.h"
#include "model/instant.h"

namespace etl {

// Why the mirror should not be relied on now, a sentence each; none: it is ready. These are: ingestion is
// paused for want of space; a source that is to be followed had no full visit yet, or none for longer than
// six of its longest intervals. A source that an operator paused or disabled is no reason.
std::vector<std::string> NotReadyReasons(const std::vector<SourceReport>& sources, const Settings& settings,
                                         bool no_space, Instant now);

}  // namespace etl
