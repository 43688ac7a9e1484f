#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/settings.h"
#include "model/instant.h"

namespace etl {

enum class LogLevel : std::uint8_t { kTrace, kDebug, kInfo, kWarning, kError };

// What the daemon says of itself: one event a line, as JSON ({"at","level","event","message",...fields}) or
// as fields for journald (MESSAGE, PRIORITY, ETL_EVENT, ETL_SOURCE, ...: systemd.journal-fields(7)). An event
// that repeats itself, by its name and its field "source", is written at most kRepeatsMax times in kRepeatMs;
// the next line that is written says how many were left out ("repeated"). Texts are anyone's: bytes that are
// no UTF-8 and control characters are escaped.
//
// Nothing secret may be handed in: no credentials, no request headers. Any thread.
class Log {
 public:
  static constexpr int kRepeatsMax = 5;
  static constexpr std::int64_t kRepeatMs = 60'000;
  using Field = std::pair<std::string, std::string>;  // lower camel case

  // `clock` must outlive it, `stream` is where JSON lines go. Format "auto" is journald where standard error
  // is its stream (JOURNAL_STREAM), else JSON.
  static std::unique_ptr<Log> Open(const LogSettings& settings, Clock& clock, std::FILE* stream);
  virtual ~Log() = default;
  virtual void Write(LogLevel level, std::string_view event, std::string_view message,
                     const std::vector<Field>& fields = {}) = 0;
  virtual void SetLevel(std::string_view level) = 0;
};

}  // namespace etl
