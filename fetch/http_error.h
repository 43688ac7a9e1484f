#pragma once

#include <string>
#include <string_view>

#include "model/error.h"

namespace etl {

// An error of the network transport, with what to do about each code of fetch/http_transport.h. kUnavailable,
// but for HTTP_KEY and STOPPED.
Error HttpError(std::string_view code, std::string where, std::string what);

// Whether an attempt that failed with this code is repeated.
bool IsRepeated(std::string_view code);

// Whether it speaks against the host as a whole: what the circuit breaker counts.
bool IsHostFailure(std::string_view code);

}  // namespace etl
