#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fetch/transport.h"
#include "model/draft.h"
#include "model/error.h"
#include "model/instant.h"
#include "store/store.h"

namespace etl {

// How a live source's answers to conditional requests hold up against its bytes.
struct ConditionalCounts {
  std::uint64_t not_modified = 0;        // answers without a body
  std::uint64_t false_not_modified = 0;  // the validator was the same, and the bytes were not
  std::uint64_t false_modified = 0;      // asked with a validator, and the same bytes came again
};

// What is known of a request's last answer, and what to ask with.
struct Held {
  std::optional<RequestState> known;
  Validators validators;
};

// The validators that a request may be sent with: those of its last answer, unless that was refused, or
// `unconditional_every` answers without a body have been believed in a row. Errors are the store's.
Result<Held> HeldOf(const Store& store, const std::string& source, const std::string& key,
                    std::uint64_t unconditional_every);

// Counts whether a body bears out what its validators said.
void JudgeBody(const Held& held, const Snapshot& snapshot, ConditionalCounts& counts);

// Adds a visit's lies to those of all visits before: cursor "conditional". Errors are the store's.
Status CountLies(Store& store, const std::string& source, const ConditionalCounts& counts, Instant at);

}  // namespace etl
