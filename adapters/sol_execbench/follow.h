#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/adapter.h"
#include "adapters/sol_execbench/request_key.h"
#include "model/instant.h"

namespace etl::sol_execbench {

// Following a source that shows the newest rows of a list only: what is remembered of a kernel from poll to
// poll, which lists have to be read, and what was lost when the window ran ahead of us. Pure.

inline constexpr std::size_t kSlicesMax = 64;          // lists of one kernel in one visit
inline constexpr std::size_t kUnfinishedMax = 10'000;  // of one kernel; the oldest are given up first
inline constexpr std::size_t kSliceValuesMax = 16;     // GPUs, and stack versions, that are told apart
inline constexpr std::int64_t kWindowShareOfPoll = 2;  // a kernel is due when half a window may be new
inline constexpr std::size_t kLeaderboardsMax = 32;    // of one kernel

// Where the polling of a kernel stands: cursor "poll/<id>".
struct KernelCursor {
  std::int64_t listed = -1;  // upstream's submission_count when the rows were read; -1: it gave none
  std::int64_t rows = 0;     // that its list held
  std::int64_t newest = 0;   // highest row id ever seen
  Instant read_at, due_at;   // when every row was last compared, and is to be again
  std::map<std::int64_t, Instant> unfinished;  // row -> when it was first seen so
  std::set<std::int64_t> given_up;  // rows that are still in sight and still unfinished, no longer waited for
  // The narrowest lists that showed rows, where the whole list does not show them all: read again when due.
  std::set<Slice> slices;
  bool detail_missing = false;  // the definition was asked for and could not be taken: due at once
};
inline constexpr std::string_view kPollPrefix = "poll/";
std::string PollKey(std::int64_t kernel_id);
std::optional<std::int64_t> PolledKernel(std::string_view poll_key);
std::string CursorText(const KernelCursor& cursor);
std::optional<KernelCursor> ParseCursor(std::string_view text);

// How many rows a kernel's list held last: cursor "rows/<id>". Moved by every visit, so that an answer that
// lost them is noticed.
struct RowsMemory {
  Instant at;
  std::int64_t rows = 0;
};
std::string RowsKey(std::int64_t kernel_id);
std::string RowsText(const RowsMemory& memory);
std::optional<RowsMemory> ParseRows(std::string_view text);

// The kernels that upstream listed last, and those that it used to: cursor "kernels".
struct KernelsMemory {
  Instant at;
  std::map<std::int64_t, std::string> listed;
  std::map<std::int64_t, std::pair<std::string, Instant>> withdrawn;  // name, and when it was missed first
};
inline constexpr std::string_view kKernelsKey = "kernels";
std::string KernelsText(const KernelsMemory& memory);
std::optional<KernelsMemory> ParseKernels(std::string_view text);

// When a kernel is to be read again: before half a window of new rows can have come at the rate seen between
// two readings.
Instant DueAt(const KernelCursor& before, std::int64_t listed, Instant now, const FollowRules& rules);

// What a row's place in a list needs of it.
struct RowSight {
  std::int64_t id = 0;
  std::string_view gpu_type, stack_version, status;
  bool unfinished = false;
};

// The reading of one kernel's rows in one visit: first the whole list, then, where that does not reach far
// enough, slices of it.
class KernelRead {
 public:
  // `before`: where polling stood; nothing at a first poll and for a backfill. `due`: every row that a list
  // can still show is to be read again, not the newest alone.
  KernelRead(std::int64_t listed, std::vector<std::string> gpu_types, std::optional<KernelCursor> before,
             bool due = false);

  void See(const RowSight& row);
  // A list has been read to its end: `rows` rows, the lowest id `oldest` (0 when it is empty). Returns the
  // slices that have to be read as well.
  std::vector<Slice> ListEnded(const Slice& slice, std::int64_t rows, std::int64_t oldest);
  // A list that could not be shown complete: the cursor will not move.
  void ListFailed() { failed_ = true; }
  // The kernel's detail is asked for in this visit too, and has been taken. Until then its rows cannot be
  // judged, or only by an older one: the definition stays due.
  void DetailAsked() { detail_missing_ = true; }
  void DetailTaken() { detail_missing_ = false; }
  // The leaderboards of the kernel's GPUs are asked for in this visit.
  void BoardsAsked() { boards_asked_ = true; }
  bool boards_asked() const { return boards_asked_; }

  // After the last list.
  struct Lost {
    Slice slice;
    std::int64_t newest_known = 0, oldest_seen = 0;
  };
  const std::vector<Lost>& lost() const { return lost_; }  // rows between two ids that no list showed
  bool failed() const { return failed_; }
  struct End {
    KernelCursor cursor;
    std::vector<std::int64_t> given_up;  // unfinished rows no longer waited for
  };
  End Finish(Instant now, const FollowRules& rules) const;
  std::int64_t listed() const { return listed_; }
  const std::set<std::string>& gpu_types() const { return gpu_types_; }
  const std::set<std::string>& stack_versions() const { return stack_versions_; }

 private:
  bool Reaches(std::int64_t rows, std::int64_t oldest) const;
  std::vector<Slice> Split(const Slice& slice) const;
  std::set<Slice> KnownSlices() const;
  bool MissesUnfinished() const;

  std::int64_t listed_;
  std::optional<KernelCursor> before_;
  bool due_;
  std::set<std::string> gpu_types_, stack_versions_;
  std::set<Slice> slices_;             // that become KernelCursor::slices
  std::set<Slice> seen_slices_;        // the narrowest, of every row
  std::map<std::int64_t, bool> seen_;  // row -> unfinished when seen last
  std::int64_t whole_rows_ = 0;        // how deep the window is, as the whole list showed
  std::size_t lists_ = 0;
  std::vector<Lost> lost_;
  bool failed_ = false, detail_missing_ = false, boards_asked_ = false;
};

}  // namespace etl::sol_execbench
