#include "fetch/http_date.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <string>

namespace etl {
namespace {

constexpr std::int64_t kWaitMsMax = 1'000'000'000'000;
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr std::array<std::string_view, 7> kLongDays = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                       "Friday", "Saturday", "Sunday"};

// Takes a text apart from its front; once something did not fit, ok() stays false.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  void Take(std::string_view literal) {
    if (!text_.starts_with(literal)) return Refuse();
    text_.remove_prefix(literal.size());
  }
  int Digits(std::size_t count) {
    int value = 0;
    if (text_.size() < count) return Refuse(), 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (text_[i] < '0' || text_[i] > '9') return Refuse(), 0;
      value = value * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(count);
    return value;
  }
  template <std::size_t kCount>
  unsigned Name(const std::array<std::string_view, kCount>& names) {
    for (std::size_t i = 0; i < kCount; ++i) {
      if (!text_.starts_with(names[i])) continue;
      text_.remove_prefix(names[i].size());
      return static_cast<unsigned>(i + 1);
    }
    return Refuse(), 0;
  }
  bool TakeIf(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool ok() const { return ok_; }
  bool done() const { return ok_ && text_.empty(); }

 private:
  void Refuse() {
    ok_ = false;
    text_ = {};
  }
  std::string_view text_;
  bool ok_ = true;
};

struct Parts {
  int year = 0;
  unsigned month = 0, day = 0;
  int hour = 0, minute = 0, second = 0;
};

void TakeTime(Reader& reader, Parts& parts) {
  parts.hour = reader.Digits(2);
  reader.Take(":");
  parts.minute = reader.Digits(2);
  reader.Take(":");
  parts.second = reader.Digits(2);
}

std::optional<Parts> ReadImfFixdate(std::string_view text) {
  Reader reader(text);
  Parts parts;
  reader.Name(kDays);
  reader.Take(", ");
  parts.day = static_cast<unsigned>(reader.Digits(2));
  reader.Take(" ");
  parts.month = reader.Name(kMonths);
  reader.Take(" ");
  parts.year = reader.Digits(4);
  reader.Take(" ");
  TakeTime(reader, parts);
  reader.Take(" GMT");
  return reader.done() ? std::optional(parts) : std::nullopt;
}

std::optional<Parts> ReadRfc850(std::string_view text, Instant now) {
  Reader reader(text);
  Parts parts;
  reader.Name(kLongDays);
  reader.Take(", ");
  parts.day = static_cast<unsigned>(reader.Digits(2));
  reader.Take("-");
  parts.month = reader.Name(kMonths);
  reader.Take("-");
  const int year = reader.Digits(2);
  reader.Take(" ");
  TakeTime(reader, parts);
  reader.Take(" GMT");
  if (!reader.done()) return std::nullopt;
  const std::chrono::sys_time<std::chrono::milliseconds> moment{std::chrono::milliseconds(now.ms)};
  const std::chrono::year_month_day today(std::chrono::floor<std::chrono::days>(moment));
  const int this_year = static_cast<int>(today.year());
  parts.year = this_year - this_year % 100 + year;
  if (parts.year > this_year + 50) parts.year -= 100;
  if (parts.year <= this_year - 50) parts.year += 100;
  return parts;
}

std::optional<Parts> ReadAsctime(std::string_view text) {
  Reader reader(text);
  Parts parts;
  reader.Name(kDays);
  reader.Take(" ");
  parts.month = reader.Name(kMonths);
  reader.Take(" ");
  parts.day = static_cast<unsigned>(reader.Digits(reader.TakeIf(' ') ? 1 : 2));
  reader.Take(" ");
  TakeTime(reader, parts);
  reader.Take(" ");
  parts.year = reader.Digits(4);
  return reader.done() ? std::optional(parts) : std::nullopt;
}

}  // namespace

std::optional<Instant> ParseHttpDate(std::string_view text, Instant now) {
  auto parts = ReadImfFixdate(text);
  if (!parts) parts = ReadRfc850(text, now);
  if (!parts) parts = ReadAsctime(text);
  if (!parts) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(parts->year), std::chrono::month(parts->month),
                                         std::chrono::day(parts->day)};
  if (!date.ok() || parts->hour > 23 || parts->minute > 59 || parts->second > 60) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t seconds = parts->hour * 3600 + parts->minute * 60 + std::min(parts->second, 59);
  return Instant{(days * 86'400 + seconds) * 1000};
}

std::optional<std::int64_t> ParseRetryAfterMs(std::string_view text, Instant now) {
  const bool digits =
      !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits) {
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || seconds > kWaitMsMax / 1000) return kWaitMsMax;
    return seconds * 1000;
  }
  const auto date = ParseHttpDate(text, now);
  if (!date) return std::nullopt;
  return std::clamp<std::int64_t>(date->ms - now.ms, 0, kWaitMsMax);
}

}  // namespace etl
