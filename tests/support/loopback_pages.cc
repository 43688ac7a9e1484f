#include "tests/support/loopback_pages.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "model/canonical_json.h"
#include "model/json.h"
#include "tests/support/loopback_actions.h"

namespace etl::test {
namespace {

constexpr std::size_t kCacheBytesMax = std::size_t{512} << 20;
constexpr std::int64_t kDefaultLimit = 20;
constexpr std::int64_t kAllRows = 1'000'000'000;

LoopbackPages::Page MakePage(int status, std::string body) {
  LoopbackPages::Page page;
  page.status = status;
  char tag[17];
  std::snprintf(tag, sizeof tag, "%016zx", std::hash<std::string>()(body));
  page.tag = tag;
  page.body = std::make_shared<const std::string>(std::move(body));
  return page;
}

LoopbackPages::Page Detail(int status, std::string_view what) {
  std::string body = R"({"detail":)";
  json::AppendString(body, what);
  return MakePage(status, body + "}");
}

struct RowsQuery {
  std::int64_t kernel_id = -1, limit = kDefaultLimit, offset = 0;
  std::vector<std::pair<std::string_view, std::string_view>> filters;
};

std::optional<RowsQuery> ParseRowsQuery(std::string_view query) {
  RowsQuery parsed;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view part = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view name = part.substr(0, equals);
    const std::string_view value = part.substr(equals + 1);
    if (name == "gpu_type" || name == "evaluation_stack_version" || name == "status") {
      parsed.filters.emplace_back(name, value);
      continue;
    }
    std::int64_t* const target = name == "kernel_id" ? &parsed.kernel_id
                                 : name == "limit"   ? &parsed.limit
                                 : name == "offset"  ? &parsed.offset
                                                     : nullptr;
    if (target == nullptr) return std::nullopt;
    const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), *target);
    if (error != std::errc() || stop != value.data() + value.size() || *target < 0) return std::nullopt;
  }
  if (parsed.kernel_id < 0) return std::nullopt;
  return parsed;
}

// A row that is no JSON object passes no filter.
bool Passes(std::string_view row, const RowsQuery& query) {
  if (query.filters.empty()) return true;
  const auto document = json::Document::Parse(row);
  if (!document) return false;
  return std::all_of(query.filters.begin(), query.filters.end(), [&](const auto& filter) {
    return document->root().Find(filter.first).AsString() == filter.second;
  });
}

// The text with `total` replaced, where it has one that is a number.
std::string WithTotal(std::string text, std::size_t rows, bool is_filtered, std::int64_t window) {
  const auto document = json::Document::Parse(text);
  if (!document) return text;
  const json::Value total = document->root().At({"data", "total"});
  const auto stated = total.AsInt64();
  if (!stated) return text;
  std::int64_t told = is_filtered ? static_cast<std::int64_t>(rows) : *stated;
  if (window > 0) told = std::min(told, window);
  if (told != *stated) {
    const std::size_t bom = document->had_bom() ? 3 : 0;
    text.replace(bom + total.begin_offset(), total.end_offset() - total.begin_offset(), std::to_string(told));
  }
  return text;
}

// The page that a query asks for, out of all rows of a kernel; the text around the rows stays.
std::string CutRows(const std::string& all, const RowsQuery& query, const LoopbackPages::Limits& limits) {
  const auto found = json::FindElements(all, {"data", "submissions"});
  if (!found || found->empty()) return all;
  std::vector<std::string_view> rows;
  for (const json::ElementRange& range : *found) {
    const std::string_view row = std::string_view(all).substr(range.begin, range.end - range.begin);
    if (Passes(row, query)) rows.push_back(row);
  }
  const std::size_t matching = rows.size();
  const auto window = static_cast<std::size_t>(limits.window_rows > 0 ? limits.window_rows : kAllRows);
  rows.resize(std::min(rows.size(), window));
  const std::int64_t limit = limits.limit_max > 0 ? std::min(query.limit, limits.limit_max) : query.limit;
  const std::size_t first = std::min(static_cast<std::size_t>(query.offset), rows.size());
  const std::size_t count = std::min(static_cast<std::size_t>(limit), rows.size() - first);

  std::string out = all.substr(0, found->front().begin);
  if (count > 0 && query.filters.empty()) {  // with the white space that stands between them
    out.append(rows[first].data(), rows[first + count - 1].data() + rows[first + count - 1].size());
  } else {
    for (std::size_t i = 0; i < count; ++i) out.append(i > 0 ? "," : "").append(rows[first + i]);
  }
  out.append(all, found->back().end);
  return WithTotal(std::move(out), matching, !query.filters.empty(), limits.window_rows);
}

}  // namespace

void LoopbackPages::OpenFolder(const std::string& folder) {
  std::unique_ptr<Transport> opened;
  if (!folder.empty()) {
    auto result = etl::OpenFolder(folder);
    if (!result) throw std::runtime_error(result.error().Message());
    opened = *std::move(result);
  }
  folder_ = std::move(opened);
  cached_.clear();
  cached_bytes_ = 0;
}

void LoopbackPages::SetLimits(Limits limits) {
  limits_ = limits;
  cached_.clear();
  cached_bytes_ = 0;
}

void LoopbackPages::Put(std::string_view key, std::string body) {
  Page page = MakePage(200, std::move(body));
  page.modified = std::time(nullptr);
  put_.insert_or_assign(std::string(key), std::move(page));
}

void LoopbackPages::Remove(std::string_view key) {
  if (const auto it = put_.find(key); it != put_.end()) put_.erase(it);
}

const LoopbackPages::Page& LoopbackPages::Find(const std::string& key) {
  return Lookup(key);
}

std::shared_ptr<const std::string> LoopbackPages::Gzip(const std::string& key) {
  Page& page = Lookup(key);
  if (!page.gzip) {
    page.gzip = std::make_shared<const std::string>(GzipText(*page.body));
    cached_bytes_ += page.gzip->size();
  }
  return page.gzip;
}

LoopbackPages::Stamp LoopbackPages::StampOf(const std::string& file, std::time_t* modified) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return {};
  *modified = info.st_mtim.tv_sec;
  return {std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec, info.st_size,
          info.st_ino};
}

LoopbackPages::Page& LoopbackPages::Lookup(const std::string& key) {
  if (const auto it = put_.find(key); it != put_.end()) return it->second;
  std::time_t modified = 0;
  if (const auto it = cached_.find(key); it != cached_.end()) {
    if (StampOf(it->second.file, &modified) == it->second.stamp) return it->second.page;
    cached_.erase(it);
  }
  std::string file;
  Page page = Make(key, file);
  if (page.status != 200) return refused_ = std::move(page);
  const Stamp stamp = StampOf(file, &page.modified);
  if (cached_bytes_ > kCacheBytesMax) {
    cached_.clear();
    cached_bytes_ = 0;
  }
  cached_bytes_ += page.body->size();
  return cached_.insert_or_assign(key, Cached{std::move(page), std::move(file), stamp}).first->second.page;
}

LoopbackPages::Page LoopbackPages::Make(const std::string& key, std::string& file) {
  if (!folder_ || key.empty()) return Detail(404, "Not Found");
  constexpr std::string_view kRows = "submissions?";
  if (key.starts_with(kRows)) return MakeRows(std::string_view(key).substr(kRows.size()), file);
  auto answer = folder_->Fetch(key);
  if (!answer) return Detail(answer.error().errc == Errc::kInvalid ? 400 : 500, answer.error().Message());
  if (answer->status != 200) return Detail(answer->status, "Not Found");
  file = answer->origin;
  return MakePage(200, std::move(answer->bytes));
}

LoopbackPages::Page LoopbackPages::MakeRows(std::string_view query, std::string& file) {
  const auto parsed = ParseRowsQuery(query);
  if (!parsed) return Detail(400, "a submissions query needs a kernel_id, and knows no such parameter");
  const bool plain = parsed->filters.empty() && limits_.window_rows == 0 && limits_.limit_max == 0;
  std::string key = "submissions?kernel_id=" + std::to_string(parsed->kernel_id);
  if (plain) {
    key += "&limit=" + std::to_string(parsed->limit) + "&offset=" + std::to_string(parsed->offset);
  } else {
    key += "&limit=" + std::to_string(kAllRows) + "&offset=0";
  }
  auto answer = folder_->Fetch(key);
  if (!answer) return Detail(500, answer.error().Message());
  if (answer->status != 200) return Detail(answer->status, "Not Found");
  file = answer->origin;
  return MakePage(200, plain ? std::move(answer->bytes) : CutRows(answer->bytes, *parsed, limits_));
}

}  // namespace etl::test
