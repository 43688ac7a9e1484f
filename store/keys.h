#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/digest.h"
#include "model/instant.h"
#include "store/store.h"

namespace etl::keys {

// The key layout of docs/formats.md. The first byte says what a key is; numbers are big-endian, so that byte
// order is their order; strings inside a key end with a NUL, which no name may hold.
enum Prefix : char {
  kSnapshotBody = 'b',    // digest -> compressed bytes
  kCommit = 'c',          // first sequence -> commit record with its changes
  kDrift = 'd',           // source, path
  kEntry = 'e',           // source, external id, scope -> newest versions of every kind
  kConfirmed = 'f',       // source, request, digest -> when an answer that was replaced was last given
  kGroup = 'g',           // comparison key -> what the group is, with its number
  kRecordStep = 'h',      // group number, observed_at, digest -> holder
  kCursor = 'i',          // source, cursor key -> what an adapter remembers
  kPendingContext = 'j',  // source, context key: changed, its rows not yet read again
  kContext = 'k',         // source, context key
  kFormerMember = 'm',    // group number, sequence of leaving, digest -> the member it was
  kGroupNumber = 'n',     // group number -> comparison key
  kLateSnapshot = 'l',    // source, request, digest -> when a snapshot that arrived late was captured
  kObject = 'o',          // digest -> identity
  kGap = 'p',             // source, sequence, index
  kRequest = 'q',         // source, request -> its newest response
  kMeta = 'r',            // format, epochs, counters
  kStandingRoot = 's',    // group number -> root of its standing
  kStandingNode = 't',    // group number, node
  kRowChange = 'u',       // source, context key -> newest sequence at which one of its rows changed
  kVersion = 'v',         // source, external id, scope, kind, version -> a version that is not the newest
  kContextRows = 'w',     // source, context key, sequence -> external ids first seen with it
  kObjectEntry = 'x',     // digest, source, external id, scope -> a further entry that has this object
  kVisit = 'y',           // source
  kQuarantine = 'z',      // source, id
};

std::string Big32(std::uint32_t n);
std::string Big64(std::uint64_t n);
std::uint32_t ReadBig32(std::string_view four);
std::uint64_t ReadBig64(std::string_view eight);

std::string Entry(const EntryName& name);  // 'e' ...
std::optional<EntryName> ReadEntry(std::string_view key);
// Key of a version that is not the newest.
std::string VersionKey(const EntryName& name, Kind kind, std::uint32_t version);
std::string VersionPrefix(const EntryName& name, Kind kind);
std::string ByDigest(Prefix prefix, const Digest& digest);
std::string ObjectEntry(const Digest& digest, const EntryName& name);
std::string ByText(Prefix prefix, std::string_view source, std::string_view rest);
// A response: source, request and digest of its bytes.
std::string Response(Prefix prefix, std::string_view source, std::string_view request, const Digest& digest);
std::string Group(Prefix prefix, std::uint32_t group);
std::string Node(std::uint32_t group, std::uint64_t node);
std::string Step(std::uint32_t group, Instant at, const Digest& digest);
std::string Former(std::uint32_t group, std::uint64_t left, const Digest& digest);
std::string Commit(std::uint64_t sequence);
std::string Meta(std::string_view name);

}  // namespace etl::keys
