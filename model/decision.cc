#include "model/decision.h"

#include "model/json_writer.h"

namespace etl {

std::string DecisionText(const Decision& decision) {
  std::string out;
  json::ObjectWriter(out)
      .Integer("at", decision.at.ms)
      .Text("by", decision.by)
      .Text("decision", decision.what)
      .Text("reason", decision.reason)
      .End();
  return out;
}

std::optional<Decision> ReadDecision(json::Value value) {
  const auto at = value.Find("at").AsInt64();
  const json::Value by = value.Find("by"), what = value.Find("decision"), reason = value.Find("reason");
  if (!at || !by.IsString() || !what.IsString() || !reason.IsString()) return std::nullopt;
  return Decision{std::string(what.AsString()), std::string(reason.AsString()), Instant{*at},
                  std::string(by.AsString())};
}

std::string ReviewKey(std::string_view external_id) {
  return std::string(kReviewPrefix).append(external_id);
}

std::string ReviewText(const std::vector<Decision>& decisions) {
  std::string list = "[";
  for (const Decision& decision : decisions) {
    if (list.size() > 1) list += ',';
    list += DecisionText(decision);
  }
  std::string out;
  json::ObjectWriter(out).Raw("decisions", list + "]").End();
  return out;
}

std::optional<std::vector<Decision>> ParseReview(std::string_view text) {
  const auto document = json::Document::Parse(text);
  if (!document) return std::nullopt;
  std::vector<Decision> decisions;
  for (const json::Value value : document->root().Find("decisions").elements()) {
    auto decision = ReadDecision(value);
    if (!decision) return std::nullopt;
    decisions.push_back(*std::move(decision));
  }
  if (decisions.empty()) return std::nullopt;
  return decisions;
}

}  // namespace etl
