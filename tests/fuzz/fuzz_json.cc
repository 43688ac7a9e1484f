// The JSON reader, the canonical writer and the lenient scanner, over any bytes.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "model/canonical_json.h"
#include "model/json.h"

namespace {

using namespace etl::json;

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// Every value knows its bytes, and every number is a double.
void Walk(Value value, std::string_view text, std::size_t begin, std::size_t end) {
  Require(
      begin <= value.begin_offset() && value.begin_offset() < value.end_offset() && value.end_offset() <= end,
      "a value lies within its container");
  if (value.IsNumber()) {
    Require(
        text.substr(value.begin_offset(), value.end_offset() - value.begin_offset()) == value.NumberText(),
        "a number keeps its text");
    const auto number = value.AsDouble();
    Require(number.has_value() && std::isfinite(*number), "a number is a finite double");
  }
  std::size_t at = value.begin_offset();
  for (const Value element : value.elements()) {
    Walk(element, text, at, value.end_offset());
    at = element.end_offset();
  }
  for (const Member member : value.members()) {
    Require(value.Find(member.name).node() == member.value.node(), "a member is found by its name");
    Walk(member.value, text, at, value.end_offset());
    at = member.value.end_offset();
  }
}

void ReadAndWrite(std::string_view text) {
  const auto document = Document::Parse(text);
  if (!document) {
    Require(!document.error().code.empty() && document.error().where.starts_with("byte "),
            "a refusal says where");
    return;
  }
  Walk(document->root(), text.substr(document->had_bom() ? 3 : 0), 0, text.size());
  for (const Integers integers : {Integers::kAsDouble, Integers::kExact}) {
    const std::string canonical = Canonical(document->root(), integers);
    const auto again = Document::Parse(canonical);
    Require(again.has_value(), "canonical text is JSON");
    Require(again->root().end_offset() == canonical.size(), "canonical text is one value");
    Require(Canonical(again->root(), integers) == canonical, "canonical text is its own canonical form");
  }
}

void Scan(std::string_view text) {
  const auto rows = FindElements(text, {"data", "rows"});
  const auto elements = FindElements(text, {});
  for (const auto& found : {rows, elements}) {
    if (!found) continue;
    std::size_t at = 0;
    for (const auto& [begin, end] : *found) {
      Require(at <= begin && begin <= end && end <= text.size(), "elements follow one another");
      at = end;
    }
  }
  // Where the strict reader sees an array, the lenient scanner sees the same.
  const auto document = Document::Parse(text);
  if (!document || document->had_bom() || !document->root().IsArray()) return;
  Require(elements.has_value() && elements->size() == document->root().size(), "both readers count the same");
  std::size_t i = 0;
  for (const Value element : document->root().elements()) {
    Require((*elements)[i].begin == element.begin_offset() && (*elements)[i].end == element.end_offset(),
            "both readers agree on every element");
    ++i;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ReadAndWrite(text);
  Scan(text);
  return 0;
}
