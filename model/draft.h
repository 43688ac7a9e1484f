#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/digest.h"
#include "model/instant.h"
#include "model/manifest.h"

namespace etl {

// What passes between adapters, which make drafts, and the store, which keeps them; neither knows the other.

// The exact bytes of one response, with how, when and from where they came.
struct Snapshot {
  std::string source;   // slug
  std::string request;  // the request's key: what was asked, the same string whenever the same is asked
  std::string origin;   // where it was answered: a URL, or a file
  Instant captured_at;
  std::string bytes;
  Digest digest;                    // of bytes
  std::string etag, last_modified;  // as the server gave them to ask with again; empty where it gave none
};

// Where in a snapshot a thing stands: a byte range.
struct Locator {
  std::uint64_t offset = 0, bytes = 0;
};

enum class EntryState : std::uint8_t { kPassed, kExcluded, kPending };
std::string_view EntryStateName(EntryState state) noexcept;  // passed, excluded, pending
std::optional<EntryState> ParseEntryState(std::string_view name) noexcept;

// Which observation of an entry is newer: by `major`, then by the snapshot's captured_at, then by the
// content. Most entries use major 0, so time decides. Where many rows of one picture speak of the same thing
// and may differ (a user's name), major is the row's own order, so that the result does not depend on the
// order in which pages are read.
struct EntryDraft {
  Kind kind = Kind::kSubmission;
  std::string scope;        // empty, or what external_id is unique within (a case key within its kernel)
  std::string external_id;  // at most 500 bytes, no NUL
  EntryState state = EntryState::kPassed;
  std::vector<std::string> reasons;  // upper-case codes, empty when passed
  std::string
      identity;   // canonical {apiVersion, kind, spec}; empty when the entry has no object in this state
  Digest digest;  // SHA-256 of identity, when there is one
  std::string metadata;           // canonical JSON of the editorial part; "" where there is none
  std::optional<Digest> content;  // digest of the canonical row for kSubmission: tells a changed row
  std::uint64_t major = 0;
  Locator locator;

  // For a BenchmarkRun that passed: where and how it is ranked.
  struct Ranking {
    Digest comparison_key;
    std::string profile;
    Digest operation, workload, protocol, environment, correctness;
    std::string metric_key;
    double value = 0;
    std::uint8_t evidence = 0;  // EvidenceLevel
    Instant observed_at;
    std::optional<double> low, high;
  };
  std::optional<Ranking> ranking;
};

// An item refused: its bytes stay, under a reason code. Identified by (source, code, digest of bytes): the
// same bytes refused for the same reason are one item, wherever they stand; `where` is that of the first.
struct QuarantineDraft {
  std::string code;   // upper-case
  std::string where;  // request and path: "submissions?kernel_id=5 $.data.submissions[3]"
  std::string what, fix;
  std::string bytes;  // the item as received; empty: the whole snapshot
};

// Something upstream said that the adapter does not know. Reported once per (source, path).
struct DriftDraft {
  std::string
      path;  // "submissions[].flux", or "submissions[].status=PAUSED" for a new value of a known member
  std::string sample;  // at most 200 bytes of JSON
};

// Rows known to exist and not seen.
struct GapDraft {
  std::string scope;         // kernel and slice
  std::string code;          // TOTAL_NOT_REACHED, WINDOW_OUTRUN
  std::int64_t missing = 0;  // at least this many rows
  std::string detail;
};

// A piece of knowledge that later responses of the same scope need (what a kernel's rows are derived with).
// The newest captured_at wins; when the value changes, the scope's known rows have to be derived again.
struct ContextDraft {
  std::string key;    // "kernel/5"
  std::string value;  // canonical JSON
};

// What an adapter remembers from one visit to the next: how far it has followed a part of the source. Moves
// in the commit of the response that it is drafted with. The newest captured_at wins.
struct CursorDraft {
  std::string key;    // "poll/5"
  std::string value;  // canonical JSON
};

// Something that happened upstream and is no new state of an entry: a line of the change log.
struct EventDraft {
  std::string type;  // lower-case word: "kernel", "unfinished"
  std::string json;  // canonical object whose "type" member is `type`
};

// Everything one response says.
struct Draft {
  std::vector<EntryDraft> entries;
  std::vector<QuarantineDraft> quarantine;
  std::vector<DriftDraft> drift;
  std::vector<GapDraft> gaps;
  std::vector<ContextDraft> contexts;
  std::vector<CursorDraft> cursors;
  std::vector<EventDraft> events;
};

}  // namespace etl
