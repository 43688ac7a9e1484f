#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "daemon/review.h"
#include "etlctl/commands.h"
#include "etlctl/decide.h"
#include "etlctl/escape.h"
#include "etlctl/format.h"
#include "etlctl/json_out.h"
#include "model/text.h"

namespace etl::ctl {
namespace {

constexpr std::size_t kPrefixMin = 4;

std::string QuarantineJson(const QuarantineItem& item) {
  JsonObject object;
  object.Text("id", item.id)
      .Text("source", item.source)
      .Text("code", item.code)
      .Text("where", item.where)
      .Text("what", item.what)
      .Text("fix", item.fix)
      .Text("bytesDigest", item.bytes_digest)
      .Count("bytes", item.bytes)
      .Count("sequence", item.sequence)
      .Text("firstSeen", item.first_seen)
      .Text("lastSeen", item.last_seen);
  return object.Raw("decision", item.decision ? DecisionJson(*item.decision) : "").Done();
}

Result<QuarantineItem> FindItem(const Store& store, std::string_view command, const std::string& source,
                                const std::string& id) {
  std::string digits = Lower(id);
  if (digits.starts_with("sha256:")) digits.erase(0, 7);
  if (digits.size() < kPrefixMin) {
    return Fail(UsageError("quarantine " + std::string(command), "an id needs at least 4 hex digits",
                           "`etlctl quarantine list` shows the ids"));
  }
  ETL_TRY(const std::vector<QuarantineItem> items, store.Quarantine(source));
  std::vector<QuarantineItem> found;
  for (const QuarantineItem& item : items) {
    if (item.id.Hex().starts_with(digits)) found.push_back(item);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return Fail(Errc::kNotFound, "NOT_FOUND", id, "nothing in quarantine has this id",
                "`etlctl quarantine list` shows the ids");
  }
  std::string what = std::to_string(found.size()) + " items answer to this:";
  for (const QuarantineItem& item : found) what += "\n    " + item.id.Hex() + " " + item.code;
  return Fail(Errc::kNotFound, "AMBIGUOUS", id, std::move(what), "give more digits");
}

std::string Hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

}  // namespace

Result<Exit> QuarantineList(Output& out, const Store& store, const ListOptions& options) {
  ETL_TRY(const std::vector<QuarantineItem> items, store.Quarantine(options.source));
  std::vector<Column> columns{{"ID"},    {"SOURCE"}, {"CODE"}, {"LAST SEEN"}, {"BYTES", Align::kRight},
                              {"WHERE"}, {"WHY"}};
  if (options.all) columns.push_back({"DECISION"});
  ListWriter list(out, "quarantine", std::move(columns));
  for (const QuarantineItem& item : items) {
    if (item.decision && !options.all) continue;
    std::vector<Cell> row{ShortId(item.id),
                          item.source,
                          Cell(item.code, item.decision ? Style::kPlain : Style::kWarning),
                          item.last_seen.Text(),
                          FormatCount(item.bytes),
                          item.where,
                          item.what};
    if (options.all) row.emplace_back(item.decision ? DecisionLine(*item.decision) : "–");
    list.Add(QuarantineJson(item), std::move(row));
  }
  list.Finish("", "nothing is in quarantine");
  return Exit::kDone;
}

Result<Exit> QuarantineShow(Output& out, const Store& store, const ListOptions& options) {
  ETL_TRY(const QuarantineItem item, FindItem(store, "show", options.source, options.id));
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
  if (item.decision) out.TalkLine("  " + Safe(DecisionLine(*item.decision)));
  // A pipe gets the exact bytes; a terminal must not obey them.
  if (out.data_is_terminal()) {
    out.DataLine(SafeLines(bytes));
  } else {
    out.Data(bytes);
  }
  return Exit::kDone;
}

namespace {

void Tell(Output& out, const QuarantineItem& item, std::string_view what, const Decided& done) {
  if (out.json()) {
    JsonObject object;
    object.Text("id", item.id).Text("source", item.source).Text("code", item.code);
    if (done.refused) {
      object.Null("decision").Bool("changed", false);
    } else {
      object.Text("decision", what).Bool("changed", done.changed);
    }
    out.DataLine(object.Done());
  } else if (!done.refused) {
    out.DataLine(done.changed ? fmt::format("{} {} ({}).", item.id.Hex(), what, Safe(item.code))
                              : fmt::format("Nothing changed: {} was {} before.", item.id.Hex(), what));
  }
}

}  // namespace

Result<Exit> QuarantineDrop(const Session& session, const DecideOptions& options) {
  ETL_TRY(const std::shared_ptr<Store> store, session.Open(Store::Mode::kWrite));
  ETL_TRY(const QuarantineItem item, FindItem(*store, "drop", options.source, options.id));
  ETL_TRY(const std::shared_ptr<void> turn, session.HoldSource(item.source));
  ETL_TRY(const Decided done, DropItem(*store, item, DecisionNow(session, *store, kDropped, options.reason)));
  ETL_CHECK_OK(session.Close(*store));
  Tell(session.out, item, kDropped, done);
  return Exit::kDone;
}

Result<Exit> QuarantineRetry(const Session& session, const DecideOptions& options) {
  ETL_TRY(const std::shared_ptr<Store> store, session.Open(Store::Mode::kWrite));
  ETL_TRY(const QuarantineItem item, FindItem(*store, "retry", options.source, options.id));
  ETL_TRY(const std::shared_ptr<void> turn, session.HoldSource(item.source));
  const std::unique_ptr<Adapter> adapter = MakeAdapter(item.source);
  if (adapter == nullptr)
    return Fail(Errc::kInvalid, "SOURCE_UNKNOWN", item.source, "this program has no adapter for the source",
                "use the program that made the store");
  ETL_TRY(const Decided done, RetryItem(*adapter, *store, item, DecisionNow(session, *store, kResolved, "")));
  ETL_CHECK_OK(session.Close(*store));
  Tell(session.out, item, kResolved, done);
  if (!done.refused) return Exit::kDone;
  session.out.FlushData();
  Report(session.out, *done.refused, Exit::kIncomplete);
  return Exit::kIncomplete;
}

}  // namespace etl::ctl
