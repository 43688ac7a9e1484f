#include "tests/support/simulated_upstream.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "model/digest.h"

namespace etl::test {
namespace {

const char* const kGpus[] = {"B200", "H100"};
const char* const kVersions[] = {"v1.0", "v1.1"};

std::string Quoted(std::string_view text) {
  return '"' + std::string(text) + '"';
}

// The value of a parameter of a query, "" where it has none.
std::string Parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    if (part.starts_with(name) && part.substr(name.size()).starts_with("="))
      return std::string(part.substr(name.size() + 1));
  }
  return "";
}

std::int64_t NumberOf(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string Time(std::int64_t seconds) {
  return Quoted(Instant{1'780'000'000'000 + seconds * 1000}.Text().substr(0, 19));
}

}  // namespace

SimulatedUpstream::SimulatedUpstream(std::uint64_t seed, const Shape& shape, ManualClock& clock)
    : random_(seed), shape_(shape), clock_(clock) {
  for (std::uint32_t k = 0; k < shape.kernels; ++k) {
    Kernel& kernel = kernels_.emplace_back();
    kernel.id = 10 + static_cast<std::int64_t>(k);
    for (std::uint32_t i = 0; i < shape.rows_at_start; ++i) {
      Insert(kernel);
      Touch(kernel, kernel.rows.back());
    }
  }
}

Result<Response> SimulatedUpstream::Fetch(std::string_view key, const Validators& held) {
  clock_.AdvanceMs(1000);
  if (!resting_ && Below(100) < static_cast<std::uint64_t>(shape_.unrest_percent))
    Change(1 + static_cast<int>(Below(3)));
  Response response;
  response.origin = "sim:" + std::string(key);
  const std::size_t question = std::min(key.find('?'), key.size());
  const std::string_view path = key.substr(0, question),
                         query = key.substr(std::min(question + 1, key.size()));
  std::int64_t id = 0;
  if (path == "kernels") {
    response.bytes = List();
  } else if (path.starts_with("kernels/")) {
    id = NumberOf(path.substr(8));
  } else if (path == "submissions") {
    id = NumberOf(Parameter(query, "kernel_id"));
  }
  for (const Kernel& kernel : kernels_)
    if (kernel.id == id) response.bytes = path == "submissions" ? Page(kernel, query) : Detail(kernel);
  if (response.bytes.empty()) response.status = 404;
  response.validators.etag = Quoted(Sha256(response.bytes).Hex().substr(0, 16));
  if (held.etag == response.validators.etag) {
    response.status = 304;
    response.bytes.clear();
  }
  response.at = clock_.Now();
  return response;
}

void SimulatedUpstream::Change(int times) {
  for (int i = 0; i < times; ++i) ChangeOnce();
}

void SimulatedUpstream::ShowAll() {
  shape_.window_rows = 0;
  for (Kernel& kernel : kernels_) {
    for (Row& row : kernel.rows) {
      kernel.listed += row.hidden ? 1 : 0;
      row.hidden = false;
    }
  }
}

void SimulatedUpstream::StartWatch() {
  always_visible_.clear();
}

void SimulatedUpstream::ChangeOnce() {
  Kernel& kernel = kernels_[Below(kernels_.size())];
  const std::uint64_t what = Below(10);
  if (what < 3 || kernel.rows.empty()) {
    Insert(kernel);
    return;
  }
  // Mostly what is new, as upstream does; now and then something old.
  const std::size_t recent = std::min<std::size_t>(kernel.rows.size(), what < 8 ? 20 : kernel.rows.size());
  Row& row = kernel.rows[kernel.rows.size() - 1 - Below(recent)];
  if (what == 9 && Below(4) == 0) {
    kernel.bound_ns = 500 + static_cast<std::uint32_t>(Below(2000));  // the definition moves silently
  } else if (what == 8) {
    for (Row& other : kernel.rows) other.tie = static_cast<std::uint32_t>(Below(1000));
  } else {
    Touch(kernel, row);
  }
}

void SimulatedUpstream::Insert(Kernel& kernel) {
  Row row;
  row.id = next_id_++;
  row.user = 1 + static_cast<std::int64_t>(Below(9));
  moment_ += static_cast<std::int64_t>(Below(3));  // some of one moment
  row.moment = moment_;
  row.latency_us = 1 + static_cast<std::int64_t>(Below(400));
  row.tie = static_cast<std::uint32_t>(Below(1000));
  kernel.rows.push_back(std::move(row));
  ++kernel.listed;
}

void SimulatedUpstream::Touch(Kernel& kernel, Row& row) {
  if (row.status == "QUEUED" || row.status == "RUNNING") {
    const bool done = row.status == "RUNNING" || Below(2) == 0;
    row.status = !done ? "RUNNING" : Below(8) == 0 ? "FAILED" : "COMPLETED";
    return;
  }
  switch (Below(shape_.hides ? 5 : 4)) {
    case 0:
      row.latency_us = 1 + static_cast<std::int64_t>(Below(400));  // re-scored
      break;
    case 1:
      row.disqualified = !row.disqualified;
      break;
    case 2:
      row.correct = !row.correct;
      break;
    case 3:
      ++renames_[row.user];
      break;
    default:
      row.hidden = !row.hidden;
      kernel.listed += row.hidden ? 0 : 1;
      break;
  }
}

std::vector<const SimulatedUpstream::Row*> SimulatedUpstream::Visible(
    const Kernel& kernel, const std::function<bool(const Row&)>& filter) const {
  std::vector<const Row*> rows;
  for (const Row& row : kernel.rows)
    if (!row.hidden && filter(row)) rows.push_back(&row);
  std::sort(rows.begin(), rows.end(), [](const Row* a, const Row* b) {
    return std::tie(a->moment, a->tie, a->id) > std::tie(b->moment, b->tie, b->id);
  });
  if (shape_.window_rows > 0 && rows.size() > static_cast<std::size_t>(shape_.window_rows))
    rows.resize(static_cast<std::size_t>(shape_.window_rows));
  return rows;
}

std::string SimulatedUpstream::List() const {
  std::string text = "{\"data\":{\"kernels\":[";
  for (const Kernel& kernel : kernels_) {
    if (text.back() != '[') text += ',';
    const std::string id = std::to_string(kernel.id);
    text += "{\"id\":" + id + ",\"name\":\"k" + id + "\",\"title\":\"K " + id +
            "\",\"gpu_types\":[\"B200\",\"H100\"],\"tags\":[\"scan\"],\"submission_count\":" +
            std::to_string(kernel.listed) + "}";
  }
  return text + "]}}";
}

std::string SimulatedUpstream::Detail(const Kernel& kernel) const {
  const std::string id = std::to_string(kernel.id);
  return "{\"data\":{\"id\":" + id + ",\"name\":\"k" + id + "\",\"title\":\"K " + id +
         "\",\"gpu_types\":[\"B200\",\"H100\"],\"tags\":[\"scan\"],\"axes\":{\"n\":{\"type\":\"var\"}},"
         "\"inputs\":{\"x\":{\"shape\":[\"n\"],\"dtype\":\"float32\"}},\"outputs\":{\"y\":{\"shape\":[\"n\"],"
         "\"dtype\":\"float32\"}},\"baseline\":\"def run(x): return x\",\"baseline_latency_ms\":0.01,"
         "\"latency_unit\":\"ms\",\"sol_is_dummy\":false,\"workloads\":[{\"axes\":{\"n\":64},\"sol_ms\":" +
         std::to_string(kernel.bound_ns) + "e-6}]}}";
}

std::string SimulatedUpstream::Page(const Kernel& kernel, std::string_view query) {
  const std::string gpu = Parameter(query, "gpu_type"),
                    version = Parameter(query, "evaluation_stack_version"),
                    status = Parameter(query, "status");
  const auto rows = Visible(kernel, [&](const Row& row) {
    return (gpu.empty() || gpu == kGpus[row.id % 2]) &&
           (version.empty() || version == kVersions[row.id / 2 % 2]) &&
           (status.empty() || status == row.status);
  });
  if (gpu.empty() && version.empty() && status.empty()) {
    std::set<std::int64_t> now, both;
    for (const Row* row : rows) now.insert(row->id);
    const auto [seen, first] = always_visible_.try_emplace(kernel.id, now);
    if (!first) {
      std::set_intersection(seen->second.begin(), seen->second.end(), now.begin(), now.end(),
                            std::inserter(both, both.end()));
      seen->second = std::move(both);
    }
  }
  const auto offset = static_cast<std::size_t>(NumberOf(Parameter(query, "offset")));
  if (offset == 0) ++walks_;
  const auto limit = static_cast<std::size_t>(NumberOf(Parameter(query, "limit")));
  std::string text = "{\"data\":{\"submissions\":[";
  for (std::size_t i = offset; i < std::min(rows.size(), offset + limit); ++i) {
    if (text.back() != '[') text += ',';
    text += RowText(kernel, *rows[i]);
  }
  return text + "],\"total\":" + std::to_string(rows.size()) + ",\"offset\":" + std::to_string(offset) +
         ",\"limit\":" + std::to_string(limit) + "}}";
}

std::string SimulatedUpstream::RowText(const Kernel& kernel, const Row& row) const {
  const auto renamed = renames_.find(row.user);
  const std::string user = std::to_string(row.user);
  const std::string name =
      "user " + user + (renamed == renames_.end() ? "" : " (" + std::to_string(renamed->second) + ")");
  const bool done = row.status == "COMPLETED";
  std::string text = "{\"id\":" + std::to_string(row.id) + ",\"type\":\"kernel\",\"user_id\":" + user +
                     ",\"username\":" + Quoted(name) + ",\"kernel_id\":" + std::to_string(kernel.id) +
                     ",\"kernel_name\":\"k" + std::to_string(kernel.id) +
                     "\",\"status\":" + Quoted(row.status) + ",\"gpu_type\":" + Quoted(kGpus[row.id % 2]) +
                     ",\"evaluation_stack_version\":" + Quoted(kVersions[row.id / 2 % 2]) +
                     ",\"submitted_at\":" + Time(row.moment) +
                     ",\"is_disqualified\":" + (row.disqualified ? "true" : "false");
  if (done)
    text += std::string(",\"is_correct\":") + (row.correct ? "true" : "false") +
            ",\"latency_ms\":" + std::to_string(row.latency_us) +
            "e-3,\"sol_score\":0.5,\"finished_at\":" + Time(row.moment + 60);
  return text + "}";
}

}  // namespace etl::test
