#include "daemon/review.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pwd.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include "etlctl/commands.h"
#include "etlctl/decide.h"
#include "etlctl/escape.h"
#include "etlctl/json_out.h"
#include "etlctl/resolve.h"
#include "etlctl/run_record.h"

namespace etl::ctl {
namespace {

std::string Milliseconds(const std::optional<double>& value) {
  return value ? fmt::format("{} ms", *value) : "–";
}

std::string ItemJson(const ReviewItem& item) {
  JsonObject object;
  object.Text("source", item.name.source).Text("externalId", item.name.external_id);
  object.Text("user", item.user).Text("username", item.username).Text("kernel", item.kernel);
  const auto number = [&](std::string_view name, const std::optional<double>& value) {
    if (value) {
      object.Number(name, *value);
    } else {
      object.Null(name);
    }
  };
  number("latencyMs", item.facts.latency_ms);
  number("boundMs", item.facts.bound_ms);
  object.Text("since", item.row.captured_at).Bool("open", item.open);
  object.Text("state", EntryStateName(item.row.state)).Texts("reasons", item.row.reasons);
  std::vector<std::string> decisions;
  for (const Decision& decision : item.decisions) decisions.push_back(DecisionJson(decision));
  return object.Raw("decisions", JsonArray(decisions)).Done();
}

// The rank of the row's run, if it stands somewhere.
Result<std::optional<StandingLine>> PlaceOf(const Store& store, const EntryName& name) {
  ETL_TRY(const auto entry, store.GetEntry(name));
  const auto run = entry.find(Kind::kBenchmarkRun);
  if (run == entry.end()) return std::optional<StandingLine>();
  return store.RankOf(run->second);
}

void Tell(Output& out, const EntryName& name, const std::string& what, const Decided& done,
          const std::optional<StandingLine>& place) {
  if (out.json()) {
    JsonObject object;
    object.Text("source", name.source).Text("externalId", name.external_id).Text("decision", what);
    object.Bool("changed", done.changed);
    if (place) {
      object.Count("rank", place->rank);
    } else {
      object.Null("rank");
    }
    out.DataLine(object.Done());
    return;
  }
  if (!done.changed) {
    out.DataLine(fmt::format("Nothing changed: {} was {} before.", Safe(name.Text()), what));
    return;
  }
  out.DataLine(fmt::format("{} {}: {}", Safe(name.Text()), what,
                           place ? fmt::format("it has rank {}", place->rank) : "it stands in no ranking"));
}

}  // namespace

Decision DecisionNow(const Session& session, const Store& store, std::string_view what, std::string reason) {
  return {std::string(what), std::move(reason), std::max(session.clock.Now(), store.last_time()),
          session.User()};
}

std::string DecisionJson(const Decision& decision) {
  return JsonObject()
      .Text("decision", decision.what)
      .Text("reason", decision.reason)
      .Text("at", decision.at)
      .Text("by", decision.by)
      .Done();
}

std::string DecisionLine(const Decision& decision) {
  std::string line = decision.what + " by " + decision.by + " at " + decision.at.Text();
  if (!decision.reason.empty()) line += ": " + decision.reason;
  return line;
}

Result<Exit> ReviewList(Output& out, const Store& store, const DecideOptions& options) {
  ETL_TRY(const std::vector<ReviewItem> items, ReviewItems(store, options.source, options.all));
  std::vector<Column> columns{
      {"SOURCE"}, {"ROW"}, {"USER"}, {"KERNEL"}, {"LATENCY", Align::kRight}, {"BOUND", Align::kRight},
      {"SINCE"}};
  if (options.all) columns.insert(columns.end(), {{"STATE"}, {"DECISION"}});
  ListWriter list(out, "review", std::move(columns));
  for (const ReviewItem& item : items) {
    std::vector<Cell> row{item.name.source,
                          Cell(item.name.external_id, item.open ? Style::kWarning : Style::kPlain),
                          item.username,
                          item.kernel,
                          Milliseconds(item.facts.latency_ms),
                          Milliseconds(item.facts.bound_ms),
                          item.row.captured_at.Text()};
    if (options.all) {
      row.emplace_back(StateText(item.row));
      row.emplace_back(item.decisions.empty() ? "–" : DecisionLine(item.decisions.back()));
    }
    list.Add(ItemJson(item), std::move(row));
  }
  list.Finish("", "no row waits for a decision");
  return Exit::kDone;
}

Result<Exit> ReviewDecide(const Session& session, const DecideOptions& options) {
  ETL_TRY(const std::shared_ptr<Store> store, session.Open(Store::Mode::kWrite));
  ETL_TRY(const EntryName name, ResolveEntry(*store, options.id));
  ETL_TRY(const std::shared_ptr<void> turn, session.HoldSource(name.source));
  const std::unique_ptr<Adapter> adapter = MakeAdapter(name.source);
  if (adapter == nullptr)
    return Fail(Errc::kInvalid, "SOURCE_UNKNOWN", name.source, "this program has no adapter for the source",
                "use the program that made the store");
  ETL_TRY(const Decided done, DecideRow(*adapter, *store, name.external_id,
                                        DecisionNow(session, *store, options.what, options.reason)));
  ETL_TRY(const auto place, PlaceOf(*store, name));
  ETL_CHECK_OK(session.Close(*store));
  Tell(session.out, name, options.what, done, place);
  return Exit::kDone;
}

}  // namespace etl::ctl
