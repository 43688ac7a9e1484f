#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/store.h"

namespace etl::test {

// A made-up source "small" that drafts pages of rows by hand, without an adapter: row N is the entry
// "submission/N" with a run of the given latency in ns. A latency of 0 is a row that does not pass
// (NOT_CORRECT).
class SmallSource {
 public:
  SmallSource();
  // The draft of a page. The bytes tell its rows, so equal pages are equal snapshots. `at_ms` is when it was
  // captured; 0 takes the number of pages made so far.
  Ingest Page(int page, const std::vector<std::pair<int, double>>& rows, std::int64_t at_ms = 0);

 private:
  EntryDraft Shared(Kind kind, std::string external_id, std::string identity) const;
  std::vector<std::unique_ptr<Snapshot>> snapshots_;  // live as long as their drafts
  EntryDraft operation_, suite_, protocol_, environment_;
  Digest correctness_;
};

std::string ExportText(const Store& store);

// Damage, by the store's own means: a higher format number; an acknowledged sequence that was never written.
void SetStoredFormat(const std::string& dir, int format);
void AcknowledgeMore(const std::string& dir, std::uint64_t sequences);

}  // namespace etl::test
