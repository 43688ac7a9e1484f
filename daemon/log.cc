#include "daemon/log.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "model/json.h"
#include "model/json_writer.h"
#include "model/manifest_faults.h"
#include "store/printable.h"

namespace etl {
namespace {

constexpr std::size_t kRepeatersMax = 1000;  // events whose repeats are counted at once

std::string ValidUtf8(std::string_view text) {
  return manifest::IsUtf8(text) ? std::string(text) : PrintableKey(text);
}

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return spdlog::level::trace;
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

std::string_view NameOf(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return "trace";
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "info";
}

// journald's own socket is what standard error leads to (sd_journal_stream_fd(3), "JOURNAL_STREAM").
bool LeadsToJournal(std::FILE* stream) {
  const char* named = std::getenv("JOURNAL_STREAM");
  struct stat file {};
  if (named == nullptr || ::fstat(::fileno(stream), &file) != 0) return false;
  return std::string(named) == std::to_string(file.st_dev) + ":" + std::to_string(file.st_ino);
}

// Takes the JSON line apart again, so that both forms say the same.
class JournalSink final : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const auto document = json::Document::Parse({message.payload.data(), message.payload.size()});
    if (!document) return;
    std::vector<std::string> fields{"SYSLOG_IDENTIFIER=etld",
                                    "PRIORITY=" + std::to_string(Priority(message.level))};
    for (const json::Member member : document->root().members()) {
      const std::string value(member.value.IsString() ? member.value.AsString() : member.value.NumberText());
      if (member.name == "message") {
        fields.push_back("MESSAGE=" + value);
      } else if (member.name != "at" && member.name != "level") {
        fields.push_back("ETL_" + Upper(member.name) + "=" + value);
      }
    }
    std::vector<struct iovec> parts;
    for (std::string& field : fields) parts.push_back({field.data(), field.size()});
    (void)sd_journal_sendv(parts.data(), static_cast<int>(parts.size()));
  }
  void flush_() override {}

 private:
  static int Priority(spdlog::level::level_enum level) {
    return level >= spdlog::level::err    ? 3
           : level >= spdlog::level::warn ? 4
           : level >= spdlog::level::info ? 6
                                          : 7;
  }
  // "elapsedMs" -> "ELAPSED_MS".
  static std::string Upper(std::string_view name) {
    std::string out;
    for (const char c : name) {
      const auto letter = static_cast<unsigned char>(c);
      if (std::isupper(letter) != 0) out += '_';
      out += static_cast<char>(std::toupper(letter));
    }
    return out;
  }
};

class LogImpl final : public Log {
 public:
  LogImpl(Clock& clock, spdlog::sink_ptr sink) : clock_(clock), logger_("etld", std::move(sink)) {
    logger_.set_pattern("%v");
  }

  void SetLevel(std::string_view level) override {
    const std::string name(level == "warning" ? "warn" : level == "error" ? "err" : level);
    logger_.set_level(spdlog::level::from_str(name));
  }

  void Write(LogLevel level, std::string_view event, std::string_view message,
             const std::vector<Field>& fields) override {
    if (!logger_.should_log(SpdlogLevel(level))) return;
    const Instant now = clock_.Now();
    std::uint64_t left_out = 0;
    if (!Passes(event, fields, now, left_out)) return;
    std::string line;
    json::ObjectWriter w(line);
    w.Text("at", now.Text())
        .Text("level", NameOf(level))
        .Text("event", event)
        .Text("message", ValidUtf8(message));
    for (const auto& [name, value] : fields) w.Text(name, ValidUtf8(value));
    if (left_out > 0) w.Count("repeated", left_out);
    w.End();
    logger_.log(SpdlogLevel(level), spdlog::string_view_t(line));
    logger_.flush();
  }

 private:
  struct Repeats {
    Instant since;
    int written = 0;
    std::uint64_t left_out = 0;
  };

  bool Passes(std::string_view event, const std::vector<Field>& fields, Instant now,
              std::uint64_t& left_out) {
    std::string key(event);
    for (const auto& [name, value] : fields) {
      if (name == "source") key.append("\n").append(value);
    }
    const std::lock_guard lock(mutex_);
    if (repeats_.size() > kRepeatersMax) repeats_.clear();
    Repeats& repeats = repeats_[key];
    // A clock that was set back starts anew rather than being silent until it has caught up.
    if (now.ms - repeats.since.ms >= kRepeatMs || now < repeats.since) {
      left_out = repeats.left_out;
      repeats = {now, 1, 0};
      return true;
    }
    if (repeats.written >= kRepeatsMax) {
      ++repeats.left_out;
      return false;
    }
    ++repeats.written;
    return true;
  }

  Clock& clock_;
  spdlog::logger logger_;
  std::mutex mutex_;
  std::map<std::string, Repeats> repeats_;
};

}  // namespace

std::unique_ptr<Log> Log::Open(const LogSettings& settings, Clock& clock, std::FILE* stream) {
  const bool journal = settings.format == "journald" || (settings.format == "auto" && LeadsToJournal(stream));
  spdlog::sink_ptr sink;
  if (journal) {
    sink = std::make_shared<JournalSink>();
  } else {
    sink = std::make_shared<spdlog::sinks::stdout_sink_base<spdlog::details::console_mutex>>(stream);
  }
  auto log = std::make_unique<LogImpl>(clock, std::move(sink));
  log->SetLevel(settings.level);
  return log;
}

}  // namespace etl
