#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace etl {

// How the store's database is doing, for those who watch it. Counts are since it was opened.
struct StoreHealth {
  bool writes_stopped = false;             // until it has tidied up
  std::uint64_t slowdowns = 0, stops = 0;  // of writes, for it to keep up
  std::uint64_t compaction_pending_bytes = 0;
  std::uint64_t compactions_running = 0, flushes_running = 0;
  std::uint64_t background_errors = 0;
  std::uint64_t table_bytes = 0, log_bytes = 0, memtable_bytes = 0, cache_bytes = 0;
  std::uint64_t estimated_keys = 0;

  // How long commits took: those up to each bound, the last for all above. Not cumulative.
  static constexpr std::array<double, 10> kCommitBoundsS{0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                         0.025,  0.05,  0.1,    0.5,   2.5};
  std::array<std::uint64_t, kCommitBoundsS.size() + 1> commits{};
  double commit_seconds = 0;  // of all together
};

}  // namespace etl
