#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/digest.h"
#include "model/error.h"
#include "model/instant.h"
#include "model/json.h"

namespace etl::ctl {

// Builds one JSON object, members in the order they are added. Names are ours; values may be anyone's (valid
// UTF-8; other bytes are replaced by their \xNN form, see Safe).
class JsonObject {
 public:
  JsonObject& Text(std::string_view name, std::string_view value);
  JsonObject& Text(std::string_view name, const Digest& digest) { return Text(name, digest.Text()); }
  JsonObject& Text(std::string_view name, Instant at) { return Text(name, at.Text()); }
  JsonObject& Number(std::string_view name, double value);  // null when not finite
  JsonObject& Count(std::string_view name, std::uint64_t value);
  JsonObject& Integer(std::string_view name, std::int64_t value);
  JsonObject& Bool(std::string_view name, bool value);
  JsonObject& Null(std::string_view name);
  // A value that is JSON already; empty is null.
  JsonObject& Raw(std::string_view name, std::string_view json);
  JsonObject& Texts(std::string_view name, const std::vector<std::string>& values);
  // The value, or null where there is none.
  template <class T>
  JsonObject& Maybe(std::string_view name, const std::optional<T>& value) {
    return value ? Text(name, *value) : Null(name);
  }
  std::string Done() const { return text_ + "}"; }

 private:
  void Name(std::string_view name);
  std::string text_ = "{";
};

// {code, where, what, fix}.
std::string FaultJson(const Error& fault);

// "[a,b]" from values that are JSON already.
std::string JsonArray(const std::vector<std::string>& values);

// Indented JSON for people: two spaces, the shorter member name first, then by byte. An empty container stays
// on its line. Recurses over depth, which the reader bounds (json::Limits).
std::string PrettyJson(json::Value value, std::size_t indent = 0);

}  // namespace etl::ctl
