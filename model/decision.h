#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/instant.h"
#include "model/json.h"

namespace etl {

// What a person has decided about a thing that the rules leave open.
struct Decision {
  std::string what;    // admitted, rejected: a row under review; dropped, resolved: an item of the quarantine
  std::string reason;  // at most kReasonMax code points
  Instant at;
  std::string by;  // the name of a user

  friend bool operator==(const Decision&, const Decision&) = default;
};

inline constexpr std::size_t kReasonMax = 1000;
inline constexpr std::size_t kDecisionsMax = 100;  // kept of one row; the change log has them all

// A row whose only fault is this one waits for a decision; one that was turned down has the second reason
// too.
inline constexpr std::string_view kReviewReason = "BELOW_SPEED_OF_LIGHT";
inline constexpr std::string_view kRejectedReason = "REVIEW_REJECTED";

inline constexpr std::string_view kAdmitted = "admitted", kRejected = "rejected", kDropped = "dropped",
                                  kResolved = "resolved";

// {"at","by","decision","reason"}, canonical; and back. Nothing for a value of another shape.
std::string DecisionText(const Decision& decision);
std::optional<Decision> ReadDecision(json::Value value);

// The decisions on one row, oldest first, as they are remembered under a cursor key: "review/<external id>".
// Nothing for text that ReviewText did not write.
inline constexpr std::string_view kReviewPrefix = "review/";
std::string ReviewKey(std::string_view external_id);
std::string ReviewText(const std::vector<Decision>& decisions);
std::optional<std::vector<Decision>> ParseReview(std::string_view text);

}  // namespace etl
