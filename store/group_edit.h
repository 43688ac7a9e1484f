#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/error.h"
#include "store/kv.h"
#include "store/standing.h"
#include "store/store.h"

namespace etl {

// The record history of one group, as the writer holds it: who took the record, by (observed_at, digest).
struct RecordHolder {
  double value = 0;
  std::string source, external_id;
};
using RecordBook = std::map<std::pair<Instant, Digest>, RecordHolder>;

// Record histories that were lately edited. Bounded: dropped as a whole when they hold too many steps.
class RecordBooks {
 public:
  // The group's history, read when it is not held.
  Result<RecordBook*> Of(const Kv& kv, std::uint32_t group);
  void Clear() { books_.clear(); }

 private:
  std::unordered_map<std::uint32_t, RecordBook> books_;
};

// Reads the record history of a group. Errors: kCorrupt.
Result<RecordBook> LoadRecordBook(const Kv& kv, std::uint32_t group);

// A standing's nodes in the database, edits going to a batch. With a null batch it only reads.
class KvNodeSpace final : public NodeSpace {
 public:
  KvNodeSpace(const Kv& kv, Kv::Batch* batch, std::uint32_t group) : kv_(kv), batch_(batch), group_(group) {}
  Result<std::string> GetNode(std::uint64_t node) override;
  void PutNode(std::uint64_t node, std::string bytes) override;
  void DeleteNode(std::uint64_t node) override;

 private:
  const Kv& kv_;
  Kv::Batch* batch_;
  std::uint32_t group_;
};

// The root of a group's standing; an empty one when it has none yet.
Result<StandingRoot> LoadRoot(const Kv& kv, std::uint32_t group);

// Who joins and who leaves a group in one commit.
struct GroupChange {
  std::uint32_t number = 0;
  Digest key;
  std::vector<StandingMember> join;
  std::vector<Contender> leave;
};

// Puts the change into the batch: standing, former members, record history. Appends the change lines (JSON
// objects) that tell it. `sequence` is the commit's. Errors: kCorrupt.
Status EditGroup(const Kv& kv, Kv::Batch& batch, RecordBooks& books, const GroupChange& change,
                 std::uint64_t sequence, std::vector<Change>& lines);

}  // namespace etl
