#pragma once

#include <string>

#include "adapters/adapter.h"
#include "config/settings.h"
#include "fetch/settings.h"

namespace etl {

// What to open a source's network transport with. `base_url` replaces the one of the settings, and that the
// adapter's own; empty keeps it. What has to outlive the process for politeness' sake (token bucket,
// robots.txt) is kept in `state_dir`; empty: nothing is.
FetchSettings FetchSettingsOf(const Adapter& adapter, const SourceSettings& settings,
                              const std::string& base_url, const std::string& state_dir);

// How the settings want a source followed.
FollowRules RulesOf(const PollSettings& settings);

}  // namespace etl
