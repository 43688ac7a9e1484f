#include "adapters/sol_execbench/drift_log.h"

#include <algorithm>
#include <utility>

#include "model/canonical_json.h"
#include "model/text.h"

namespace etl::sol_execbench {
namespace {

constexpr std::size_t kPathBytesMax = 300;

// The longest start of valid UTF-8 that has at most `bytes_max` bytes and no part of a character.
std::string_view CutBytes(std::string_view utf8, std::size_t bytes_max) {
  if (utf8.size() <= bytes_max) return utf8;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(utf8[end]) & 0xC0U) == 0x80U) --end;
  return utf8.substr(0, end);
}

bool MayHoldCode(std::string_view name) {
  const std::string lower = Lower(name);
  return lower.find("baseline") != std::string::npos || lower.find("reference") != std::string::npos;
}

}  // namespace

void DriftLog::Note(Draft& draft, std::string path, std::string_view sample) {
  path = CutBytes(path, kPathBytesMax);
  if (seen_.size() >= kPathsMax || !seen_.insert(path).second) return;
  draft.drift.push_back({std::move(path), std::string(CutBytes(sample, kSampleBytesMax))});
}

void DriftLog::NoteUnknown(Draft& draft, json::Value object, std::initializer_list<std::string_view> known,
                           std::string_view prefix, std::string_view text) {
  for (const json::Member member : object.members()) {
    if (std::find(known.begin(), known.end(), member.name) == known.end())
      NoteMember(draft, member, prefix, text);
  }
}

void DriftLog::NoteMember(Draft& draft, const json::Member& member, std::string_view prefix,
                          std::string_view text) {
  const std::size_t begin = member.value.begin_offset();
  const bool sampled = !MayHoldCode(member.name);
  Note(draft, std::string(prefix) + std::string(member.name),
       sampled ? text.substr(begin, member.value.end_offset() - begin) : std::string_view());
}

void DriftLog::NoteIfNoNames(Draft& draft, json::Value list, std::string_view path, std::string_view text) {
  if (list.IsAbsent()) return;
  bool names = list.IsArray();
  for (const json::Value name : list.elements()) names = names && name.IsString();
  if (names) return;
  Note(draft, std::string(path) + " is no list of names",
       text.substr(list.begin_offset(), list.end_offset() - list.begin_offset()));
}

void DriftLog::NoteValue(Draft& draft, std::string_view prefix, std::string_view value) {
  std::string sample;
  json::AppendString(sample, value);
  Note(draft, std::string(prefix) + "=" + std::string(value), sample);
}

}  // namespace etl::sol_execbench
