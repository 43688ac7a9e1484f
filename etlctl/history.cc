#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "etlctl/commands.h"
#include "etlctl/escape.h"
#include "etlctl/format.h"
#include "etlctl/json_changes.h"
#include "etlctl/json_out.h"
#include "etlctl/resolve.h"
#include "etlctl/run_record.h"
#include "model/canonical_json.h"

namespace etl::ctl {
namespace {

constexpr std::size_t kChangesMax = 50;    // places shown per state
constexpr std::size_t kValueColumns = 60;  // of one value in a table

// One state of one kind, with what made it differ from the state before.
struct Step {
  Kind kind = Kind::kSubmission;
  Version version;
  CommitInfo commit;  // that brought the state
  std::string why;
  std::vector<ValueChange> changes;
};

std::string StateJson(const Version& version) {
  std::string out;
  json::AppendString(out, StateText(version));
  return out;
}

// The row as the source sent it: its byte range in the snapshot. Empty where the snapshot is not kept.
Result<std::string> RowOf(const Store& store, const Version& version) {
  ETL_TRY(const CommitInfo commit, store.GetCommit(version.from));
  if (!commit.snapshot) return std::string();
  ETL_TRY(const std::string body, store.GetBytes(*commit.snapshot));
  if (version.locator.offset > body.size()) return std::string();
  return body.substr(version.locator.offset, version.locator.bytes);
}

Result<std::string> IdentityOf(const Store& store, const std::optional<Digest>& digest) {
  if (!digest) return std::string();
  ETL_TRY(StoredObject object, store.GetObject(*digest));
  return std::move(object.identity);
}

void Append(std::vector<ValueChange>& changes, std::string_view prefix, std::vector<ValueChange> more) {
  for (ValueChange& change : more) {
    change.path = change.path.empty() ? std::string(prefix) : std::string(prefix) + "." + change.path;
    changes.push_back(std::move(change));
  }
}

Result<std::vector<ValueChange>> Differences(const Store& store, const Version& before,
                                             const Version& after) {
  std::vector<ValueChange> changes;
  if (StateText(before) != StateText(after))
    changes.push_back({"state", StateJson(before), StateJson(after)});
  if (before.digest != after.digest) {
    ETL_TRY(const std::string old_identity, IdentityOf(store, before.digest));
    ETL_TRY(const std::string new_identity, IdentityOf(store, after.digest));
    auto inner = ChangesBetween(old_identity, new_identity, kChangesMax);
    changes.insert(changes.end(), inner.begin(), inner.end());
  }
  if (before.metadata != after.metadata) {
    Append(changes, "metadata", ChangesBetween(before.metadata, after.metadata, kChangesMax));
  }
  if (before.content && after.content && *before.content != *after.content) {
    ETL_TRY(const std::string old_row, RowOf(store, before));
    ETL_TRY(const std::string new_row, RowOf(store, after));
    Append(changes, "row", ChangesBetween(old_row, new_row, kChangesMax));
  }
  if (changes.size() > kChangesMax) changes.resize(kChangesMax);
  return changes;
}

std::string WhyOf(const Version& version, const Version* before, const CommitInfo& commit,
                  const CommitInfo* previous) {
  if (version.late) return "an older answer of the source arrived late; it changes nothing that holds";
  if (before == nullptr) return "first seen";
  if (commit.decided && commit.rederived_from) return "a person decided so: `etlctl review list --all`";
  const bool retracted =
      std::find(version.reasons.begin(), version.reasons.end(), "RETRACTED") != version.reasons.end();
  if (retracted) return "its row does not pass any more";
  if (previous != nullptr && previous->adapter != commit.adapter) {
    return "read again by " + commit.adapter + " instead of " + previous->adapter;
  }
  if (commit.rederived_from) {
    return "read again, because what it is read with changed" +
           (commit.context.empty() ? "" : " (" + commit.context + ")");
  }
  return "the source answers otherwise than before";
}

Status AppendKind(const Store& store, const EntryName& name, Kind kind, std::vector<Step>& steps) {
  ETL_TRY(const std::vector<Version> versions, store.GetVersions(name, kind));
  for (std::size_t i = 0; i < versions.size(); ++i) {
    Step step;
    step.kind = kind;
    step.version = versions[i];
    ETL_TRY(step.commit, store.GetCommit(versions[i].sequence));
    const Version* before = i > 0 ? &versions[i - 1] : nullptr;
    const CommitInfo* previous = i > 0 ? &steps.back().commit : nullptr;
    step.why = WhyOf(versions[i], before, step.commit, previous);
    if (before != nullptr) {
      ETL_TRY(step.changes, Differences(store, *before, versions[i]));
    }
    steps.push_back(std::move(step));
  }
  return {};
}

std::string ChangeJson(const ValueChange& change) {
  return JsonObject()
      .Text("path", change.path)
      .Raw("before", change.before)
      .Raw("after", change.after)
      .Done();
}

std::string StepJson(const Step& step) {
  JsonObject object;
  object.Text("kind", KindName(step.kind)).Count("version", step.version.version);
  object.Text("state", EntryStateName(step.version.state)).Texts("reasons", step.version.reasons);
  object.Maybe("digest", step.version.digest).Bool("late", step.version.late).Text("why", step.why);
  std::vector<std::string> changes;
  for (const ValueChange& change : step.changes) changes.push_back(ChangeJson(change));
  object.Raw("changes", JsonArray(changes));
  object.Text("epoch", step.commit.epoch).Count("sequence", step.version.sequence);
  object.Text("committedAt", step.commit.time).Text("capturedAt", step.version.captured_at);
  object.Maybe("snapshot", step.commit.snapshot).Text("request", step.commit.request);
  return object.Text("origin", step.commit.origin).Text("adapter", step.commit.adapter).Done();
}

std::string Shown(const std::string& value) {
  return value.empty() ? "–" : CutToWidth(Safe(value), kValueColumns);
}

void WriteStep(Output& out, const Step& step) {
  const Style style = step.version.state == EntryState::kPassed ? Style::kGood : Style::kWarning;
  out.DataLine(fmt::format("{}  {} v{}  {}", step.version.captured_at.Text(),
                           out.Styled(KindName(step.kind), Style::kBold), step.version.version,
                           out.Styled(Safe(StateText(step.version)), style)));
  out.DataLine("    " + Safe(step.why));
  out.DataLine(out.Styled(
      fmt::format("    {}:{} · {}{}", step.commit.epoch, step.version.sequence, Safe(step.commit.request),
                  step.version.digest ? " · " + step.version.digest->Text() : ""),
      Style::kDim));
  for (const ValueChange& change : step.changes) {
    out.DataLine("    " + Safe(change.path) + "  " + Shown(change.before) + " → " + Shown(change.after));
  }
}

}  // namespace

Result<Exit> History(Output& out, const Store& store, const HistoryOptions& options) {
  ETL_TRY(const EntryName name, ResolveEntry(store, options.id));
  ETL_TRY(const auto states, store.GetEntry(name));
  std::vector<Step> steps;
  for (const auto& [kind, newest] : states) ETL_CHECK_OK(AppendKind(store, name, kind, steps));
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.version.sequence > b.version.sequence; });
  if (!out.json()) {
    out.DataLine(out.Styled("Entry " + Safe(name.Text()), Style::kBold));
    for (const Step& step : steps) {
      out.DataLine("");
      WriteStep(out, step);
    }
    return Exit::kDone;
  }
  ListWriter list(out, "history", {});
  for (const Step& step : steps) list.Add(StepJson(step), {});
  const std::string entry = JsonObject()
                                .Text("source", name.source)
                                .Text("externalId", name.external_id)
                                .Text("scope", name.scope)
                                .Done();
  list.Finish("\"entry\":" + entry, "");
  return Exit::kDone;
}

}  // namespace etl::ctl
