#include "daemon/log.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/json.h"
#include "tests/support/manual_clock.h"

namespace etl {
namespace {

class LogLines : public testing::Test {
 protected:
  LogLines() : stream_(::open_memstream(&data_, &size_)) {
    LogSettings settings;
    settings.format = "json";
    log_ = Log::Open(settings, clock_, stream_);
  }
  ~LogLines() override {
    log_.reset();
    std::fclose(stream_);
    std::free(data_);
  }
  std::vector<std::string> Lines() const {
    std::fflush(stream_);
    std::vector<std::string> lines;
    std::string_view text(data_, size_);
    while (!text.empty()) {
      const auto end = text.find('\n');
      lines.emplace_back(text.substr(0, end));
      text.remove_prefix(std::min(text.size(), end + 1));
    }
    return lines;
  }
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_;
  test::ManualClock clock_;
  std::unique_ptr<Log> log_;
};

TEST_F(LogLines, AreJsonObjectsWhateverIsInThem) {
  log_->Write(LogLevel::kWarning, "visit", "line\nbreak \xff \x1b[31m",
              {{"source", "s"}, {"error", "\"quoted\" \xc3\x28"}});
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), 1U);
  const auto document = json::Document::Parse(lines[0]);
  ASSERT_TRUE(document) << lines[0];
  EXPECT_EQ(document->root().Find("level").AsString(), "warning");
  EXPECT_EQ(document->root().Find("event").AsString(), "visit");
  EXPECT_EQ(document->root().Find("source").AsString(), "s");
  EXPECT_EQ(document->root().Find("at").AsString(), clock_.Now().Text());
  EXPECT_THAT(lines[0], testing::Not(testing::HasSubstr("\x1b")));
}

TEST_F(LogLines, BelowTheLevelAreLeftOut) {
  log_->Write(LogLevel::kDebug, "a", "");
  EXPECT_EQ(Lines().size(), 0U);
  log_->SetLevel("debug");
  log_->Write(LogLevel::kDebug, "a", "");
  log_->SetLevel("error");
  log_->Write(LogLevel::kWarning, "a", "");
  EXPECT_EQ(Lines().size(), 1U);
  log_->SetLevel("warning");
  log_->Write(LogLevel::kWarning, "b", "");
  EXPECT_EQ(Lines().size(), 2U);
}

TEST_F(LogLines, ThatRepeatThemselvesAreCountedInsteadOfWritten) {
  for (int i = 0; i < 100; ++i) log_->Write(LogLevel::kError, "visit", "failed", {{"source", "a"}});
  EXPECT_EQ(Lines().size(), static_cast<std::size_t>(Log::kRepeatsMax));
  log_->Write(LogLevel::kError, "visit", "failed", {{"source", "b"}});
  EXPECT_EQ(Lines().size(), static_cast<std::size_t>(Log::kRepeatsMax) + 1)
      << "another source is another matter";
  clock_.AdvanceMs(Log::kRepeatMs);
  log_->Write(LogLevel::kError, "visit", "failed", {{"source", "a"}});
  EXPECT_THAT(Lines().back(), testing::HasSubstr("\"repeated\":95"));
  for (int i = 0; i < 20; ++i) log_->Write(LogLevel::kError, "visit", "failed", {{"source", "a"}});
  clock_.AdvanceMs(-86'400'000);
  const auto before = Lines().size();
  log_->Write(LogLevel::kError, "visit", "failed", {{"source", "a"}});
  EXPECT_EQ(Lines().size(), before + 1) << "a clock that was set back does not silence it";
}

}  // namespace
}  // namespace etl
