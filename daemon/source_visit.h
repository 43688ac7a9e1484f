#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "adapters/adapter.h"
#include "config/settings.h"
#include "daemon/scheduler.h"
#include "daemon/visit.h"
#include "fetch/http_transport.h"
#include "model/error.h"
#include "store/store.h"

namespace etl {

// The adapter of a source. Errors: kInvalid SOURCE_UNKNOWN.
Result<std::unique_ptr<Adapter>> FindAdapter(const std::string& slug);

// How the settings want a source visited. The transport's part of the goal (local, window) is left out.
VisitOptions VisitOptionsOf(const SourceSettings& settings, bool poll);

// A visit over the network, and how the network was, kept for `status` (the cursor "network").
VisitResult VisitOverNetwork(Adapter& adapter, HttpTransport& transport, Store* store, Clock& clock,
                             VisitOptions options);

// What the scheduler wants to know of a visit. `due`: when the adapter wants to be asked again.
VisitEnd EndOf(const VisitResult& result, std::optional<Instant> due, Instant now);

// The first thing that went wrong, "CODE ...: WHAT; FIX"; empty: nothing did.
std::string ErrorOf(const VisitResult& result);
// What an operator can do about it; empty: nothing went wrong.
std::string AdviceFor(const VisitResult& result);

}  // namespace etl
