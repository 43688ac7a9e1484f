// Verify: requests, answers that have been replaced or came late, and what rows are read with.
#include <algorithm>
#include <charconv>
#include <set>

#include "model/json_writer.h"
#include "store/record_reader.h"
#include "store/verifier.h"

namespace etl {
namespace {

std::string SequenceText(std::uint64_t sequence) {
  return "{\"sequence\":" + std::to_string(sequence) + "}";
}

std::optional<std::uint64_t> SequenceIn(std::string_view key, std::string_view value) {
  const auto document = ParseStored(key, value);
  if (!document) return std::nullopt;
  const auto n = document->root().Find("sequence").AsInt64();
  if (!n || *n < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*n);
}

}  // namespace

Status Verifier::CheckRequests() {
  return Each(keys::kRequest, [&](std::string_view key, std::string_view value) {
    const auto request = DecodeRequest(key, value);
    if (!Keep(request)) return;
    CheckSpelling(key, value, EncodeRequest(*request));
    const CommitFacts* commit = CommitAt(request->sequence);
    if (commit == nullptr || commit->info.snapshot != request->snapshot ||
        key != keys::ByText(keys::kRequest, commit->info.source, commit->info.request))
      return KeyFault("REFERENCE", key, "the commit that it names is not there, or of another answer");
    if (request->captured_at != commit->info.captured_at)
      KeyFault("INDEX", key, "its answer was captured at another moment");
    if (request->confirmed_at < request->captured_at || request->read_at > store_.sequence())
      KeyFault("INDEX", key, "it was confirmed before it was captured, or read after the last change");
    if (request->runs > request->entries) KeyFault("INDEX", key, "it has more runs than entries");
    if (!request->context_digest || request->context.empty()) return;
    // What was read after a context last changed was read with what it is now.
    const std::string context = keys::ByText(keys::kContext, commit->info.source, request->context);
    const auto changed = context_lines_.find(context);
    if (changed == context_lines_.end() || request->read_at < changed->second) return;
    if (const auto known = store_.FindContext(commit->info.source, request->context);
        known && *known && Sha256((*known)->value) != *request->context_digest)
      KeyFault("CONTEXT", context, "its value is not the one that " + PrintableKey(key) + " was read with");
  });
}

// Answers beside the newest: each is one that a commit brought.
Status Verifier::CheckAnswers() {
  std::map<std::string, std::set<std::string>> late;  // key -> values that a commit gives
  std::map<std::string, Instant> captured;            // key -> when the answer was first captured
  for (const auto& [first, commit] : commits_) {
    const CommitInfo& info = commit.info;
    if (!info.snapshot || info.rederived_from) continue;
    late[keys::Response(keys::kLateSnapshot, info.source, info.request, *info.snapshot)].insert(
        json::TextArray(std::vector<std::string>{info.adapter, info.captured_at.Text()}));
    const auto [it, fresh] = captured.try_emplace(
        keys::Response(keys::kConfirmed, info.source, info.request, *info.snapshot), info.captured_at);
    if (!fresh) it->second = std::min(it->second, info.captured_at);
  }
  ETL_CHECK_OK(Each(keys::kLateSnapshot, [&](std::string_view key, std::string_view value) {
    const auto it = late.find(std::string(key));
    if (it == late.end() || !it->second.contains(std::string(value)))
      KeyFault("INDEX", key, "no commit brought this answer at this moment");
  }));
  return Each(keys::kConfirmed, [&](std::string_view key, std::string_view value) {
    Instant at;
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), at.ms);
    if (parsed.ec != std::errc() || std::to_string(at.ms) != value)
      return Fault(Unreadable(key, "no moment"));
    const auto it = captured.find(std::string(key));
    if (it == captured.end()) return KeyFault("INDEX", key, "no commit brought this answer");
    if (at < it->second) KeyFault("INDEX", key, "it was last given before it was first captured");
  });
}

Status Verifier::CheckContexts() {
  std::set<std::string> found;
  ETL_CHECK_OK(Each(keys::kContext, [&](std::string_view key, std::string_view value) {
    const auto context = DecodeContext(key, value);
    if (!Keep(context)) return;
    CheckSpelling(key, value, EncodeContext(*context));
    const auto changed = context_lines_.find(std::string(key));
    if (changed == context_lines_.end())
      return KeyFault("CONTEXT", key, "the change log does not tell of it");
    found.insert(changed->first);
    const CommitFacts* commit = CommitAt(changed->second);
    if (context->sequence != changed->second || commit == nullptr)
      return KeyFault("CONTEXT", key,
                      "it last changed at change " + std::to_string(changed->second) + ", and says another");
    if (context->captured_at != commit->info.captured_at || context->seen_at < context->captured_at)
      KeyFault("CONTEXT", key, "its moment is not that of the snapshot that brought it");
  }));
  for (const auto& [key, first] : context_lines_)
    if (!found.contains(key))
      KeyFault("CONTEXT", key, "missing or unreadable, though told at change " + std::to_string(first));
  return Each(keys::kPendingContext, [&](std::string_view key, std::string_view value) {
    CheckSpelling(key, value, "{}");
    if (!found.contains(std::string(1, keys::kContext) + std::string(key.substr(1))))
      KeyFault("INDEX", key, "it marks a context that is not there");
  });
}

// Which rows were first read with a context, commit by commit.
Status Verifier::CheckContextRows() {
  ETL_CHECK_OK(Each(keys::kContextRows, [&](std::string_view key, std::string_view value) {
    constexpr std::size_t kTail = 8;
    const auto it =
        key.size() <= kTail ? commits_.end() : commits_.find(keys::ReadBig64(key.substr(key.size() - kTail)));
    if (it == commits_.end() || it->second.new_rows.empty() ||
        key != keys::ByText(keys::kContextRows, it->second.info.source,
                            it->second.info.context + '\0' + keys::Big64(it->first)))
      return KeyFault("INDEX", key, "no commit with this context brought rows there");
    it->second.rows_indexed = true;
    if (it->second.new_rows != value)
      KeyFault("INDEX", key, "these are not the rows that its commit brought");
  }));
  for (const auto& [first, commit] : commits_)
    if (!commit.new_rows.empty() && !commit.rows_indexed)
      KeyFault("INDEX",
               keys::ByText(keys::kContextRows, commit.info.source,
                            commit.info.context + '\0' + keys::Big64(first)),
               "the rows that its commit brought are missing or unreadable");
  return {};
}

// The newest change of a context's rows. An old answer that says nothing new marks the context too, and no
// line tells of it: a mark may lie above the last change that is told, never below.
Status Verifier::CheckRowChanges() {
  std::map<std::string, std::uint64_t> told;
  for (const auto& [first, commit] : commits_)
    if (commit.rows_moved && !commit.info.context.empty() && !commit.info.rederived_from)
      told[keys::ByText(keys::kRowChange, commit.info.source, commit.info.context)] = first;
  ETL_CHECK_OK(Each(keys::kRowChange, [&](std::string_view key, std::string_view value) {
    const auto sequence = SequenceIn(key, value);
    if (!sequence) return Fault(Unreadable(key, "no sequence"));
    CheckSpelling(key, value, SequenceText(*sequence));
    const auto it = told.find(std::string(key));
    const std::uint64_t least = it == told.end() ? 1 : it->second;
    if (*sequence < least)
      KeyFault("INDEX", key, "one of its rows changed later, at change " + std::to_string(least));
    else if (*sequence != store_.sequence() + 1 && CommitAt(*sequence) == nullptr)
      KeyFault("INDEX", key, "no commit starts at its sequence");
    if (it != told.end()) told.erase(it);
  }));
  for (const auto& [key, first] : told)
    KeyFault("INDEX", key, "missing or unreadable, though a row changed at change " + std::to_string(first));
  return {};
}

}  // namespace etl
