// The rows of a kernel: pages of a list, and lists of a window.

#include <algorithm>
#include <optional>
#include <utility>

#include "adapters/sol_execbench/board.h"
#include "adapters/sol_execbench/context.h"
#include "adapters/sol_execbench/follow.h"
#include "adapters/sol_execbench/source.h"
#include "adapters/sol_execbench/vocabulary.h"
#include "model/json_writer.h"

namespace etl::sol_execbench {
namespace {

constexpr std::string_view kAcceptShrunken =
    "if upstream really has taken them away, run the visit once with --accept-shrunken";

RowSight SightOf(json::Value row, std::int64_t id) {
  const json::Value status = row.Find("status");
  const StatusClass status_class = ClassOf(status.AsString());
  return {id, row.Find("gpu_type").AsString(), row.Find("evaluation_stack_version").AsString(),
          status.AsString(),
          status_class == StatusClass::kUnfinished || status_class == StatusClass::kUnknown};
}

}  // namespace

std::optional<std::string> Source::Remembered(const Call& call, std::string_view key) const {
  return call.goal.cursors == nullptr ? std::nullopt : call.goal.cursors->Find(key);
}

Result<Outcome> Source::AcceptSubmissions(const Call& call) {
  ETL_TRY(const Envelope envelope, ReadEnvelope(call.request.key, call.body, {"data", "submissions"}));
  const json::Value data = envelope.document.root().Find("data");
  const json::Value rows = data.Find("submissions");
  if (!rows.IsArray()) {
    return Fail(
        ShapeError(call.request.key, "$.data.submissions", "the answer holds no list of submissions"));
  }
  PageSummary page;
  if (const auto total = data.Find("total").AsInt64(); total && *total >= 0) page.total = total;
  page.ids.reserve(rows.size());
  for (const json::Value row : rows.elements()) page.ids.push_back(RowReader::IdOf(row));
  Outcome outcome;
  ETL_CHECK_OK(CheckRows(call, page, outcome));
  if (call.draft) {
    NoteEnvelopeDrift(envelope, "submissions", outcome);
    drift_.NoteUnknown(outcome.draft, data, {"submissions", "total", "offset", "limit"}, "submissions.data.",
                       envelope.text);
    const auto reviews = [&](std::int64_t id) { return ReviewOf(call, id); };
    mapper_.MapPage(call.request.key, call.key.kernel_id, call.context, envelope, rows, reviews,
                    outcome.draft);
    if (const auto text = Remembered(call, BoardKey(KernelScope(call.key.kernel_id))))
      if (const auto entries = ParseBoard(*text)) EndBoardEntries(*entries, envelope, rows, outcome.draft);
  }
  std::unique_ptr<RowsWalk> walk;
  if (auto* carried = dynamic_cast<RowsWalk*>(call.request.walk.get()); carried != nullptr) {
    static_cast<void>(call.request.walk.release());
    walk.reset(carried);
  } else if (call.key.offset == 0) {
    walk = std::make_unique<RowsWalk>(options_.kernel_rows_max);
  } else {
    return outcome;  // a page read alone, from a stored snapshot: it belongs to no walk
  }
  auto id = page.ids.begin();
  for (const json::Value row : rows.elements()) {
    const auto this_id = *id++;
    if (!this_id) continue;
    walk->oldest = walk->oldest == 0 ? *this_id : std::min(walk->oldest, *this_id);
    if (walk->read) walk->read->See(SightOf(row, *this_id));
  }
  const Step step = walk->walk.Take(call.key.offset, page);
  TakeStep(call, std::move(walk), step, outcome);
  return outcome;
}

std::optional<Decision> Source::ReviewOf(const Call& call, std::int64_t id) const {
  const auto text = Remembered(call, ReviewKey("submission/" + std::to_string(id)));
  const auto decisions = text ? ParseReview(*text) : std::nullopt;
  return decisions ? std::optional<Decision>(decisions->back()) : std::nullopt;
}

ReviewFacts Source::FactsOf(std::string_view row, std::string_view context) const {
  ReviewFacts facts;
  if (const auto document = json::Document::Parse(row))
    facts.latency_ms = document->root().Find("latency_ms").AsDouble();
  if (const auto kernel = ParseContext(context)) facts.bound_ms = kernel->sol_ms_min;
  return facts;
}

// A list that held rows and is empty now, or lost most of them, is no news but a wrong answer. Where an
// operator says otherwise, what is left is the measure from its first page on: the others may be read later.
Status Source::CheckRows(const Call& call, const PageSummary& page, Outcome& outcome) const {
  if (call.key.offset != 0 || !call.key.slice.whole()) return {};
  const auto text = Remembered(call, RowsKey(call.key.kernel_id));
  const auto known = text ? ParseRows(*text) : std::nullopt;
  if (!known || known->at >= call.at || known->rows == 0) return {};
  const std::int64_t now = std::max(page.total.value_or(0), static_cast<std::int64_t>(page.ids.size()));
  if (call.goal.follow.accept_shrunken) {
    if (now < known->rows)
      outcome.draft.cursors.push_back({RowsKey(call.key.kernel_id), RowsText({call.at, now})});
    return {};
  }
  const std::string what =
      "the list held " + std::to_string(known->rows) + " rows and now states " + std::to_string(now);
  if (now == 0)
    return Fail(Errc::kInvalid, "ROWS_VANISHED", call.request.key + " $.data.submissions", what,
                std::string(kAcceptShrunken));
  if (now * 100 < known->rows * (100 - call.goal.follow.shrink_max_percent))
    return Fail(Errc::kInvalid, "ROWS_SHRUNK", call.request.key + " $.data.total", what,
                std::string(kAcceptShrunken));
  return {};
}

void Source::TakeStep(const Call& call, std::unique_ptr<RowsWalk> walk, const Step& step, Outcome& outcome) {
  const std::string scope = KernelScope(call.key.kernel_id);
  outcome.rows = step.rows_new;
  rows_ += step.rows_new;
  if (step.kind == Step::Kind::kComplete) {
    EndList(call, *walk, true, outcome);
    return;
  }
  if (step.kind == Step::Kind::kShort) {
    outcome.shortfalls.push_back({scope, step.code, step.what});
    if (step.missing > 0) outcome.draft.gaps.push_back({scope, "TOTAL_NOT_REACHED", step.missing, step.what});
    if (walk->read) walk->read->ListFailed();
    EndList(call, *walk, false, outcome);
    outcome.scope_done = false;
    return;
  }
  if (call.goal.rows_max && rows_ >= *call.goal.rows_max) {
    outcome.shortfalls.push_back(
        {scope, "ROW_LIMIT", "stopped after " + std::to_string(rows_) + " rows, as the goal says"});
    return;
  }
  if (step.kind == Step::Kind::kAgain) walk->oldest = 0;
  Request& next = outcome.next.emplace_back();
  next.key = SubmissionsKey(call.key.kernel_id, kPageRows, step.offset, call.key.slice);
  next.context = scope;
  next.scope = scope;
  next.walk = std::move(walk);
}

// A list has come to its end. The kernel's reading goes on with the slices that it calls for, and ends with
// the last of them. What could not be shown complete does not lower the measure that later lists are held to.
void Source::EndList(const Call& call, const RowsWalk& walk, bool complete, Outcome& outcome) const {
  if (call.key.slice.whole()) {
    const auto text = Remembered(call, RowsKey(call.key.kernel_id));
    const auto known = text ? ParseRows(*text) : std::nullopt;
    const std::int64_t rows = known && !complete && !call.goal.follow.accept_shrunken
                                  ? std::max(known->rows, walk.walk.rows())
                                  : walk.walk.rows();
    if (call.goal.cursors != nullptr && (!known || known->rows != rows))
      outcome.draft.cursors.push_back({RowsKey(call.key.kernel_id), RowsText({call.at, rows})});
  }
  if (!walk.read) {
    outcome.scope_done = true;
    return;
  }
  const std::string scope = KernelScope(call.key.kernel_id);
  for (const Slice& slice : walk.read->ListEnded(call.key.slice, walk.walk.rows(), walk.oldest)) {
    auto slice_walk = std::make_unique<RowsWalk>(options_.kernel_rows_max);
    slice_walk->read = walk.read;
    slice_walk->lists_open = walk.lists_open;
    ++*walk.lists_open;
    Request& next = outcome.next.emplace_back();
    next.key = SubmissionsKey(call.key.kernel_id, kPageRows, 0, slice);
    next.context = scope;
    next.scope = scope;
    next.walk = std::move(slice_walk);
  }
  if (--*walk.lists_open > 0) return;
  EndKernel(call, *walk.read, outcome);
}

// Each user's best row is still shown on the leaderboards, whatever has left the lists: on the one of every
// GPU, and of every stack version that was seen.
void Source::AskForLostRows(const Call& call, const KernelRead& read, Outcome& outcome) const {
  const std::string scope = KernelScope(call.key.kernel_id);
  std::size_t asked = 0;
  const auto ask = [&](const std::string& gpu_type, const std::string& stack_version) {
    if (++asked > kLeaderboardsMax) return;
    Request& next = outcome.next.emplace_back();
    next.key = LeaderboardKey(call.key.kernel_id, gpu_type, stack_version);
    next.scope = next.context = scope;
    next.optional = true;
  };
  if (!read.boards_asked())
    for (const std::string& gpu_type : read.gpu_types()) ask(gpu_type, "");
  for (const std::string& gpu_type : read.gpu_types())
    for (const std::string& stack_version : read.stack_versions()) ask(gpu_type, stack_version);
}

void Source::EndKernel(const Call& call, const KernelRead& read, Outcome& outcome) const {
  const std::string scope = KernelScope(call.key.kernel_id);
  outcome.scope_done = !read.failed();
  for (const KernelRead::Lost& lost : read.lost()) {
    const std::string what = SliceText(lost.slice) + ": rows between " + std::to_string(lost.newest_known) +
                             " and " + std::to_string(lost.oldest_seen) + " may have left the window unseen";
    outcome.draft.gaps.push_back({scope, "WINDOW_OUTRUN", 0, what});
    outcome.shortfalls.push_back({scope, "WINDOW_OUTRUN", what});
  }
  if (!read.lost().empty()) AskForLostRows(call, read, outcome);
  if (!call.goal.poll || read.failed()) return;
  const KernelRead::End end = read.Finish(call.at, call.goal.follow);
  for (const std::int64_t id : end.given_up) {
    const std::string row = "submission/" + std::to_string(id);
    outcome.draft.gaps.push_back({scope, "UNFINISHED_GIVEN_UP", 1, row + " did not come to an end in time"});
    std::string line;
    json::ObjectWriter(line)
        .Text("type", "unfinished")
        .Text("what", "given up")
        .Text("externalId", row)
        .End();
    outcome.draft.events.push_back({"unfinished", std::move(line)});
  }
  outcome.draft.cursors.push_back({PollKey(call.key.kernel_id), CursorText(end.cursor)});
}

}  // namespace etl::sol_execbench
