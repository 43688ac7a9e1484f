#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "etlctl/commands.h"
#include "etlctl/escape.h"
#include "etlctl/format.h"
#include "etlctl/json_out.h"
#include "model/text.h"

namespace etl::ctl {
namespace {

constexpr std::size_t kPrefixMin = 4;

std::string QuarantineJson(const QuarantineItem& item) {
  return JsonObject()
      .Text("id", item.id)
      .Text("source", item.source)
      .Text("code", item.code)
      .Text("where", item.where)
      .Text("what", item.what)
      .Text("fix", item.fix)
      .Text("bytesDigest", item.bytes_digest)
      .Count("bytes", item.bytes)
      .Count("sequence", item.sequence)
      .Text("firstSeen", item.first_seen)
      .Text("lastSeen", item.last_seen)
      .Done();
}

Result<QuarantineItem> FindItem(const Store& store, const ListOptions& options) {
  std::string digits = Lower(options.id);
  if (digits.starts_with("sha256:")) digits.erase(0, 7);
  if (digits.size() < kPrefixMin) {
    return Fail(UsageError("quarantine show", "an id needs at least 4 hex digits",
                           "`etlctl quarantine list` shows the ids"));
  }
  ETL_TRY(const std::vector<QuarantineItem> items, store.Quarantine(options.source));
  std::vector<QuarantineItem> found;
  for (const QuarantineItem& item : items) {
    if (item.id.Hex().starts_with(digits)) found.push_back(item);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return Fail(Errc::kNotFound, "NOT_FOUND", options.id, "nothing in quarantine has this id",
                "`etlctl quarantine list` shows the ids");
  }
  std::string what = std::to_string(found.size()) + " items answer to this:";
  for (const QuarantineItem& item : found) what += "\n    " + item.id.Hex() + " " + item.code;
  return Fail(Errc::kNotFound, "AMBIGUOUS", options.id, std::move(what), "give more digits");
}

std::string Hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

}  // namespace

Result<Exit> QuarantineList(Output& out, const Store& store, const ListOptions& options) {
  ETL_TRY(const std::vector<QuarantineItem> items, store.Quarantine(options.source));
  ListWriter list(
      out, "quarantine",
      {{"ID"}, {"SOURCE"}, {"CODE"}, {"LAST SEEN"}, {"BYTES", Align::kRight}, {"WHERE"}, {"WHY"}});
  for (const QuarantineItem& item : items) {
    list.Add(QuarantineJson(item), {ShortId(item.id), item.source, Cell(item.code, Style::kWarning),
                                    item.last_seen.Text(), FormatCount(item.bytes), item.where, item.what});
  }
  list.Finish("", "nothing is in quarantine");
  return Exit::kDone;
}

Result<Exit> QuarantineShow(Output& out, const Store& store, const ListOptions& options) {
  ETL_TRY(const QuarantineItem item, FindItem(store, options));
  ETL_TRY(const std::string bytes, store.GetBytes(item.bytes_digest));
  if (out.json()) {
    JsonObject object;
    object.Raw("item", QuarantineJson(item));
    // What is not UTF-8 cannot stand in JSON as it is.
    if (IsUtf8(bytes)) {
      object.Text("text", bytes);
    } else {
      object.Text("hex", Hex(bytes));
    }
    out.DataLine(object.Done());
    return Exit::kDone;
  }
  out.TalkLine(fmt::format("{} at {}: {}", out.StyledTalk(Safe(item.code), Style::kWarning), Safe(item.where),
                           Safe(item.what)));
  if (!item.fix.empty()) out.TalkLine("  fix: " + Safe(item.fix));
  out.TalkLine(fmt::format("  seen {} to {}, {} bytes, {}", item.first_seen.Text(), item.last_seen.Text(),
                           FormatCount(item.bytes), item.bytes_digest.Text()));
  // A pipe gets the exact bytes; a terminal must not obey them.
  if (out.data_is_terminal()) {
    out.DataLine(SafeLines(bytes));
  } else {
    out.Data(bytes);
  }
  return Exit::kDone;
}

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
    object.Integer("missing", item.missing).Text("detail", item.detail).Text("at", item.at);
    object.Count("sequence", item.sequence);
    list.Add(object.Done(), {item.source, item.scope, Cell(item.code, Style::kWarning),
                             std::to_string(item.missing), item.at.Text(), item.detail});
  }
  list.Finish("", "no rows are known to be missing");
  return Exit::kDone;
}

}  // namespace etl::ctl
