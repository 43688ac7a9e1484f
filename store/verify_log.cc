// Verify: the meta records, the change log, and the lists that it tells of: quarantine, drift, gaps.
#include <functional>

#include "model/json_writer.h"
#include "store/record_reader.h"
#include "store/verifier.h"

namespace etl {
namespace {

// One line "entry" of the change log, or the version that it tells of.
std::uint64_t EntryHash(std::string_view source, std::string_view external_id, std::string_view scope,
                        std::string_view kind, std::uint64_t version, std::string_view what,
                        std::string_view state, const std::vector<std::string>& reasons) {
  std::string text;
  for (const std::string_view part : {source, external_id, scope, kind, what, state}) {
    text.append(part);
    text.push_back('\0');
  }
  text += std::to_string(version);
  for (const std::string& reason : reasons) text += ' ' + reason;
  return std::hash<std::string>()(text);
}

std::string GapTold(std::string_view code, std::int64_t missing) {
  return std::string(code) + " " + std::to_string(missing);
}

// Under which a decision on an item of the quarantine is told, beside the item itself.
std::string DecisionOf(std::string_view item_key) {
  return std::string(item_key) + std::string("\0decision", 9);
}

}  // namespace

std::uint64_t VersionHash(const EntryName& name, Kind kind, const Version& v) {
  return EntryHash(name.source, name.external_id, name.scope, KindName(kind), v.version,
                   v.late           ? "late"
                   : v.version == 1 ? "new"
                                    : "changed",
                   EntryStateName(v.state), v.reasons);
}

Status Verifier::CheckMeta() {
  ETL_CHECK_OK(Each(keys::kMeta, [&](std::string_view key, std::string_view value) {
    const std::string_view name = key.substr(1);
    if (name == "last") {
      WriterState state;
      if (const auto read = DecodeCounters(key, value, state); !read) return Fault(read.error());
      CheckSpelling(key, value, EncodeCounters(state));
      if (state.groups != report_.groups)
        KeyFault("COUNT", key, "its number of groups is not that of the store");
      // What cannot be counted is damaged, and named where it is.
      const auto counted = state.counts ? store_.CountAll() : Result<StoreCounts>(StoreCounts());
      if (state.counts && counted && *counted != *state.counts)
        KeyFault("COUNT", key, "its counts are not those of what the store holds");
      if (!commits_.empty() && state.last_time != commits_.rbegin()->second.info.time)
        KeyFault("SEQUENCE", key, "its time is not that of the last commit");
    } else if (name == "restored") {
      CheckSpelling(key, value, "{}");
    } else if (name != "format") {
      KeyFault("KEY", key, "the format has no such key");
    }
  }));
  std::uint64_t first = 0;
  for (const EpochStart& epoch : store_.epochs()) {
    if (epoch.first < first || epoch.first == 0 || epoch.first > store_.sequence() + 1)
      KeyFault("SEQUENCE", keys::Meta("format"), "epoch " + epoch.epoch + " starts out of order");
    first = epoch.first;
  }
  return {};
}

Status Verifier::CheckCommits() {
  std::uint64_t expected = 1;
  Instant last_time{INT64_MIN};
  const auto& epochs = store_.epochs();
  ETL_CHECK_OK(Each(keys::kCommit, [&](std::string_view key, std::string_view value) {
    ++report_.commits;
    std::vector<Change> changes;
    const auto decoded = DecodeCommit(key, value, &changes);
    if (!Keep(decoded)) return;
    CheckSpelling(key, value, EncodeCommit(*decoded, changes));
    CommitFacts commit;
    commit.info = *decoded;
    const CommitInfo& info = commit.info;
    const std::string where = "change " + std::to_string(info.first);
    if (info.first != expected || key != keys::Commit(info.first))
      Fault("SEQUENCE", "change " + std::to_string(expected), "the change log has a gap or an overlap here");
    expected = info.last + 1;
    if (info.time < last_time) Fault("SEQUENCE", where, "its time goes back");
    last_time = info.time;
    const EpochStart* epoch = nullptr;
    for (const EpochStart& e : epochs)
      if (e.first <= info.first) epoch = &e;
    if (epoch == nullptr || epoch->epoch != info.epoch)
      Fault("SEQUENCE", where, "it is of an epoch that its sequence does not lie in");
    ReadLines(commit, key, value);
    commits_.insert_or_assign(info.first, std::move(commit));
  }));
  if (expected != store_.sequence() + 1)
    Fault("SEQUENCE", "change " + std::to_string(expected),
          "the log ends here, the store counts " + std::to_string(store_.sequence()));
  return {};
}

// What the lines of a commit tell, kept for when the things they tell of are read.
void Verifier::ReadLines(CommitFacts& commit, std::string_view key, std::string_view value) {
  const auto document = ParseStored(key, value);
  if (!document) return Fault(document.error());
  const CommitInfo& info = commit.info;
  std::vector<std::string> rows;
  bool decided = false;
  for (const json::Value line : document->root().Find("changes").elements()) {
    const std::string_view type = line.Find("type").AsString();
    const auto text = [&](std::string_view member) { return line.Find(member).AsString(); };
    const auto tell = [&](std::string item, std::string told) {
      told_.insert_or_assign(std::move(item), Told{std::move(told), info.first, false});
    };
    if (type == "entry") {
      std::vector<std::string> reasons;
      for (const json::Value reason : line.Find("reasons").elements())
        reasons.emplace_back(reason.AsString());
      const std::string_view what = text("what"), kind = text("kind"), id = text("externalId");
      const std::string_view state = line.Find("state") ? text("state") : "passed";
      commit.told += EntryHash(info.source, id, text("scope"), kind,
                               static_cast<std::uint64_t>(line.Find("version").AsInt64().value_or(0)),
                               what == "retracted" ? "changed" : what, state, reasons);
      if (what == "new" && kind == KindName(Kind::kSubmission)) rows.emplace_back(id);
    } else if (type == "snapshot") {
      const auto digest = ParseDigest(text("digest"));
      if (!digest || digest != info.snapshot || text("request") != info.request)
        Fault("CHANGE_LOG", "change " + std::to_string(info.first),
              "its snapshot line is not of its snapshot");
      else
        sizes_[*digest] = static_cast<std::uint64_t>(line.Find("bytes").AsInt64().value_or(-1));
    } else if (type == "context") {
      context_lines_[keys::ByText(keys::kContext, info.source, text("key"))] = info.first;
    } else if (type == "quarantine") {
      const auto id = ParseDigest("sha256:" + std::string(text("id")));
      if (id)
        tell(keys::ByText(keys::kQuarantine, info.source, id->View()),
             std::string(text("code")) + " " + std::string(text("where")));
    } else if (type == "drift") {
      tell(keys::ByText(keys::kDrift, info.source, text("path")), std::string(text("sample")));
    } else if (type == "gap") {
      std::string rest(text("scope"));
      rest.append(1, '\0').append(text("code")).append(1, '\0').append(keys::Big64(info.first));
      tell(keys::ByText(keys::kGap, info.source, rest),
           GapTold(text("code"), line.Find("missing").AsInt64().value_or(0)));
    } else if (type == "review" || type == "decision") {
      decided = true;
      const auto id = ParseDigest("sha256:" + std::string(text("id")));
      const std::string told = DecisionText(ReadDecision(line).value_or(Decision{}));
      if (type == "review")
        tell(keys::ByText(keys::kCursor, info.source, ReviewKey(text("externalId"))), told);
      else if (id)
        tell(DecisionOf(keys::ByText(keys::kQuarantine, info.source, id->View())), told);
    }
  }
  if (decided != info.decided)
    Fault("CHANGE_LOG", "change " + std::to_string(info.first),
          "its lines and its mark differ on whether it is a decision");
  if (!rows.empty() && !info.context.empty()) commit.new_rows = json::TextArray(rows);
}

Status Verifier::CheckLines() {
  for (const auto& [first, commit] : commits_) {
    if (commit.told != commit.found)
      Fault("CHANGE_LOG", "change " + std::to_string(first),
            "its entry lines are not the versions that came with it");
    // Read again: of a size told before, and there all the same.
    if (commit.info.snapshot) sizes_.try_emplace(*commit.info.snapshot, kSizeUntold);
  }
  return {};
}

void Verifier::CheckTold(std::string_view key, std::string_view text, std::uint64_t sequence) {
  const auto it = told_.find(std::string(key));
  if (it == told_.end()) return KeyFault("CHANGE_LOG", key, "the change log does not tell of it");
  it->second.found = true;
  if (it->second.text != text || it->second.sequence != sequence)
    KeyFault("CHANGE_LOG", key,
             "it is not as the change log tells, at change " + std::to_string(it->second.sequence));
}

void Verifier::CheckDecision(std::string_view key, const std::string& told, const Decision& decision) {
  const auto it = told_.find(told);
  if (it == told_.end()) return KeyFault("CHANGE_LOG", key, "the change log does not tell of its decision");
  it->second.found = true;
  if (it->second.text != DecisionText(decision))
    KeyFault("CHANGE_LOG", key,
             "its decision is not the one told at change " + std::to_string(it->second.sequence));
}

void Verifier::CheckUntold() {
  for (const auto& [key, told] : told_)
    if (!told.found)
      KeyFault("CHANGE_LOG", key, "missing, though told at change " + std::to_string(told.sequence));
}

Status Verifier::CheckQuarantine() {
  return Each(keys::kQuarantine, [&](std::string_view key, std::string_view value) {
    const auto item = DecodeQuarantine(key, value);
    if (!Keep(item)) return;
    CheckSpelling(key, value, EncodeQuarantine(*item));
    const Digest id = Sha256(item->source + '\0' + item->code + '\0' + item->bytes_digest.Text());
    if (key != keys::ByText(keys::kQuarantine, item->source, id.View()))
      KeyFault("INDEX", key, "its id is not that of its source, code and bytes");
    CheckTold(key, item->code + " " + item->where, item->sequence);
    if (item->decision) CheckDecision(key, DecisionOf(key), *item->decision);
    const CommitFacts* commit = CommitAt(item->sequence);
    if (commit != nullptr && item->first_seen != commit->info.captured_at)
      KeyFault("INDEX", key, "it was not first seen when its snapshot was captured");
    if (item->last_seen < item->first_seen)
      KeyFault("INDEX", key, "it was last seen before it was first seen");
    const auto [size, fresh] = sizes_.try_emplace(item->bytes_digest, item->bytes);
    if (!fresh && size->second != item->bytes && size->second != kSizeUntold)
      KeyFault("INDEX", key, "the number of its bytes is another");
  });
}

Status Verifier::CheckDrift() {
  return Each(keys::kDrift, [&](std::string_view key, std::string_view value) {
    const auto item = DecodeDrift(key, value);
    if (!Keep(item)) return;
    CheckSpelling(key, value, EncodeDrift(*item));
    if (key != keys::ByText(keys::kDrift, item->source, item->path))
      KeyFault("INDEX", key, "its source or path is not that of its key");
    CheckTold(key, item->sample, item->sequence);
    const CommitFacts* commit = CommitAt(item->sequence);
    if (commit != nullptr && item->first_seen != commit->info.captured_at)
      KeyFault("INDEX", key, "it was not first seen when its snapshot was captured");
  });
}

Status Verifier::CheckGaps() {
  return Each(keys::kGap, [&](std::string_view key, std::string_view value) {
    const auto item = DecodeGap(key, value);
    if (!Keep(item)) return;
    CheckSpelling(key, value, EncodeGap(*item));
    std::string rest = item->scope;
    rest.append(1, '\0').append(item->code).append(1, '\0').append(keys::Big64(item->sequence));
    if (key != keys::ByText(keys::kGap, item->source, rest))
      KeyFault("INDEX", key, "its source, scope, code or sequence is not that of its key");
    CheckTold(key, GapTold(item->code, item->missing), item->sequence);
    const CommitFacts* commit = CommitAt(item->sequence);
    if (commit != nullptr && item->at != commit->info.captured_at)
      KeyFault("INDEX", key, "its moment is not that of its snapshot");
  });
}

// A row shows the last decision on it, and what came of that, wherever it shows or awaits any.
void Verifier::CheckReviewed(std::string_view key, const Decision& decision) {
  const auto row = reviewed_.find(std::string(key));
  if (row == reviewed_.end()) return;  // its faults are others now
  const Reviewed& shown = row->second;
  if (shown.decision != DecisionText(decision))
    Fault("REVIEW", shown.where, "it does not show the last decision on it");
  else if ((decision.what == kAdmitted) != (shown.state == EntryState::kPassed) ||
           (decision.what == kRejected) != shown.turned_down)
    Fault("REVIEW", shown.where, "its state is not what was decided");
  reviewed_.erase(row);
}

Status Verifier::CheckVisits() {
  ETL_CHECK_OK(Each(keys::kCursor, [&](std::string_view key, std::string_view value) {
    const auto cursor = DecodeCursor(key, value);
    if (!Keep(cursor)) return;
    CheckSpelling(key, value, EncodeCursor(cursor->first, cursor->second));
    const std::size_t source_end = key.find('\0');
    if (source_end == std::string_view::npos || !key.substr(source_end + 1).starts_with(kReviewPrefix))
      return;
    const auto decisions = ParseReview(cursor->first);
    if (!decisions || ReviewText(*decisions) != cursor->first) return Fault(Unreadable(key, "decisions"));
    CheckDecision(key, std::string(key), decisions->back());
    CheckReviewed(key, decisions->back());
  }));
  for (const auto& [key, row] : reviewed_)
    if (!row.decision.empty()) Fault("REVIEW", row.where, "it shows a decision that is not there");
  return Each(keys::kVisit, [&](std::string_view key, std::string_view value) {
    const auto visit = DecodeVisit(key, value);
    if (!Keep(visit)) return;
    CheckSpelling(key, value, EncodeVisit(*visit));
    const std::string& state = visit->state;
    if (state != "running" && state != "full" && state != "partial" && state != "failed")
      KeyFault("INDEX", key, "its state is none that a visit can have");
  });
}

}  // namespace etl
