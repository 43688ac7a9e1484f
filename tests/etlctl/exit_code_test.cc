#include "etlctl/exit_code.h"

#include <gtest/gtest.h>

#include "etlctl/visit_summary.h"
#include "model/json.h"
#include "tests/etlctl/ctl.h"

namespace etl::ctl {
namespace {

using test::CapturedOutput;

TEST(ExitFor, TellsErrorsApartByWhatAScriptCanDo) {
  const struct {
    Errc errc;
    const char* code;
    Exit exit;
  } cases[] = {
      {Errc::kInvalid, "UNKNOWN_MEMBER", Exit::kFailed},
      {Errc::kInvalid, "USAGE", Exit::kUsage},
      {Errc::kInvalid, "DIGEST_PREFIX", Exit::kUsage},
      {Errc::kInvalid, "AS_OF_PATTERN", Exit::kUsage},
      {Errc::kInvalid, "INSTANT_PATTERN", Exit::kUsage},
      {Errc::kInvalid, "SOURCE_UNKNOWN", Exit::kUsage},
      {Errc::kInvalid, "STORE_FORMAT", Exit::kFailed},
      {Errc::kInvalid, "CONFIG_RANGE", Exit::kUsage},
      {Errc::kNotFound, "CONFIG_MISSING", Exit::kNotFound},
      {Errc::kUnavailable, "CONFIG_READ", Exit::kFailed},
      {Errc::kNotFound, "STORE_MISSING", Exit::kNotFound},
      {Errc::kNotFound, "AMBIGUOUS", Exit::kNotFound},
      {Errc::kUnavailable, "STORE_LOCKED", Exit::kLocked},
      {Errc::kUnavailable, "STORE_IO", Exit::kFailed},
      {Errc::kConflict, "REBUILD_TARGET", Exit::kFailed},
      {Errc::kCorrupt, "VALUE_CHECKSUM", Exit::kDamage},
      {Errc::kCorrupt, "STORE_LOST_COMMITS", Exit::kDamage},
      {Errc::kStopped, "STOPPED", Exit::kIncomplete},
  };
  for (const auto& c : cases) EXPECT_EQ(ExitFor(Error{c.errc, c.code, "", "", ""}), c.exit) << c.code;
}

TEST(Report, SaysCodePlaceReasonAndFix) {
  CapturedOutput captured;
  Report(captured.out, Error{Errc::kNotFound, "NOT_FOUND", "ab\x1b", "nothing\tthere", "look elsewhere"});
  EXPECT_EQ(captured.talk.Text(), "etlctl: NOT_FOUND at ab\\x1b: nothing\tthere\n  fix: look elsewhere\n");
  EXPECT_EQ(captured.Data(), "");
}

TEST(Report, IsOneJsonObjectWhereJsonWasAskedFor) {
  CapturedOutput captured(Format::kJson);
  Report(captured.out, Error{Errc::kUnavailable, "STORE_LOCKED", "/s", "held by \"etld\"", ""});
  EXPECT_EQ(captured.talk.Text(),
            "{\"code\":\"STORE_LOCKED\",\"where\":\"/s\",\"what\":\"held by "
            "\\\"etld\\\"\",\"fix\":\"\",\"exit\":5}\n");
}

VisitResult Visited(std::string visit, std::vector<std::string> codes) {
  VisitResult result;
  result.source = "made-up";
  result.visit = std::move(visit);
  for (std::string& code : codes) result.shortfalls.push_back({"kernel/5", std::move(code), "why"});
  return result;
}

TEST(ExitForVisit, CallsAPartialVisitIncompleteUnlessItWasAskedFor) {
  EXPECT_EQ(ExitForVisit(Visited("full", {}), false), Exit::kDone);
  EXPECT_EQ(ExitForVisit(Visited("partial", {"ROW_LIMIT"}), false), Exit::kDone);
  EXPECT_EQ(ExitForVisit(Visited("partial", {"ROW_LIMIT"}), true), Exit::kIncomplete);
  EXPECT_EQ(ExitForVisit(Visited("partial", {"ROW_LIMIT", "NOT_THERE"}), false), Exit::kIncomplete);
  EXPECT_EQ(ExitForVisit(Visited("partial", {"STOPPED"}), true), Exit::kIncomplete);
  EXPECT_EQ(ExitForVisit(Visited("partial", {}), false), Exit::kIncomplete);
  EXPECT_EQ(ExitForVisit(Visited("failed", {}), false), Exit::kFailed);
  VisitResult damaged = Visited("failed", {});
  damaged.failure = Error{Errc::kCorrupt, "VALUE_CHECKSUM", "key", "wrong", ""};
  EXPECT_EQ(ExitForVisit(damaged, false), Exit::kDamage);
}

std::string SummaryOf(const VisitResult& result) {
  CapturedOutput captured;
  WriteVisitSummary(captured.out, result, "folder saved");
  return captured.Data();
}

TEST(VisitSummary, SaysThatNothingChanged) {
  VisitResult result = Visited("full", {});
  result.entries_unchanged = 12;
  EXPECT_NE(SummaryOf(result).find("\nNothing changed: the store had all of it already.\n"),
            std::string::npos);
  result.changes = 3;
  EXPECT_EQ(SummaryOf(result).find("Nothing changed"), std::string::npos);
  result.dry_run = true;
  EXPECT_NE(SummaryOf(result).find("\nDry run: nothing was written.\n"), std::string::npos);
}

TEST(VisitSummary, NamesWhatFellShortAndWhereToLook) {
  VisitResult result = Visited("partial", std::vector<std::string>(25, "NOT_THERE"));
  result.quarantined = 2;
  const std::string text = SummaryOf(result);
  EXPECT_NE(text.find("quarantined    2  (etlctl quarantine list)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Why it is not full\n  NOT_THERE kernel/5: why\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  and 5 more\n"), std::string::npos) << text;
}

TEST(VisitSummary, NamesNoScopeWhereTheWholeSourceFellShort) {
  VisitResult result = Visited("partial", {"RESPONSE_REFUSED"});
  result.shortfalls[0].scope.clear();
  EXPECT_NE(SummaryOf(result).find("Why it is not full\n  RESPONSE_REFUSED: why\n"), std::string::npos);
}

}  // namespace
}  // namespace etl::ctl
