#include "etlctl/progress.h"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

#include "etlctl/escape.h"
#include "etlctl/format.h"

namespace etl::ctl {
namespace {

constexpr auto kRewriteEvery = std::chrono::milliseconds(100);
constexpr auto kLineEvery = std::chrono::seconds(3);
constexpr std::size_t kBarMin = 10, kBarMax = 40;

std::string Bar(std::uint64_t done, std::uint64_t total, std::size_t cells) {
  const double part =
      total == 0 ? 0 : static_cast<double>(std::min(done, total)) / static_cast<double>(total);
  const auto full = static_cast<std::size_t>(part * static_cast<double>(cells));
  return "[" + std::string(full, '#') + std::string(cells - full, '-') + "]";
}

}  // namespace

std::string ProgressText(const VisitProgress& progress, double elapsed_seconds, std::size_t columns) {
  const double elapsed = std::max(elapsed_seconds, 0.001);
  std::string text = progress.scopes_total > 0
                         ? fmt::format("kernels {}/{}", progress.scopes_done, progress.scopes_total)
                         : fmt::format("kernels {}", progress.scopes_done);
  text += fmt::format("  rows {}  {} rows/s", FormatCount(progress.rows),
                      FormatCount(static_cast<std::uint64_t>(static_cast<double>(progress.rows) / elapsed)));
  if (progress.scopes_done > 0 && progress.scopes_total >= progress.scopes_done) {
    const auto left = static_cast<double>(progress.scopes_total - progress.scopes_done);
    text += "  " + FormatDuration(elapsed * left / static_cast<double>(progress.scopes_done)) + " left";
  }
  if (columns == 0) return text;
  const std::size_t used = DisplayWidth(text) + 4;
  if (columns < used + kBarMin) return CutToWidth(text, columns);
  return text + "  " + Bar(progress.scopes_done, progress.scopes_total, std::min(columns - used, kBarMax));
}

ProgressLine::ProgressLine(Output& out) : out_(out), start_(std::chrono::steady_clock::now()), next_(start_) {
  if (!out_.talk_is_terminal()) next_ += kLineEvery;
}

void ProgressLine::Update(const VisitProgress& progress) {
  const Time now = std::chrono::steady_clock::now();
  if (now < next_) return;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  if (out_.talk_is_terminal()) {
    next_ = now + kRewriteEvery;
    out_.Talk("\r\x1b[K" + ProgressText(progress, elapsed, out_.talk_columns() - 1));
    shown_ = true;
  } else {
    next_ = now + kLineEvery;
    out_.TalkLine(ProgressText(progress, elapsed, 0));
  }
}

void ProgressLine::Clear() {
  if (shown_) out_.Talk("\r\x1b[K");
  shown_ = false;
}

}  // namespace etl::ctl
