#include "model/instant.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <utility>

namespace etl {
namespace {

constexpr std::int64_t kMsPerMinute = 60'000;
constexpr std::int64_t kMsPerHour = 60 * kMsPerMinute;
constexpr std::size_t kFractionDigitsMax = 9;

// Takes an instant apart from left to right. The first refusal stays.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool ended() const { return at_ == text_.size(); }
  std::size_t at() const { return at_; }
  bool Next(char c) const { return !ended() && text_[at_] == c; }
  bool NextDigit() const { return !ended() && text_[at_] >= '0' && text_[at_] <= '9'; }

  bool Take(char c) {
    if (!Next(c)) return false;
    ++at_;
    return true;
  }

  void Expect(char c) {
    if (!Take(c)) RefusePattern();
  }

  // Exactly `digits` digits, whose number must be within the range.
  int Number(int digits, int low, int high) {
    const std::size_t begin = at_;
    int value = 0;
    for (int i = 0; i < digits; ++i) {
      if (!NextDigit()) return RefusePattern(), low;
      value = 10 * value + (text_[at_++] - '0');
    }
    if (value >= low && value <= high) return value;
    RefuseRange(begin);
    return low;
  }

  // The digits behind a point, cut to milliseconds.
  std::int64_t Fraction(std::size_t digits_min, std::size_t digits_max) {
    std::int64_t ms = 0;
    std::size_t digits = 0;
    for (; NextDigit() && digits < digits_max; ++at_, ++digits)
      if (digits < 3) ms = 10 * ms + (text_[at_] - '0');
    if (digits < digits_min || NextDigit()) RefusePattern();
    for (; digits < 3; ++digits) ms *= 10;
    return ms;
  }

  void RefusePattern() {
    Refuse("INSTANT_PATTERN", at_, "this is no instant, such as 2026-08-18T18:15:52.587Z");
  }
  void RefuseRange(std::size_t at) { Refuse("INSTANT_RANGE", at, "there is no such moment in the calendar"); }

  Result<Instant> Done(Instant instant) {
    if (!refused_) return instant;
    return Fail(error_);
  }

 private:
  void Refuse(std::string_view code, std::size_t at, std::string what) {
    if (std::exchange(refused_, true)) return;
    error_ = {Errc::kInvalid, std::string(code), "character " + std::to_string(at), std::move(what),
              "write date and time as ISO 8601, years 0001 to 9999"};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool refused_ = false;
  Error error_;
};

// yyyy-mm-dd as milliseconds since 1970.
std::int64_t ReadDate(Reader& reader) {
  const std::size_t begin = reader.at();
  const int year = reader.Number(4, 1, 9999);
  reader.Expect('-');
  const int month = reader.Number(2, 1, 12);
  reader.Expect('-');
  const int day = reader.Number(2, 1, 31);
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) reader.RefuseRange(begin);
  const auto days = std::chrono::sys_days(date).time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(days).count();
}

std::int64_t ReadHourAndMinute(Reader& reader) {
  const std::int64_t hour = reader.Number(2, 0, 23);
  reader.Expect(':');
  return hour * kMsPerHour + reader.Number(2, 0, 59) * kMsPerMinute;
}

// What an offset adds to UTC; 0 for "Z" and for nothing.
std::int64_t ReadOffset(Reader& reader) {
  if (reader.ended() || reader.Take('Z')) return 0;
  const bool west = reader.Next('-');
  if (!reader.Take('+') && !reader.Take('-')) return reader.RefusePattern(), 0;
  std::int64_t offset = reader.Number(2, 0, 23) * kMsPerHour;
  if (reader.Take(':') || !reader.ended()) offset += reader.Number(2, 0, 59) * kMsPerMinute;
  return west ? -offset : offset;
}

constexpr std::int64_t kFirstMs = -62'135'596'800'000;  // 0001-01-01T00:00:00.000Z
constexpr std::int64_t kLastMs = 253'402'300'799'999;   // 9999-12-31T23:59:59.999Z

char* PutNumber(char* to, std::int64_t value, int digits) {
  for (int i = digits - 1; i >= 0; --i, value /= 10) to[i] = static_cast<char>('0' + value % 10);
  return to + digits;
}

}  // namespace

std::string Instant::Text() const {
  const std::chrono::sys_time<std::chrono::milliseconds> time{
      std::chrono::milliseconds(std::clamp(ms, kFirstMs, kLastMs))};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::int64_t rest = (time - day).count();
  std::array<char, 24> text;
  char* to = PutNumber(text.data(), int{date.year()}, 4);
  *to++ = '-';
  to = PutNumber(to, unsigned{date.month()}, 2);
  *to++ = '-';
  to = PutNumber(to, unsigned{date.day()}, 2);
  *to++ = 'T';
  to = PutNumber(to, rest / kMsPerHour, 2);
  *to++ = ':';
  to = PutNumber(to, rest / kMsPerMinute % 60, 2);
  *to++ = ':';
  to = PutNumber(to, rest / 1000 % 60, 2);
  *to++ = '.';
  to = PutNumber(to, rest % 1000, 3);
  *to++ = 'Z';
  return {text.data(), to};
}

Result<Instant> ParseSourceInstant(std::string_view text) {
  Reader reader(text);
  Instant instant{ReadDate(reader)};
  if (!reader.Take('T')) reader.Expect(' ');
  instant.ms += ReadHourAndMinute(reader);
  if (reader.Take(':')) {
    instant.ms += reader.Number(2, 0, 59) * std::int64_t{1000};
    if (reader.Take('.')) instant.ms += reader.Fraction(1, kFractionDigitsMax);
  }
  instant.ms -= ReadOffset(reader);
  if (!reader.ended()) reader.RefusePattern();
  if (instant.ms < kFirstMs || instant.ms > kLastMs) reader.RefuseRange(0);
  return reader.Done(instant);
}

Result<Instant> ParseCanonicalInstant(std::string_view text) {
  Reader reader(text);
  Instant instant{ReadDate(reader)};
  reader.Expect('T');
  instant.ms += ReadHourAndMinute(reader);
  reader.Expect(':');
  instant.ms += reader.Number(2, 0, 59) * std::int64_t{1000};
  reader.Expect('.');
  instant.ms += reader.Fraction(3, 3);
  reader.Expect('Z');
  if (!reader.ended()) reader.RefusePattern();
  return reader.Done(instant);
}

}  // namespace etl
