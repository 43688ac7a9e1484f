#include "daemon/conditional.h"

#include <string_view>
#include <utility>

#include "model/json.h"
#include "model/json_writer.h"

namespace etl {
namespace {

constexpr std::string_view kConditionalCursor = "conditional";

}  // namespace

Result<Held> HeldOf(const Store& store, const std::string& source, const std::string& key,
                    std::uint64_t unconditional_every) {
  Held held;
  ETL_TRY(held.known, store.FindRequest(source, key));
  if (held.known && !held.known->refused && held.known->not_modified < unconditional_every)
    held.validators = {held.known->etag, held.known->last_modified};
  return held;
}

void JudgeBody(const Held& held, const Snapshot& snapshot, ConditionalCounts& counts) {
  if (!held.known) return;
  const bool same_bytes = held.known->snapshot == snapshot.digest;
  const bool same_tag = !snapshot.etag.empty() && snapshot.etag == held.known->etag;
  if (same_tag && !same_bytes) ++counts.false_not_modified;
  if (!held.validators.empty() && same_bytes) ++counts.false_modified;
}

Status CountLies(Store& store, const std::string& source, const ConditionalCounts& counts, Instant at) {
  if (counts.false_modified == 0 && counts.false_not_modified == 0) return {};
  ETL_TRY(const auto stored, store.FindCursor(source, kConditionalCursor));
  std::int64_t not_modified = 0, modified = 0;
  if (stored) {
    if (const auto document = json::Document::Parse(*stored)) {
      not_modified = document->root().Find("falseNotModified").AsInt64().value_or(0);
      modified = document->root().Find("falseModified").AsInt64().value_or(0);
    }
  }
  std::string text;
  json::ObjectWriter(text)
      .Integer("falseModified", modified + static_cast<std::int64_t>(counts.false_modified))
      .Integer("falseNotModified", not_modified + static_cast<std::int64_t>(counts.false_not_modified))
      .End();
  return store.PutCursor(source, {std::string(kConditionalCursor), std::move(text)}, at);
}

}  // namespace etl
