#pragma once

#include <cstddef>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include "model/draft.h"
#include "model/json.h"

namespace etl::sol_execbench {

// What upstream says that this mapping does not know, reported once per path for the life of the log, with a
// sample of at most 200 bytes. After 1,000 different paths it falls silent: a body of random names must not
// grow it without end.
class DriftLog {
 public:
  static constexpr std::size_t kPathsMax = 1000;
  static constexpr std::size_t kSampleBytesMax = 200;

  // `path` as in DriftDraft; a path longer than 300 bytes is cut.
  void Note(Draft& draft, std::string path, std::string_view sample);

  // Notes each member of `object` that is not in `known` as prefix + name. `text` is what the value was
  // parsed from.
  void NoteUnknown(Draft& draft, json::Value object, std::initializer_list<std::string_view> known,
                   std::string_view prefix, std::string_view text);
  // The same for one member. Source code is never sampled: a member whose name speaks of a baseline or a
  // reference has an empty sample.
  void NoteMember(Draft& draft, const json::Member& member, std::string_view prefix, std::string_view text);
  // Notes `path` when a list of names is something else, or holds something else. Absent or null is no drift.
  void NoteIfNoNames(Draft& draft, json::Value list, std::string_view path, std::string_view text);
  // Notes prefix + "=" + value: a new value of a known member.
  void NoteValue(Draft& draft, std::string_view prefix, std::string_view value);

 private:
  std::set<std::string, std::less<>> seen_;
};

}  // namespace etl::sol_execbench
