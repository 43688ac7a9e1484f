#include "tests/support/generated_leaderboard.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace etl::test {
namespace {

// SplitMix64: every row draws from its own stream, so that one row more changes no other.
class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t stream) : state_(seed * 0x9e3779b97f4a7c15U ^ stream) { Next(); }

  std::uint64_t Below(std::uint64_t bound) { return Next() % bound; }

 private:
  std::uint64_t Next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

constexpr std::array<std::string_view, 8> kFamilies = {"attention", "gemm", "norm", "moe",
                                                       "rope",      "conv", "scan", "reduction"};
constexpr std::uint32_t kUsers = 48;
constexpr std::uint64_t kSecondsBetweenRows = 40;

std::string Padded(std::uint64_t value, std::size_t width) {
  std::string digits = std::to_string(value);
  return digits.size() >= width ? digits : std::string(width - digits.size(), '0') + digits;
}

// `millionths` as a JSON number without trailing zeros: 1250000 is "1.25".
std::string Decimal(std::uint64_t millionths) {
  std::string text = std::to_string(millionths / 1'000'000) + "." + Padded(millionths % 1'000'000, 6);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string Quoted(std::string_view text) {
  return std::string("\"").append(text).append("\"");
}

// ISO time without a zone, microseconds, from seconds since the start of 2026.
std::string Timestamp(std::uint64_t seconds, std::uint64_t microseconds) {
  using std::chrono::days, std::chrono::sys_days, std::chrono::year_month_day;
  const sys_days start = std::chrono::year{2026} / std::chrono::January / 1;
  const year_month_day date(start + days(static_cast<int>(seconds / 86400)));
  const std::uint64_t rest = seconds % 86400;
  return std::to_string(static_cast<int>(date.year())) + "-" +
         Padded(static_cast<unsigned>(date.month()), 2) + "-" + Padded(static_cast<unsigned>(date.day()), 2) +
         "T" + Padded(rest / 3600, 2) + ":" + Padded(rest / 60 % 60, 2) + ":" + Padded(rest % 60, 2) + "." +
         Padded(microseconds, 6);
}

struct Kernel {
  std::uint32_t id = 0;
  std::string name, title;
  std::string_view family;
  std::uint64_t sol_ns = 0;  // bound of the smallest case; case i has (i + 1) times as much
  std::uint64_t cases = 0;

  // Fastest latency that a row may have: above every bound, so that a row never depends on which one is the
  // smallest.
  std::uint64_t FloorNs() const { return sol_ns * cases * 11 / 10; }
};

Kernel MakeKernel(const LeaderboardShape& shape, std::uint32_t id) {
  Draw draw(shape.seed, (std::uint64_t{1} << 40) + id);
  Kernel kernel;
  kernel.id = id;
  kernel.family = kFamilies[draw.Below(kFamilies.size())];
  kernel.name = Padded(id, 3) + "_generated_" + std::string(kernel.family) + "_block_backward";
  kernel.title = "Generated " + std::string(kernel.family) + " block, backward pass " + std::to_string(id);
  kernel.sol_ns = 1000 + draw.Below(9000);
  kernel.cases = shape.cases_per_kernel;
  return kernel;
}

std::string Summary(const Kernel& kernel, std::uint32_t rows) {
  return "{\"id\": " + std::to_string(kernel.id) + ", \"name\": " + Quoted(kernel.name) +
         ", \"title\": " + Quoted(kernel.title) + ", \"gpu_types\": [\"B200\", \"H100\"], \"tags\": [" +
         Quoted(kernel.family) +
         ", \"L1\", \"model:generated-7b\"], \"submission_count\": " + std::to_string(rows) + "}";
}

std::string Detail(const Kernel& kernel) {
  std::string text =
      "{\"data\": {\"id\": " + std::to_string(kernel.id) + ", \"name\": " + Quoted(kernel.name) +
      ", \"title\": " + Quoted(kernel.title) +
      ", \"description\": \"Made for measuring.\", \"gpu_types\": [\"B200\", \"H100\"], \"tags\": [" +
      Quoted(kernel.family) +
      ", \"L1\", \"model:generated-7b\"], \"axes\": {"
      "\"batch_size\": {\"type\": \"var\"}, \"seq_len\": {\"type\": \"var\"}, "
      "\"num_heads\": {\"type\": \"const\", \"value\": 32}, \"head_dim\": {\"type\": \"const\", \"value\": "
      "128}, "
      "\"hidden\": {\"type\": \"expr\", \"expression\": \"num_heads * head_dim\"}}, \"inputs\": {"
      "\"x\": {\"shape\": [\"batch_size\", \"seq_len\", \"hidden\"], \"dtype\": \"bfloat16\"}, "
      "\"weight\": {\"shape\": [\"hidden\"], \"dtype\": \"float32\"}, "
      "\"scale\": {\"shape\": null, \"dtype\": \"float32\"}}, \"outputs\": {"
      "\"y\": {\"shape\": [\"batch_size\", \"seq_len\", \"hidden\"], \"dtype\": \"bfloat16\"}}, "
      "\"baseline\": \"def run(x):\\n    return x\\n\", \"baseline_latency_ms\": " +
      Decimal(kernel.sol_ns * (kernel.cases + 1) / 2) +
      ", \"latency_unit\": \"ms\", \"sol_is_dummy\": false, \"workloads\": [";
  for (std::uint64_t i = 0; i < kernel.cases; ++i) {
    const std::uint64_t sol_ns = kernel.sol_ns * (i + 1);
    text += std::string(i == 0 ? "" : ", ") +
            "{\"axes\": {\"num_heads\": 32, \"head_dim\": 128, \"hidden\": 4096, " +
            "\"batch_size\": " + std::to_string(1 + i % 8) +
            ", \"seq_len\": " + std::to_string(128 * (1 + i)) +
            "}, \"baseline_latency_ms\": " + Decimal(sol_ns * 4) + ", \"sol_ms\": " + Decimal(sol_ns) + "}";
  }
  return text + "]}}\n";
}

// What a row turned out to be.
enum class Fate : std::uint8_t { kPassed, kFailed, kIncorrect, kDisqualified, kRunning, kNoLatency };

Fate DrawFate(Draw& draw) {
  const std::uint64_t percent = draw.Below(100);
  if (percent < 85) return Fate::kPassed;
  if (percent < 90) return Fate::kFailed;
  if (percent < 95) return Fate::kIncorrect;
  if (percent < 97) return Fate::kDisqualified;
  return percent < 99 ? Fate::kRunning : Fate::kNoLatency;
}

// status to avg_speedup, the part that depends on how the run went.
std::string Outcome(const Kernel& kernel, Fate fate, std::uint64_t latency_ns, Draw& draw) {
  if (fate == Fate::kFailed || fate == Fate::kRunning) {
    return std::string("\"status\": ") + (fate == Fate::kFailed ? "\"FAILED\"" : "\"RUNNING\"") +
           ", \"is_correct\": null, \"sol_score\": null, \"latency_ms\": null, \"benchmark_results\": null, "
           "\"fast_1_count\": null, \"fast_1_total\": null, \"avg_speedup\": null";
  }
  const std::uint64_t score = kernel.FloorNs() * 1'000'000 / latency_ns;
  return std::string("\"status\": \"COMPLETED\", \"is_correct\": ") +
         (fate == Fate::kIncorrect ? "false" : "true") + ", \"sol_score\": " + Decimal(score) +
         ", \"latency_ms\": " + (fate == Fate::kNoLatency ? std::string("null") : Decimal(latency_ns)) +
         ", \"benchmark_results\": null, \"fast_1_count\": " +
         std::to_string(kernel.cases - draw.Below(kernel.cases / 4 + 1)) +
         ", \"fast_1_total\": " + std::to_string(kernel.cases) +
         ", \"avg_speedup\": " + Decimal(score * 4 / 1000 * 1000);
}

void AppendRow(const LeaderboardShape& shape, const Kernel& kernel, std::uint64_t id, std::string& out) {
  Draw draw(shape.seed, id);
  const std::uint64_t user = 1 + draw.Below(kUsers);
  const Fate fate = DrawFate(draw);
  const bool hopper = draw.Below(5) == 0;
  const bool old_stack = draw.Below(4) == 0;
  // Squared, so that the head of a standing is crowded, as it is upstream.
  const std::uint64_t spread = draw.Below(1000);
  const std::uint64_t floor_ns = kernel.FloorNs() * (hopper ? 2 : 1);
  const std::uint64_t latency_ns =
      floor_ns + floor_ns * spread * spread / 400'000 + draw.Below(floor_ns / 8 + 1);
  const std::string outcome = Outcome(kernel, fate, latency_ns, draw);
  const std::uint64_t seconds = id * kSecondsBetweenRows;
  const bool disqualified = fate == Fate::kDisqualified;
  const std::string finished = Timestamp(seconds + 30 + draw.Below(1800), draw.Below(1'000'000));

  out += "{\"id\": " + std::to_string(id) +
         ", \"type\": \"kernel\", \"user_id\": " + std::to_string(5000 + user) +
         ", \"username\": \"generated-user-" + std::to_string(user) +
         "\", \"kernel_id\": " + std::to_string(kernel.id) + ", \"kernel_name\": " + Quoted(kernel.name) +
         ", \"kernel_title\": " + Quoted(kernel.title) +
         ", \"collection_id\": null, \"collection_submission_id\": null, \"collection_title\": null, "
         "\"submission_mode\": \"release\", " +
         outcome + ", \"gpu_type\": " + (hopper ? "\"H100\"" : "\"B200\"") +
         ", \"worker_id\": \"generated-prod-worker-" + Padded(1 + draw.Below(16), 4) +
         "\", \"evaluation_stack_version\": " + (old_stack ? "\"v1.0\"" : "\"v1.1\"") +
         ", \"is_disqualified\": " + (disqualified ? "true" : "false") +
         ", \"disqualification_reason\": " + (disqualified ? "\"policy\"" : "null") +
         ", \"disqualification_source\": " + (disqualified ? "\"review\"" : "null") +
         ", \"disqualified_at\": " + (disqualified ? Quoted(finished) : "null") +
         ", \"submitted_at\": " + Quoted(Timestamp(seconds, id * 7919 % 1'000'000)) +
         ", \"finished_at\": " + (fate == Fate::kRunning ? "null" : Quoted(finished)) +
         ", \"error_log\": null, \"original_filename\": null}";
}

// All rows of a kernel, newest first. Row i of kernel k has the id i * kernels + k: rows of all kernels come
// in turn.
std::string Submissions(const LeaderboardShape& shape, const Kernel& kernel, std::uint64_t rows) {
  std::string out = "{\"data\": {\"submissions\": [";
  out.reserve(rows * 900 + 100);
  for (std::uint64_t i = rows; i-- > 0;) {
    AppendRow(shape, kernel, i * shape.kernels + kernel.id, out);
    if (i != 0) out += ", ";
  }
  const std::string count = std::to_string(rows);
  return out.append("], \"total\": ")
      .append(count)
      .append(", \"offset\": 0, \"limit\": ")
      .append(count)
      .append("}}\n");
}

void WriteFile(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

void CheckShape(const LeaderboardShape& shape) {
  const bool inside = shape.kernels >= 1 && shape.kernels <= 100'000 && shape.rows_per_kernel <= 1'000'000 &&
                      shape.extra_rows <= 1'000'000 && shape.cases_per_kernel >= 1 &&
                      shape.cases_per_kernel <= 1'000;
  if (!inside) throw std::invalid_argument("the leaderboard's shape is outside its limits");
}

}  // namespace

void WriteLeaderboard(const std::string& dir, const LeaderboardShape& shape) {
  CheckShape(shape);
  const std::filesystem::path root(dir);
  std::filesystem::create_directories(root / "kernels");
  std::filesystem::create_directories(root / "submissions");
  std::string list = "{\"data\": {\"kernels\": [";
  for (std::uint32_t id = 1; id <= shape.kernels; ++id) {
    const Kernel kernel = MakeKernel(shape, id);
    const std::uint32_t rows = shape.rows_per_kernel + (id == 1 ? shape.extra_rows : 0);
    list += (id == 1 ? "" : ", ") + Summary(kernel, rows);
    const std::string file = std::to_string(id) + ".json";
    WriteFile(root / "kernels" / file, Detail(kernel));
    WriteFile(root / "submissions" / file, Submissions(shape, kernel, rows));
  }
  WriteFile(root / "kernels.json", list + "]}}\n");
}

}  // namespace etl::test
