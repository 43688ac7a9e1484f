#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "model/draft.h"
#include "model/error.h"
#include "model/json.h"

namespace etl::sol_execbench {

// An element of a response's list that the strict reader refuses, set aside so that the rest can be read.
struct RefusedElement {
  std::size_t index = 0;
  std::size_t begin = 0, end = 0;  // in Envelope::text
  Error error;
};

// A response body, parsed. Values and views live as long as the envelope and the bytes it was read from.
struct Envelope {
  json::Document document;
  std::string_view text;                // the body without a byte order mark: what offsets of values count in
  std::size_t bom_bytes = 0;            // what to add to such an offset to count in the body
  std::vector<RefusedElement> refused;  // by rising index; their places in the document hold a number

  bool IsRefused(std::size_t index) const;
  std::string_view BytesOf(json::Value value) const;
  Locator LocatorOf(json::Value value) const;
};

// Parses a body. When the strict reader refuses it, the elements of the list at `list` (empty: none) are
// tried one by one, the bad ones set aside, and the rest read. `request_key` only names the place in errors.
//
// Errors (kInvalid): RESPONSE_JSON (`where` ends in "byte N") when it is no JSON even so, RESPONSE_SHAPE for
// an HTML page, or when the root is no object, RESPONSE_DETAIL for {"detail": ...}, upstream's way to say no.
Result<Envelope> ReadEnvelope(std::string_view request_key, std::string_view body,
                              std::initializer_list<std::string_view> list);

// The error for a body that lacks what it must have at `path`.
Error ShapeError(std::string_view request_key, std::string_view path, std::string_view what);

// A quarantine item for `bytes`, found at `path` of the response to `request_key`.
QuarantineDraft Quarantined(std::string code, std::string_view request_key, std::string_view path,
                            std::string what, std::string_view bytes);

}  // namespace etl::sol_execbench
