#pragma once

#include <cstddef>
#include <string_view>

#include "serve/http.h"

namespace etl::serve {

inline constexpr std::size_t kCodedBytesMin = 1024;  // smaller bodies are sent as they are

// Compresses the body of a 200 with the best coding that the client takes (RFC 9110, section 12.5.3): zstd,
// else gzip; an entity tag "x" becomes "x-zstd" or "x-gzip", as other bytes need another tag. Says that the
// answer varies with Accept-Encoding, whether or not it was compressed.
void Encode(Response& response, std::string_view accept_encoding);

// The coding that Encode would choose: "zstd", "gzip" or "".
std::string_view CodingFor(std::string_view accept_encoding);

// Whether an If-None-Match (weak comparison; RFC 9110, section 13.1.2) names this tag, in any coding.
bool TagMatches(std::string_view if_none_match, std::string_view tag);

}  // namespace etl::serve
