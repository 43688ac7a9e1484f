#include <string>
#include <utility>
#include <vector>

#include "etlctl/commands.h"
#include "etlctl/json_out.h"

namespace etl::ctl {

Result<Exit> DriftList(Output& out, const Store& store, const ListOptions& options) {
  ETL_TRY(const std::vector<DriftItem> items, store.Drift(options.source));
  ListWriter list(out, "drift",
                  {{"SOURCE"}, {"PATH"}, {"FIRST SEEN"}, {"SEQUENCE", Align::kRight}, {"SAMPLE"}});
  for (const DriftItem& item : items) {
    JsonObject object;
    object.Text("source", item.source).Text("path", item.path).Text("sample", item.sample);
    object.Text("firstSeen", item.first_seen).Count("sequence", item.sequence);
    list.Add(object.Done(), {item.source, Cell(item.path, Style::kWarning), item.first_seen.Text(),
                             std::to_string(item.sequence), item.sample});
  }
  list.Finish("", "the source says nothing that its adapter does not know");
  return Exit::kDone;
}

Result<Exit> GapList(Output& out, const Store& store, const ListOptions& options) {
  ETL_TRY(const std::vector<GapItem> items, store.Gaps(options.source));
  ListWriter list(out, "gaps",
                  {{"SOURCE"}, {"SCOPE"}, {"CODE"}, {"MISSING", Align::kRight}, {"AT"}, {"DETAIL"}});
  for (const GapItem& item : items) {
    JsonObject object;
    object.Text("source", item.source).Text("scope", item.scope).Text("code", item.code);
    // A source that tells no total leaves the number open; no gap has none missing.
    const bool told = item.missing > 0;
    if (told) {
      object.Integer("missing", item.missing);
    } else {
      object.Null("missing");
    }
    object.Text("detail", item.detail).Text("at", item.at).Count("sequence", item.sequence);
    list.Add(object.Done(), {item.source, item.scope, Cell(item.code, Style::kWarning),
                             told ? std::to_string(item.missing) : "unknown", item.at.Text(), item.detail});
  }
  list.Finish("", "no rows are known to be missing");
  return Exit::kDone;
}

}  // namespace etl::ctl
