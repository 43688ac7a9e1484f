#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/digest.h"
#include "model/instant.h"
#include "model/json.h"
#include "store/record.h"

namespace etl {

// Reads members of a stored object; the first that is missing or of another type makes the whole record
// unreadable.
class RecordReader {
 public:
  RecordReader(std::string_view key, json::Value object) : key_(key), object_(object) {
    if (!object.IsObject()) Bad("not an object");
  }
  std::string Text(std::string_view name) {
    const json::Value v = object_.Find(name);
    if (!v.IsString()) Bad(name);
    return std::string(v.AsString());
  }
  std::string TextOr(std::string_view name, std::string otherwise) {
    return object_.Find(name) ? Text(name) : std::move(otherwise);
  }
  std::int64_t Integer(std::string_view name) {
    const auto n = object_.Find(name).AsInt64();
    if (!n) Bad(name);
    return n.value_or(0);
  }
  std::uint64_t Count(std::string_view name) {
    const std::int64_t n = Integer(name);
    if (n < 0) Bad(name);
    return static_cast<std::uint64_t>(n);
  }
  std::uint32_t Count32(std::string_view name) {
    const std::uint64_t n = Count(name);
    if (n > UINT32_MAX) Bad(name);
    return static_cast<std::uint32_t>(n);
  }
  std::uint64_t CountOr(std::string_view name, std::uint64_t otherwise) {
    return object_.Find(name) ? Count(name) : otherwise;
  }
  Instant Time(std::string_view name) { return Instant{Integer(name)}; }
  Instant TimeOr(std::string_view name, Instant otherwise) {
    return object_.Find(name) ? Time(name) : otherwise;
  }
  double Number(std::string_view name) {
    const auto n = object_.Find(name).AsDouble();
    if (!n) Bad(name);
    return n.value_or(0);
  }
  std::optional<double> OptionalNumber(std::string_view name) {
    if (!object_.Find(name)) return std::nullopt;
    return Number(name);
  }
  Digest Hash(std::string_view name) {
    auto digest = ParseDigest(Text(name));
    if (!digest) Bad(name);
    return digest ? *digest : Digest{};
  }
  std::optional<Digest> OptionalHash(std::string_view name) {
    if (!object_.Find(name)) return std::nullopt;
    return Hash(name);
  }
  bool Bool(std::string_view name) { return object_.Find(name).IsTrue(); }
  json::Value At(std::string_view name) { return object_.Find(name); }
  void Bad(std::string_view what) {
    if (bad_.empty()) bad_ = what;
  }
  // The record, unless something was wrong with it.
  template <class T>
  Result<T> Done(T value) {
    if (!bad_.empty()) return Fail(Unreadable(key_, bad_));
    return value;
  }

 private:
  std::string_view key_;
  json::Value object_;
  std::string bad_;
};

inline Result<json::Document> ParseStored(std::string_view key, std::string_view value) {
  auto document = json::Document::Parse(value);
  if (!document) return Fail(Unreadable(key, document.error().Message()));
  return document;
}

}  // namespace etl
