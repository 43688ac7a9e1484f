#include "adapters/sol_execbench/follow.h"

#include <algorithm>
#include <charconv>

#include "adapters/sol_execbench/paging.h"
#include "adapters/sol_execbench/vocabulary.h"
#include "model/canonical_json.h"
#include "model/json.h"
#include "model/json_writer.h"

namespace etl::sol_execbench {
namespace {

using json::ObjectWriter;

std::optional<Instant> TimeAt(json::Value root, std::string_view member) {
  const auto ms = root.Find(member).AsInt64();
  if (!ms) return std::nullopt;
  return Instant{*ms};
}

json::Value Nth(json::Value array, std::size_t n) {
  for (const json::Value item : array.elements())
    if (n-- == 0) return item;
  return {};
}

}  // namespace

std::string PollKey(std::int64_t kernel_id) {
  return std::string(kPollPrefix) + std::to_string(kernel_id);
}
std::optional<std::int64_t> PolledKernel(std::string_view poll_key) {
  if (!poll_key.starts_with(kPollPrefix)) return std::nullopt;
  const std::string_view digits = poll_key.substr(kPollPrefix.size());
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return id;
}
std::string RowsKey(std::int64_t kernel_id) {
  return "rows/" + std::to_string(kernel_id);
}

std::string CursorText(const KernelCursor& cursor) {
  std::string unfinished = "[";
  for (const auto& [id, since] : cursor.unfinished) {
    if (unfinished.size() > 1) unfinished += ',';
    unfinished += '[' + std::to_string(id) + ',' + std::to_string(since.ms) + ']';
  }
  std::string given_up = "[";
  for (const std::int64_t id : cursor.given_up)
    given_up += (given_up.size() > 1 ? "," : "") + std::to_string(id);
  std::string out;
  ObjectWriter w(out);
  if (cursor.detail_missing) w.Bool("detailMissing", true);
  w.Integer("dueAt", cursor.due_at.ms).Raw("givenUp", given_up + "]");
  w.Integer("listed", cursor.listed).Integer("newest", cursor.newest);
  w.Integer("readAt", cursor.read_at.ms).Integer("rows", cursor.rows);
  if (!cursor.slices.empty()) {
    std::string slices = "[";
    for (const Slice& slice : cursor.slices) {
      if (slices.size() > 1) slices += ',';
      slices += json::TextArray(std::vector<std::string>{slice.gpu_type, slice.stack_version, slice.status});
    }
    w.Raw("slices", slices + "]");
  }
  w.Raw("unfinished", unfinished + "]").End();
  return out;
}

std::optional<KernelCursor> ParseCursor(std::string_view text) {
  const auto document = json::Document::Parse(text);
  if (!document) return std::nullopt;
  const json::Value root = document->root();
  const auto due_at = TimeAt(root, "dueAt"), read_at = TimeAt(root, "readAt");
  const auto listed = root.Find("listed").AsInt64(), rows = root.Find("rows").AsInt64();
  const auto newest = root.Find("newest").AsInt64();
  if (!due_at || !read_at || !listed || !rows || !newest) return std::nullopt;
  KernelCursor cursor{*listed, *rows, *newest, *read_at, *due_at, {}, {}, {}, false};
  cursor.detail_missing = root.Find("detailMissing").IsTrue();
  for (const json::Value slice : root.Find("slices").elements()) {
    if (cursor.slices.size() >= kSlicesMax) break;
    const auto part = [&](std::size_t n) { return std::string(Nth(slice, n).AsString()); };
    cursor.slices.insert({part(0), part(1), part(2)});
  }
  for (const json::Value id : root.Find("givenUp").elements())
    if (const auto number = id.AsInt64()) cursor.given_up.insert(*number);
  for (const json::Value pair : root.Find("unfinished").elements()) {
    const auto id = Nth(pair, 0).AsInt64(), since = Nth(pair, 1).AsInt64();
    if (id && since) cursor.unfinished.emplace(*id, Instant{*since});
  }
  return cursor;
}

std::string RowsText(const RowsMemory& memory) {
  std::string out;
  ObjectWriter(out).Integer("at", memory.at.ms).Integer("rows", memory.rows).End();
  return out;
}

std::optional<RowsMemory> ParseRows(std::string_view text) {
  const auto document = json::Document::Parse(text);
  if (!document) return std::nullopt;
  const auto at = TimeAt(document->root(), "at");
  const auto rows = document->root().Find("rows").AsInt64();
  if (!at || !rows) return std::nullopt;
  return RowsMemory{*at, *rows};
}

std::string KernelsText(const KernelsMemory& memory) {
  std::string listed = "[", withdrawn = "[";
  for (const auto& [id, name] : memory.listed) {
    if (listed.size() > 1) listed += ',';
    listed += '[' + std::to_string(id) + ',';
    json::AppendString(listed, name);
    listed += ']';
  }
  for (const auto& [id, what] : memory.withdrawn) {
    if (withdrawn.size() > 1) withdrawn += ',';
    withdrawn += '[' + std::to_string(id) + ',';
    json::AppendString(withdrawn, what.first);
    withdrawn += ',' + std::to_string(what.second.ms) + ']';
  }
  std::string out;
  ObjectWriter(out)
      .Integer("at", memory.at.ms)
      .Raw("listed", listed + "]")
      .Raw("withdrawn", withdrawn + "]")
      .End();
  return out;
}

std::optional<KernelsMemory> ParseKernels(std::string_view text) {
  const auto document = json::Document::Parse(text);
  if (!document) return std::nullopt;
  const auto at = TimeAt(document->root(), "at");
  if (!at) return std::nullopt;
  KernelsMemory memory;
  memory.at = *at;
  for (const json::Value item : document->root().Find("listed").elements()) {
    if (const auto id = Nth(item, 0).AsInt64()) memory.listed.emplace(*id, Nth(item, 1).AsString());
  }
  for (const json::Value item : document->root().Find("withdrawn").elements()) {
    const auto id = Nth(item, 0).AsInt64(), since = Nth(item, 2).AsInt64();
    if (id && since)
      memory.withdrawn.emplace(*id, std::pair(std::string(Nth(item, 1).AsString()), Instant{*since}));
  }
  return memory;
}

Instant DueAt(const KernelCursor& before, std::int64_t listed, Instant now, const FollowRules& rules) {
  std::int64_t interval_s = rules.reread_s;
  const std::int64_t fresh = listed - before.listed;
  const std::int64_t elapsed_s = (now.ms - before.read_at.ms) / 1000;
  if (before.listed >= 0 && fresh > 0 && elapsed_s > 0) {
    // elapsed / fresh is the time of one row; half a window of them.
    interval_s = std::min(interval_s, elapsed_s * (kPageRows / kWindowShareOfPoll) / fresh);
    interval_s = std::max(interval_s, rules.reread_min_s);
  }
  return Instant{now.ms + interval_s * 1000};
}

KernelRead::KernelRead(std::int64_t listed, std::vector<std::string> gpu_types,
                       std::optional<KernelCursor> before, bool due)
    : listed_(listed), before_(std::move(before)), due_(due) {
  if (before_) slices_ = before_->slices;
  for (std::string& gpu_type : gpu_types) {
    if (gpu_types_.size() < kSliceValuesMax && !gpu_type.empty()) gpu_types_.insert(std::move(gpu_type));
  }
}

void KernelRead::See(const RowSight& row) {
  seen_[row.id] = row.unfinished;
  if (!row.gpu_type.empty() && gpu_types_.size() < kSliceValuesMax) gpu_types_.emplace(row.gpu_type);
  if (!row.stack_version.empty() && stack_versions_.size() < kSliceValuesMax)
    stack_versions_.emplace(row.stack_version);
  if (seen_slices_.size() < kSlicesMax)
    seen_slices_.insert({std::string(row.gpu_type), std::string(row.stack_version), std::string(row.status)});
}

// Whether a list holds everything that is new: all rows there are, or back to what was known.
bool KernelRead::Reaches(std::int64_t rows, std::int64_t oldest) const {
  if (rows < kPageRows || rows < whole_rows_) return true;  // it ended before the window did
  return before_ && oldest <= before_->newest;
}

bool KernelRead::MissesUnfinished() const {
  return before_ && std::any_of(before_->unfinished.begin(), before_->unfinished.end(),
                                [&](const auto& row) { return !seen_.contains(row.first); });
}

// By GPU, then by stack version, then by status: the first that tells rows apart.
std::vector<Slice> KernelRead::Split(const Slice& slice) const {
  std::vector<Slice> parts;
  const auto with = [&](std::string Slice::*part, std::string_view value) {
    parts.push_back(slice);
    parts.back().*part = value;
  };
  if (slice.gpu_type.empty() && gpu_types_.size() > 1) {
    for (const std::string& value : gpu_types_) with(&Slice::gpu_type, value);
  } else if (slice.stack_version.empty() && stack_versions_.size() > 1) {
    for (const std::string& value : stack_versions_) with(&Slice::stack_version, value);
  } else if (slice.status.empty()) {
    for (const std::string_view value : KnownStatuses()) with(&Slice::status, value);
  }
  return parts;
}

// What was read by slices before, and slices for the rows seen now that those do not show. Where nothing was
// read by slices there is nothing to add to: reading every row begins with splitting the whole list.
std::set<Slice> KernelRead::KnownSlices() const {
  std::set<Slice> slices = slices_;
  const auto shows = [](const std::string& part, const std::string& value) {
    return part.empty() || part == value;
  };
  for (const Slice& row : seen_slices_) {
    const bool shown = std::any_of(slices.begin(), slices.end(), [&](const Slice& slice) {
      return shows(slice.gpu_type, row.gpu_type) && shows(slice.stack_version, row.stack_version) &&
             shows(slice.status, row.status);
    });
    if (!slices.empty() && !shown && slices.size() < kSlicesMax) slices.insert(row);
  }
  return slices;
}

std::vector<Slice> KernelRead::ListEnded(const Slice& slice, std::int64_t rows, std::int64_t oldest) {
  ++lists_;
  std::vector<Slice> more;
  if (slice.whole()) {
    whole_rows_ = rows;
    if (rows < kPageRows || (listed_ >= 0 && listed_ <= rows)) {  // nothing is hidden
      slices_.clear();
      return more;
    }
  } else if (rows > 0 && slices_.size() < kSlicesMax) {
    slices_.insert(slice);
  } else if (rows == 0) {
    slices_.erase(slice);
  }
  const bool reaches = Reaches(rows, oldest);
  if (due_ && before_) {
    // Every row that some list can still show.
    const bool full = rows >= kPageRows && rows >= whole_rows_;
    if (slice.whole() && !slices_.empty()) {
      const std::set<Slice> known = KnownSlices();
      more.assign(known.begin(), known.end());
    } else if (full && lists_ < kSlicesMax) {
      more = Split(slice);
    }
  } else if (!reaches && lists_ < kSlicesMax) {
    more = Split(slice);
  }
  if (!more.empty() && !slice.whole()) slices_.erase(slice);  // its parts show what it did
  if (more.empty() && !reaches) lost_.push_back({slice, before_ ? before_->newest : 0, oldest});
  // What is still to be finished may have left the window; lists by status reach further back for it.
  if (slice.whole() && reaches && MissesUnfinished())
    for (const std::string_view status : KnownStatuses()) {
      Slice by_status{"", "", std::string(status)};
      if (std::find(more.begin(), more.end(), by_status) == more.end()) more.push_back(std::move(by_status));
    }
  return more;
}

KernelRead::End KernelRead::Finish(Instant now, const FollowRules& rules) const {
  End end;
  KernelCursor& cursor = end.cursor;
  const KernelCursor before = before_.value_or(KernelCursor{});
  cursor.listed = listed_;
  cursor.rows = whole_rows_;
  cursor.newest = std::max(before.newest, seen_.empty() ? 0 : seen_.rbegin()->first);
  cursor.read_at = now;
  cursor.slices = KnownSlices();
  cursor.due_at = DueAt(before, listed_, now, rules);
  cursor.detail_missing = detail_missing_;
  for (const auto& [id, unfinished] : seen_) {
    if (!unfinished) continue;
    const auto known = before.unfinished.find(id);
    if (before.given_up.contains(id)) {
      cursor.given_up.insert(id);
    } else {
      cursor.unfinished.emplace(id, known == before.unfinished.end() ? now : known->second);
    }
  }
  for (const auto& [id, since] : before.unfinished)
    if (!seen_.contains(id)) cursor.unfinished.emplace(id, since);
  for (auto it = cursor.unfinished.begin(); it != cursor.unfinished.end();) {
    const bool late = now.ms - it->second.ms > rules.give_up_s * 1000;
    if (!late && cursor.unfinished.size() <= kUnfinishedMax) {
      ++it;
      continue;
    }
    end.given_up.push_back(it->first);
    if (seen_.contains(it->first)) cursor.given_up.insert(it->first);
    it = cursor.unfinished.erase(it);
  }
  return end;
}

}  // namespace etl::sol_execbench
