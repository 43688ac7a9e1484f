#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "etlctl/commands.h"
#include "etlctl/json_out.h"
#include "model/json.h"

namespace etl::ctl {
namespace {

// Where to go on: the sequence of the last change that the reader has. A sequence of an epoch that ended
// before it is refused by the store: the reader followed a store that is not this one any more.
Result<std::uint64_t> After(const Store& store, const std::string& since) {
  if (since.empty()) return std::uint64_t{0};
  ETL_TRY(const AsOf as_of, store.ResolveAsOf(since));
  return as_of.sequence;
}

std::string ChangeJson(const CommitInfo& commit, const Change& change) {
  JsonObject object;
  object.Text("epoch", commit.epoch).Count("sequence", change.sequence).Text("at", commit.time);
  object.Text("type", change.type).Text("source", commit.source).Text("request", commit.request);
  object.Maybe("snapshot", commit.snapshot).Text("adapter", commit.adapter);
  if (commit.rederived_from) object.Count("rederivedFrom", *commit.rederived_from);
  return object.Raw("change", change.json).Done();
}

std::string Plain(json::Value value) {
  if (value.IsString()) return std::string(value.AsString());
  if (value.IsNumber()) return std::string(value.NumberText());
  if (value.IsBool()) return value.IsTrue() ? "yes" : "no";
  std::string text;
  for (const json::Value element : value.elements())
    text.append(text.empty() ? "" : ",").append(Plain(element));
  return text;
}

// The line's own members, "name value" after one another; what and kind without their names.
std::string Summary(const Change& change) {
  const auto document = json::Document::Parse(change.json);
  if (!document) return change.json;
  std::string text;
  for (const json::Member member : document->root().members()) {
    if (member.name == "type") continue;
    const bool bare = member.name == "what" || member.name == "kind" || member.name == "externalId";
    if (!text.empty()) text += bare ? " " : " · ";
    if (!bare) text.append(member.name).append(" ");
    text += Plain(member.value);
  }
  return text;
}

}  // namespace

Result<Exit> Changes(Output& out, const Store& store, const ChangesOptions& options) {
  ETL_TRY(const std::uint64_t after, After(store, options.since));
  ListWriter list(out, "changes", {{"SEQUENCE", Align::kRight}, {"AT"}, {"TYPE"}, {"SOURCE"}, {"WHAT"}});
  std::uint64_t last = after;
  ETL_CHECK_OK(store.ForEachChange(after, [&](const CommitInfo& commit, const Change& change) {
    list.Add(ChangeJson(commit, change), {std::to_string(change.sequence), commit.time.Text(), change.type,
                                          commit.source, Summary(change)});
    last = change.sequence;
    return options.limit == 0 || list.count() < options.limit;
  }));
  const std::string next = fmt::format("{}:{}", store.epoch(), last);
  list.Finish(fmt::format(R"("next":"{}","more":{})", next, last < store.sequence()),
              "nothing changed since then");
  if (out.format() == Format::kTable && last < store.sequence()) {
    out.TalkLine("more follow: etlctl changes --since " + next);
  }
  return Exit::kDone;
}

}  // namespace etl::ctl
