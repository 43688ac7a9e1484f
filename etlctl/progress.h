#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "daemon/visit.h"
#include "etlctl/output.h"

namespace etl::ctl {

// "kernels 12/119  rows 1,310  2,345 rows/s  0:05 left", with a bar behind it that fills `columns` (0: no
// bar, any length). Time left is by kernels done, and not shown before the first.
std::string ProgressText(const VisitProgress& progress, double elapsed_seconds, std::size_t columns);

// Shows how a visit gets on: one line that is rewritten where the talk stream is a terminal, else a line
// every 3 seconds.
class ProgressLine {
 public:
  explicit ProgressLine(Output& out);
  void Update(const VisitProgress& progress);
  // Takes the line away. Called once at the end, before anything else is said.
  void Clear();

 private:
  using Time = std::chrono::steady_clock::time_point;
  Output& out_;
  Time start_, next_;
  bool shown_ = false;
};

}  // namespace etl::ctl
