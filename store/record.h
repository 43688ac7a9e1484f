#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/error.h"
#include "model/json.h"
#include "store/standing.h"
#include "store/store.h"

namespace etl {

// The stored values of docs/formats.md: what each Encode writes, the Decode of the same name reads. Decoding
// never trusts its input: anything else than such a value is kCorrupt RECORD_UNREADABLE, `where` the key.

// Newest version of each kind of an entry, and how many versions it has.
struct KindState {
  Version newest;
  std::uint32_t versions = 0;  // numbers handed out
};
using Bundle = std::map<Kind, KindState>;

std::string EncodeBundle(const Bundle& bundle);
Result<Bundle> DecodeBundle(std::string_view key, std::string_view value);
std::string EncodeVersion(const Version& version);
Result<Version> DecodeVersion(std::string_view key, std::string_view value);

std::string EncodeObject(const EntryName& first, std::uint64_t sequence, std::string_view identity);
struct ObjectRecord {
  EntryName first;
  std::uint64_t sequence = 0;
  std::string identity;
  Kind kind = Kind::kOperationSpec;
};
Result<ObjectRecord> DecodeObject(std::string_view key, std::string_view value);
// The same of a value that was parsed: `root` is its document's.
Result<ObjectRecord> ReadObject(std::string_view key, std::string_view value, json::Value root);

// The commit record: `changes` are complete JSON objects.
std::string EncodeCommit(const CommitInfo& commit, const std::vector<Change>& changes);
Result<CommitInfo> DecodeCommit(std::string_view key, std::string_view value, std::vector<Change>* changes);

std::string EncodeGroup(const GroupInfo& group);
Result<GroupInfo> DecodeGroup(std::string_view key, std::string_view value);
std::string EncodeRoot(const StandingRoot& root);
Result<StandingRoot> DecodeRoot(std::string_view key, std::string_view value);
std::string EncodeMember(const StandingMember& member);  // without its digest, which is in the key
Result<StandingMember> DecodeMember(std::string_view key, std::string_view value, const Digest& digest);

std::string EncodeRequest(const RequestState& request);
Result<RequestState> DecodeRequest(std::string_view key, std::string_view value);
std::string EncodeContext(const ContextState& context);
Result<ContextState> DecodeContext(std::string_view key, std::string_view value);
// A cursor's value and the captured_at of the response that moved it.
std::string EncodeCursor(std::string_view value, Instant captured_at);
Result<std::pair<std::string, Instant>> DecodeCursor(std::string_view key, std::string_view value);
std::string EncodeVisit(const VisitState& visit);
Result<VisitState> DecodeVisit(std::string_view key, std::string_view value);
std::string EncodeQuarantine(const QuarantineItem& item);
Result<QuarantineItem> DecodeQuarantine(std::string_view key, std::string_view value);
std::string EncodeDrift(const DriftItem& item);
Result<DriftItem> DecodeDrift(std::string_view key, std::string_view value);
std::string EncodeGap(const GapItem& item);
Result<GapItem> DecodeGap(std::string_view key, std::string_view value);

// A snapshot body: version byte, codec byte, size, then the zstd frame. Errors: kCorrupt RECORD_UNREADABLE.
std::string EncodeBody(std::string_view bytes);
Result<std::string> DecodeBody(std::string_view key, std::string_view value);

// The error for a value that is not what its key says.
Error Unreadable(std::string_view key, std::string_view what);

}  // namespace etl
