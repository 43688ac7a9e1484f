#include "adapters/sol_execbench/envelope.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "model/canonical_json.h"
#include "model/text.h"

namespace etl::sol_execbench {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";
constexpr std::size_t kDetailCodePointsMax = 300;
// An element stands at most this deep in its response, and must not be let through when it would not be
// there.
constexpr std::size_t kListDepth = 3;

bool LooksLikeHtml(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '<';
}

Error JsonError(std::string_view request_key, Error cause) {
  cause.where = std::string(request_key) + " " + cause.where;
  cause.what = cause.code + ": " + cause.what;
  cause.code = "RESPONSE_JSON";
  cause.fix = "fetch it again; if it stays, the upstream answer is damaged and its bytes are in quarantine";
  return cause;
}

// "byte 7" of an element that begins at 100 is byte 107 of the body.
std::string ShiftedWhere(const std::string& where, std::size_t shift) {
  constexpr std::string_view kByte = "byte ";
  if (!where.starts_with(kByte)) return where;
  std::size_t offset = 0;
  const char* const end = where.data() + where.size();
  if (std::from_chars(where.data() + kByte.size(), end, offset).ec != std::errc()) return where;
  return std::string(kByte) + std::to_string(offset + shift);
}

// Puts a "0" in the place of every element that the strict reader refuses; offsets of the others stay.
void SetBadElementsAside(std::string& text, const std::vector<json::ElementRange>& elements,
                         std::vector<RefusedElement>& refused) {
  json::Limits limits;
  limits.depth_max -= kListDepth;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto [begin, end] = elements[i];
    if (end <= begin) continue;
    auto element = json::Document::Parse(std::string_view(text).substr(begin, end - begin), limits);
    if (element) continue;
    Error error = std::move(element).error();
    error.where = ShiftedWhere(error.where, begin);
    refused.push_back({i, begin, end, std::move(error)});
    text[begin] = '0';
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
              text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
  }
}

std::string DetailText(json::Value detail) {
  return CutTo(detail.IsString() ? std::string(detail.AsString()) : json::Canonical(detail),
               kDetailCodePointsMax);
}

}  // namespace

bool Envelope::IsRefused(std::size_t index) const {
  return std::binary_search(
      refused.begin(), refused.end(), RefusedElement{index, 0, 0, {}},
      [](const RefusedElement& a, const RefusedElement& b) { return a.index < b.index; });
}

std::string_view Envelope::BytesOf(json::Value value) const {
  return text.substr(value.begin_offset(), value.end_offset() - value.begin_offset());
}

Locator Envelope::LocatorOf(json::Value value) const {
  return {bom_bytes + value.begin_offset(), value.end_offset() - value.begin_offset()};
}

Result<Envelope> ReadEnvelope(std::string_view request_key, std::string_view body,
                              std::initializer_list<std::string_view> list) {
  std::string_view text = body;
  while (text.starts_with(kBom)) text.remove_prefix(kBom.size());
  const std::size_t bom_bytes = body.size() - text.size();
  if (LooksLikeHtml(text)) {
    return Fail(ShapeError(request_key, "$", "the answer is an HTML page, not JSON"));
  }
  std::vector<RefusedElement> refused;
  auto document = json::Document::Parse(text);
  if (!document && list.size() > 0) {
    if (const auto elements = json::FindElements(text, list)) {
      std::string patched(text);
      SetBadElementsAside(patched, *elements, refused);
      if (!refused.empty()) {
        auto second = json::Document::Parse(patched);
        // The first refusal may be the bad element's; what is wrong around the elements is the second one's
        // to tell.
        document = std::move(second);
      }
    }
  }
  if (!document) return Fail(JsonError(request_key, std::move(document).error()));
  const json::Value root = document->root();
  if (!root.IsObject()) return Fail(ShapeError(request_key, "$", "the answer is no JSON object"));
  if (const json::Value detail = root.Find("detail"); detail.exists() && !root.Find("data").exists()) {
    return Fail(Errc::kInvalid, "RESPONSE_DETAIL", std::string(request_key) + " $.detail",
                "upstream answered with an error: " + DetailText(detail),
                "ask again later; nothing of this answer was taken");
  }
  return Envelope{*std::move(document), text, bom_bytes, std::move(refused)};
}

Error ShapeError(std::string_view request_key, std::string_view path, std::string_view what) {
  return {Errc::kInvalid, "RESPONSE_SHAPE", std::string(request_key) + " " + std::string(path),
          std::string(what), "look at the bytes in quarantine: upstream may have changed its answers"};
}

QuarantineDraft Quarantined(std::string code, std::string_view request_key, std::string_view path,
                            std::string what, std::string_view bytes) {
  QuarantineDraft item;
  item.code = std::move(code);
  item.where.reserve(request_key.size() + 1 + path.size());
  item.where.append(request_key).append(" ").append(path);
  item.what = std::move(what);
  item.fix = "nothing is lost: its bytes are kept, and a good version is taken when upstream serves one";
  item.bytes = bytes;
  return item;
}

}  // namespace etl::sol_execbench
