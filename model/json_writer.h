#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/canonical_json.h"

namespace etl::json {

// Appends one JSON object or array to a string, member by member, in the order of the calls. The caller says
// each name once. Strings must be valid UTF-8, doubles finite.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;

  ObjectWriter& Text(std::string_view name, std::string_view value) {
    Name(name);
    AppendString(out_, value);
    return *this;
  }
  ObjectWriter& Integer(std::string_view name, std::int64_t value) {
    return Raw(name, std::to_string(value));
  }
  ObjectWriter& Count(std::string_view name, std::uint64_t value) { return Raw(name, std::to_string(value)); }
  ObjectWriter& Number(std::string_view name, double value) {
    Name(name);
    AppendNumber(out_, value);
    return *this;
  }
  ObjectWriter& Bool(std::string_view name, bool value) { return Raw(name, value ? "true" : "false"); }
  ObjectWriter& Null(std::string_view name) { return Raw(name, "null"); }
  // `json` is already JSON.
  ObjectWriter& Raw(std::string_view name, std::string_view json) {
    Name(name);
    out_ += json;
    return *this;
  }
  void End() { out_ += '}'; }

 private:
  void Name(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    AppendString(out_, name);
    out_ += ':';
  }
  std::string& out_;
  bool first_ = true;
};

// ["a","b"] of any range of strings.
template <class Strings>
std::string TextArray(const Strings& strings) {
  std::string out = "[";
  for (const auto& s : strings) {
    if (out.size() > 1) out += ',';
    AppendString(out, s);
  }
  return out + "]";
}

}  // namespace etl::json
