// Bytes drive commits of small pages against an in-memory store. Property: no commit fails, and at the end
// verify finds no fault and the standing holds exactly the rows that pass.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "store/store.h"
#include "tests/support/manual_clock.h"
#include "tests/support/small_drafts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kBytesMax =
      96;  // opening a store dominates; long inputs find nothing that short ones do not
  etl::test::ManualClock clock;
  etl::Store::Options options;
  options.mode = etl::Store::Mode::kWrite;
  options.in_memory = true;
  auto store = etl::Store::Open("", options, clock);
  if (!store) std::abort();
  etl::test::SmallSource source;
  std::map<int, std::pair<std::int64_t, double>> rows;
  for (std::size_t i = 0; i + 4 <= size && i < kBytesMax; i += 4) {
    const std::int64_t at = 1 + data[i];
    const int page = data[i + 1] % 4, id = 1 + data[i + 2] % 16;
    const double latency = data[i + 3] % 8;
    if (!(*store)->Commit(source.Page(page * 1000 + static_cast<int>(i), {{id, latency}},
                                      at * 1000 + static_cast<std::int64_t>(i))))
      std::abort();
    const auto known = rows.find(id);
    const std::int64_t moment = at * 1000 + static_cast<std::int64_t>(i);
    if (known == rows.end() || moment > known->second.first) rows[id] = {moment, latency};
  }
  std::uint64_t passing = 0;
  for (const auto& [id, row] : rows) passing += row.second > 0 ? 1 : 0;
  const auto report = (*store)->Verify();
  if (!report || report->fault_count != 0) std::abort();
  const auto counts = (*store)->Count();
  if (!counts || counts->ranked_runs != passing) std::abort();
  return 0;
}
