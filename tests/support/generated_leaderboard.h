#pragma once

#include <cstdint>
#include <string>

namespace etl::test {

// How large a generated leaderboard is. Equal shapes give equal bytes, on every machine.
struct LeaderboardShape {
  std::uint32_t kernels = 235;          // 1 to 100,000
  std::uint32_t rows_per_kernel = 250;  // 0 to 1,000,000
  std::uint32_t cases_per_kernel = 16;  // 1 to 1,000
  // Rows that the first kernel has on top, all newer than every other row. Everything but the first kernel's
  // rows (and its count in kernels.json) stays the same bytes: the upstream a while later.
  std::uint32_t extra_rows = 0;
  std::uint64_t seed = 1;
};

// Writes a folder of saved responses in the source's layout (kernels.json, kernels/<id>.json,
// submissions/<id>.json; no leaderboards) into `dir`, which is made if it is not there. Kernels are numbered
// from 1. A row has upstream's 30 members and about 860 bytes; ids are one global sequence that rises with
// time; about 85 % of the rows pass, the others are failed, incorrect, disqualified, unfinished or without a
// latency. 48 users, 2 GPUs, 2 stack versions; every latency lies above the bounds of its kernel. 58,750 rows
// are 50 MB and take well under a second.
//
// Throws std::runtime_error when a file cannot be written, std::invalid_argument for a shape outside its
// limits.
void WriteLeaderboard(const std::string& dir, const LeaderboardShape& shape);

}  // namespace etl::test
