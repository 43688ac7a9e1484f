#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/json.h"

namespace etl::test {

// The public contract of the catalogue whose clients are to work against us is not part of the project:
// $ETL_PEER_DIR names the folder with its openapi.json, and tests that need it skip without.
std::optional<std::string> PeerContract();

// What is wrong with a value by a JSON Schema (2020-12, as far as OpenAPI 3.1 documents use it: type, enum,
// const, properties, required, additionalProperties, items, anyOf, oneOf, allOf), a line each. Members that
// the schema does not name are right.
std::vector<std::string> SchemaFaults(json::Value schema, json::Value value, const std::string& path = "$");

// The schema of the 200 answer of a path of an OpenAPI document; missing where there is none.
json::Value AnswerSchema(json::Value openapi, std::string_view path, std::string_view method);

}  // namespace etl::test
