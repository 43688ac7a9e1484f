#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/check.h"
#include "config/keys.h"
#include "config/settings.h"
#include "config/toml_text.h"
#include "tests/config/settings_files.h"

namespace etl {
namespace {

using testing::HasSubstr;

Environment Variables(std::map<std::string, std::string, std::less<>> variables) {
  return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

Settings Parsed(std::string_view text, const Environment& environment = {}) {
  Result<Settings> settings = ParseSettings(text, "t.toml", environment);
  EXPECT_TRUE(settings) << settings.error().Message();
  return settings ? *std::move(settings) : Settings();
}

std::vector<Error> Faults(std::string_view text, const Environment& environment = {}) {
  std::vector<Error> faults = {Error()};
  const Result<Settings> settings = ParseSettings(text, "t.toml", environment, &faults);
  EXPECT_EQ(settings.has_value(), faults.empty());
  for (const Error& fault : faults) {
    EXPECT_EQ(fault.errc, Errc::kInvalid);
    EXPECT_NE(fault.what, "");
    EXPECT_NE(fault.fix, "");
    EXPECT_EQ(fault.Message().find('\n'), std::string::npos) << fault.Message();
  }
  return faults;
}

TEST(Settings, OfAnEmptyFileAreTheDefaults) {
  EXPECT_EQ(Parsed(""), Settings());
  EXPECT_EQ(Parsed("[fetch]\n[log]\n"), Settings());
  EXPECT_EQ(Parsed("\xef\xbb\xbf# with a byte order mark\r\n"), Settings());
}

TEST(Settings, AreReadFromEverySectionAndForm) {
  const Settings settings = Parsed(R"(
store.dir = "/srv/etld"
[fetch]
contact = "me@example.org"
requests_per_second = 0.5
burst = 0x10
idle_deadline_s = 7
[serve]
listen_address = "::1"
[log]
level = 'debug'
[disk]
reserve_bytes = 2_000_000
)");
  Settings expected;
  expected.store.dir = "/srv/etld";
  expected.fetch.contact = "me@example.org";
  expected.fetch.requests_per_second = 0.5;
  expected.fetch.burst = 16;
  expected.fetch.idle_deadline_s = 7;
  expected.serve.listen_address = "::1";
  expected.log.level = "debug";
  expected.disk.reserve_bytes = 2000000;
  EXPECT_EQ(settings, expected);
  EXPECT_EQ(settings.origins.at("store.dir"), "t.toml:2");
  EXPECT_EQ(settings.origins.at("fetch.burst"), "t.toml:6");
  EXPECT_EQ(settings.origins.size(), 8U);
}

// Characters beyond ASCII after the backslash that ends a line, where the parser looks for white space.
TEST(Settings, MayHaveTextsOfSeveralLines) {
  EXPECT_EQ(Parsed("store.dir = \"\"\"/a\\\n  \u00a7\ufe7f\u00a0b\"\"\"\n").store.dir,
            "/a\u00a7\ufe7f\u00a0b");
  EXPECT_EQ(Parsed("store.dir = '''\n/a'''\n").store.dir, "/a");
}

TEST(Settings, OfASourceBeginWithTheCommonOnesWhereverTheyStand) {
  const Settings settings = Parsed(R"(
[source.sol-execbench]
burst = 9
interval_min_s = 120
enabled = false
base_url = "http://127.0.0.1:8080/api"
allowed_hosts = ["example.org", "cdn.example.org"]
[fetch]
burst = 2
retries_max = 1
[source.other]
)");
  const SourceSettings source = settings.Source("sol-execbench");
  EXPECT_EQ(source.fetch.burst, 9);
  EXPECT_EQ(source.fetch.retries_max, 1);
  EXPECT_EQ(source.poll.interval_min_s, 120);
  EXPECT_EQ(source.poll.interval_max_s, PollSettings().interval_max_s);
  EXPECT_FALSE(source.enabled);
  EXPECT_EQ(source.base_url, "http://127.0.0.1:8080/api");
  EXPECT_EQ(source.allowed_hosts, (std::vector<std::string>{"example.org", "cdn.example.org"}));
  EXPECT_EQ(settings.fetch.burst, 2);
  EXPECT_EQ(settings.Source("other").fetch.burst, 2);
  // One that the file does not name has what is common.
  EXPECT_EQ(settings.Source("third").fetch, settings.fetch);
  EXPECT_TRUE(settings.Source("third").enabled);
  EXPECT_EQ(settings.sources.size(), 2U);
}

TEST(Environment, StandsAboveTheFileAndBelowASource) {
  const std::string_view text = R"(
[store]
dir = "/from/file"
[fetch]
contact = "file@example.org"
[source.a]
[source.b]
contact = "b@example.org"
)";
  const Settings settings =
      Parsed(text, Variables({{"ETL_CONTACT", "env@example.org"}, {"ETL_STORE", "my/store"}}));
  EXPECT_EQ(settings.store.dir, "my/store");
  EXPECT_EQ(settings.fetch.contact, "env@example.org");
  EXPECT_EQ(settings.Source("a").fetch.contact, "env@example.org");
  EXPECT_EQ(settings.Source("b").fetch.contact, "b@example.org");
  EXPECT_EQ(settings.origins.at("store.dir"), "environment ETL_STORE");
  EXPECT_EQ(settings.origins.at("fetch.contact"), "environment ETL_CONTACT");

  EXPECT_EQ(Parsed(text, Variables({{"ETL_CONTACT", ""}, {"ETL_STORE", ""}})), Parsed(text));
}

TEST(Environment, IsCheckedLikeTheFile) {
  const auto faults =
      Faults("[nonsense]\n",
             Variables({{"ETL_CONTACT", "nobody\nX-Evil: 1"}, {"ETL_STORE", std::string(5000, 'd')}}));
  ASSERT_EQ(faults.size(), 3U);
  EXPECT_EQ(faults[0].code, "CONFIG_UNKNOWN_KEY");
  EXPECT_EQ(faults[1].code, "CONFIG_VALUE");
  EXPECT_EQ(faults[1].where, "environment ETL_CONTACT");
  EXPECT_EQ(faults[2].code, "CONFIG_VALUE");
  EXPECT_EQ(faults[2].where, "environment ETL_STORE");
}

struct Refusal {
  std::string text, code, where, what, fix;
};

void PrintTo(const Refusal& refusal, std::ostream* out) {
  *out << refusal.text.substr(0, 100);
}

class Refusals : public testing::TestWithParam<Refusal> {};

TEST_P(Refusals, SayWhereWhyAndWhatToDo) {
  const Refusal& expected = GetParam();
  const std::vector<Error> faults = Faults(expected.text);
  ASSERT_EQ(faults.size(), 1U) << expected.text;
  EXPECT_EQ(faults[0].code, expected.code);
  EXPECT_EQ(faults[0].where, expected.where);
  EXPECT_THAT(faults[0].what, HasSubstr(expected.what));
  EXPECT_THAT(faults[0].fix, HasSubstr(expected.fix));
  const Result<Settings> settings = ParseSettings(expected.text, "t.toml");
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().Message(), faults[0].Message());
}

const Refusal kSyntax[] = {
    {"[fetch]\nburst = \n", "CONFIG_SYNTAX", "t.toml:2:9", "", "TOML 1.0"},
    {"[fetch\n", "CONFIG_SYNTAX", "t.toml:1:7", "", ""},
    {"[log]\nlevel = info\n", "CONFIG_SYNTAX", "t.toml:2:12", "", "in quotes"},
    {"[log]\nlevel = \"\xff\"\n", "CONFIG_SYNTAX", "t.toml:2:9", "", ""},
    {"[[[fetch]]]\n", "CONFIG_SYNTAX", "t.toml:1:3", "", ""},
    {"[fetch]\nburst = 99999999999999999999\n", "CONFIG_SYNTAX", "t.toml:2:29", "", ""},
    {"[fetch]\nburst = 1\nburst = 2\n", "CONFIG_DUPLICATE_KEY", "t.toml:3:9", "burst", "keep one"},
    {"[fetch]\n[log]\n[fetch]\n", "CONFIG_DUPLICATE_KEY", "t.toml:3:1", "fetch", "keep one"},
    {"x = " + std::string(9, '[') + std::string(9, ']'), "CONFIG_SYNTAX", "t.toml:1:13", "", ""},
    {"# " + std::string(256, '.') + "\na" + std::string(257, '.'), "CONFIG_SYNTAX", "t.toml:2:258", "dots",
     "three parts"},
    {"[fetch]\nburst = 1 \u00a7\n", "CONFIG_SYNTAX", "t.toml:2:11", "", ""},
    {"[fetch]\nburst\u00a0= 1\n", "CONFIG_SYNTAX", "t.toml:2:6", "", ""},
    {"[fetch]\ncontact = --\"\u0486\"\n", "CONFIG_SYNTAX", "t.toml:2:11", "", ""},
    {"serve = { \ufe7f = 1 }\n", "CONFIG_SYNTAX", "t.toml:1:11", "", ""},
    {"[store]\ndir = \"/a", "CONFIG_SYNTAX", "t.toml:2:10", "", ""},
    {"[store]\ndir = \"/a\\", "CONFIG_SYNTAX", "t.toml:2:11", "", ""},
    {"# a comment at the end\n=", "CONFIG_SYNTAX", "t.toml:2:1", "", ""},
};
const Refusal kUnknown[] = {
    {"[fetch]\nbrust = 4\n", "CONFIG_UNKNOWN_KEY", "t.toml:2", "unknown key fetch.brust",
     "did you mean burst?"},
    {"[fetch]\n\nConnect_Deadline = 4\n", "CONFIG_UNKNOWN_KEY", "t.toml:3", "",
     "did you mean connect_deadline_s?"},
    {"[poll]\nburst = 4\n", "CONFIG_UNKNOWN_KEY", "t.toml:2", "", "did you mean burst in [fetch]?"},
    {"contact = 'a@b.org'\n", "CONFIG_UNKNOWN_KEY", "t.toml:1", "outside of any section",
     "contact in [fetch]?"},
    {"[log]\nzzz = 1\n", "CONFIG_UNKNOWN_KEY", "t.toml:2", "", "remove it; known here: level, format"},
    {"[fetsh]\nburst = 1\nnonsense = 1\n", "CONFIG_UNKNOWN_KEY", "t.toml:1", "unknown section [fetsh]",
     "[fetch]?"},
    {"[sources.x]\n", "CONFIG_UNKNOWN_KEY", "t.toml:1", "[sources]", "did you mean [source.<slug>]?"},
    {"[database]\n", "CONFIG_UNKNOWN_KEY", "t.toml:1", "[database]", "the sections are: store, fetch"},
    {"zz = 1\n", "CONFIG_UNKNOWN_KEY", "t.toml:1", "zz", "remove it"},
    {"[fetch]\n\"a\\nb\\u001b\" = 1\n", "CONFIG_UNKNOWN_KEY", "t.toml:2", "fetch.a\\x0ab\\x1b", "remove it"},
    {"[fetch]\n" + std::string(500, 'x') + " = 1\n", "CONFIG_UNKNOWN_KEY", "t.toml:2", "…",
     "remove it; see etld.toml(5)"},
    {"[source.a]\nbase_ulr = ''\n", "CONFIG_UNKNOWN_KEY", "t.toml:2", "source.a.base_ulr",
     "did you mean base_url?"},
    {"[source.a]\nintervall_min = 1\n", "CONFIG_UNKNOWN_KEY", "t.toml:2", "", "did you mean interval_min_s?"},
    {"[source.a]\nlisten_port = 1\n", "CONFIG_UNKNOWN_KEY", "t.toml:2", "",
     "did you mean listen_port in [serve]?"},
    {"[fetch]\nbase_url = ''\n", "CONFIG_UNKNOWN_KEY", "t.toml:2", "", "base_url in [source.<slug>]?"},
    {"[source.\"A b\"]\n", "CONFIG_SLUG", "t.toml:1", "\"A b\"", "[source.sol-execbench]"},
    {"[source.\"\"]\n", "CONFIG_SLUG", "t.toml:1", "\"\"", ""},
};
const Refusal kTypes[] = {
    {"[fetch]\nburst = \"4\"\n", "CONFIG_TYPE", "t.toml:2",
     "fetch.burst is a string, and must be a whole number", "burst = 4"},
    {"[fetch]\nburst = 4.0\n", "CONFIG_TYPE", "t.toml:2", "a number with a fraction", "burst = 4"},
    {"[fetch]\nrequests_per_second = true\n", "CONFIG_TYPE", "t.toml:2",
     "is true or false, and must be a number", "= 2"},
    {"[fetch]\ncontact = 4\n", "CONFIG_TYPE", "t.toml:2", "a whole number", "contact = \"...\""},
    {"[fetch]\nburst = 1979-05-27\n", "CONFIG_TYPE", "t.toml:2", "a date", ""},
    {"[fetch]\nburst = 07:32:00\n", "CONFIG_TYPE", "t.toml:2", "a time", ""},
    {"[fetch]\nburst = 1979-05-27T07:32:00Z\n", "CONFIG_TYPE", "t.toml:2", "a date and time", ""},
    {"[fetch]\nburst = [4]\n", "CONFIG_TYPE", "t.toml:2", "a list", ""},
    {"[fetch.burst]\na = 1\n[fetch.burst.b.c]\n", "CONFIG_TYPE", "t.toml:1", "a table", ""},
    {"fetch = 3\n", "CONFIG_TYPE", "t.toml:1", "fetch is a whole number, and must be a section",
     "write [fetch]"},
    {"[[fetch]]\n", "CONFIG_TYPE", "t.toml:1", "a list", "write [fetch]"},
    {"source = 1\n", "CONFIG_TYPE", "t.toml:1", "source is", "write [source.<slug>]"},
    {"[source]\nenabled = true\n", "CONFIG_TYPE", "t.toml:2", "source.enabled", "write [source.<slug>]"},
    {"[source.a]\nenabled = 1\n", "CONFIG_TYPE", "t.toml:2", "must be true or false", "enabled = true"},
    {"[source.a]\nallowed_hosts = 'x'\n", "CONFIG_TYPE", "t.toml:2", "a string, and must be a list",
     "[\"example.org\"]"},
    {"[source.a]\nallowed_hosts = [1]\n", "CONFIG_TYPE", "t.toml:2", "a list of other things", ""},
};
const Refusal kRanges[] = {
    {"[fetch]\nburst = 0\n", "CONFIG_RANGE", "t.toml:2",
     "fetch.burst is 0, and must be from 1 to 10000 requests", "default: 4"},
    {"[fetch]\nburst = 9223372036854775807\n", "CONFIG_RANGE", "t.toml:2", "is 9223372036854775807", ""},
    {"[fetch]\nrequests_per_second = -1\n", "CONFIG_RANGE", "t.toml:2", "requests per second", ""},
    {"[fetch]\nrequests_per_second = nan\n", "CONFIG_RANGE", "t.toml:2", "is nan", ""},
    {"[fetch]\nrequests_per_second = -inf\n", "CONFIG_RANGE", "t.toml:2", "is -inf", ""},
    {"[fetch]\nbody_bytes_max = 1\n", "CONFIG_RANGE", "t.toml:2",
     "from 1024 (1 KiB) to 1073741824 (1 GiB) bytes", "33554432 (32 MiB)"},
    {"[poll]\nshrink_max_percent = 100.5\n", "CONFIG_RANGE", "t.toml:2",
     "is 100.5, and must be from 0 to 100 percent", ""},
    {"[serve]\nlisten_port = 65536\n", "CONFIG_RANGE", "t.toml:2", "from 0 to 65535", "8417"},
    {"[source.a]\nburst = -1\n", "CONFIG_RANGE", "t.toml:2", "source.a.burst is -1", ""},
};
const Refusal kContradictions[] = {
    {"[poll]\ninterval_min_s = 7200\n", "CONFIG_CONFLICT", "t.toml:2",
     "poll.interval_min_s (7200 seconds) is above poll.interval_max_s (3600 seconds)",
     "lower interval_min_s"},
    {"[poll]\ninterval_max_s = 59\n", "CONFIG_CONFLICT", "t.toml:2", "", "raise interval_max_s"},
    {"[fetch]\nrequest_deadline_s = 20\nconnect_deadline_s = 21\nidle_deadline_s = 1\n", "CONFIG_CONFLICT",
     "t.toml:3", "connect", ""},
    {"[fetch]\nidle_deadline_s = 121\n", "CONFIG_CONFLICT", "t.toml:2", "idle", ""},
    {"[fetch]\nbackoff_base_ms = 2001\nbackoff_max_s = 2\n", "CONFIG_CONFLICT", "t.toml:2",
     "(2001 milliseconds) is above fetch.backoff_max_s (2 seconds)", ""},
    {"[fetch]\ndecoded_bytes_max = 1024\n", "CONFIG_CONFLICT", "t.toml:2", "body_bytes_max", ""},
    {"[source.a]\nburst = 1\ninterval_max_s = 10\n", "CONFIG_CONFLICT", "t.toml:3",
     "source.a.interval_min_s (60 seconds) is above source.a.interval_max_s (10 seconds)", ""},
};
INSTANTIATE_TEST_SUITE_P(OfSyntax, Refusals, testing::ValuesIn(kSyntax));
INSTANTIATE_TEST_SUITE_P(OfUnknownKeys, Refusals, testing::ValuesIn(kUnknown));
INSTANTIATE_TEST_SUITE_P(OfTypes, Refusals, testing::ValuesIn(kTypes));
INSTANTIATE_TEST_SUITE_P(OfRanges, Refusals, testing::ValuesIn(kRanges));
INSTANTIATE_TEST_SUITE_P(OfContradictions, Refusals, testing::ValuesIn(kContradictions));

TEST(Limits, BothEndsOfEveryNumberAreAllowedAndNothingBeyond) {
  for (const config::Key& key : config::Keys()) {
    if (key.form != config::Form::kWhole && key.form != config::Form::kNumber) continue;
    SCOPED_TRACE(key.name);
    const auto code = [&](double value) -> std::string {
      const auto faults = Faults("[" + std::string(key.section) + "]\n" + std::string(key.name) + " = " +
                                 config::NumberText(value) + "\n");
      return faults.empty() ? "" : faults[0].code;
    };
    // An end may contradict the default of another key, but it is not out of range.
    EXPECT_NE(code(key.min), "CONFIG_RANGE");
    EXPECT_NE(code(key.max), "CONFIG_RANGE");
    EXPECT_EQ(code(key.min - 1), "CONFIG_RANGE");
    EXPECT_EQ(code(key.max + 1), "CONFIG_RANGE");
  }
}

TEST(Faults, AreAllToldInTheOrderOfTheFile) {
  const std::string text =
      "[source.a]\nburst = 0\n[fetch]\nburst = 'x'\nunknown_thing = 1\n[log]\nlevel = \"loud\"\n[nowhere]\n";
  const std::vector<Error> faults = Faults(text);
  ASSERT_EQ(faults.size(), 5U);
  const std::string codes[] = {"CONFIG_RANGE", "CONFIG_TYPE", "CONFIG_UNKNOWN_KEY", "CONFIG_VALUE",
                               "CONFIG_UNKNOWN_KEY"};
  const std::string places[] = {"t.toml:2", "t.toml:4", "t.toml:5", "t.toml:7", "t.toml:8"};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(faults[i].code, codes[i]);
    EXPECT_EQ(faults[i].where, places[i]);
  }
  const Result<Settings> settings = ParseSettings(text, "t.toml");
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().code, "CONFIG_RANGE");
  EXPECT_THAT(settings.error().what, HasSubstr("(and 4 more faults)"));
  const Result<Settings> two = ParseSettings("a = 1\nb = 1\n", "t.toml");
  ASSERT_FALSE(two);
  EXPECT_THAT(two.error().what, HasSubstr("(and 1 more fault)"));
}

TEST(Faults, StopAtTheirLimit) {
  std::string top, section, sources;
  for (int i = 0; i < 150; ++i) {
    top += "k" + std::to_string(i) + " = 1\n";
    sources += "[source.s" + std::to_string(i) + "_]\n";
  }
  for (const std::string& text : {top, "[fetch]\n" + top, "[source.a]\n" + top, sources}) {
    EXPECT_EQ(Faults(text).size(), kSettingsFaultsMax);
    const Result<Settings> settings = ParseSettings(text, "t.toml");
    ASSERT_FALSE(settings);
    EXPECT_THAT(settings.error().what, HasSubstr("(and at least 99 more faults)"));
  }
}

TEST(Settings, AreNotReadPastTheirLimits) {
  std::string text(kSettingsBytesMax, '#');
  EXPECT_EQ(Parsed(text), Settings());
  text += '#';
  auto faults = Faults(text);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].code, "CONFIG_TOO_LARGE");
  EXPECT_EQ(faults[0].where, "t.toml");

  std::string sources;
  for (std::size_t i = 0; i < kSourcesMax; ++i) sources += "[source.s" + std::to_string(i) + "]\n";
  EXPECT_EQ(Parsed(sources).sources.size(), kSourcesMax);
  faults = Faults(sources + "[source.one-more]\n");
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].code, "CONFIG_TOO_LARGE");
  EXPECT_EQ(faults[0].where, "t.toml:65");
}

// The deepest tree that the limits allow is built and taken down on the stack.
TEST(Settings, AsDeepAsTheLimitsAllowAreRefusedInOrder) {
  std::string dotted = "a", text = "[a";
  for (std::size_t i = 0; i < config::kDotsMax; ++i) {
    dotted += ".a";
    text += ".a";
  }
  text += "]\n";
  for (std::size_t i = 0; i < (config::kNestingMax - 1) / 2; ++i) text += dotted + " = [\n{";
  text += dotted + " = 1";
  for (std::size_t i = 0; i < (config::kNestingMax - 1) / 2; ++i) text += "}\n]";
  const auto faults = Faults(text + "\n");
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].code, "CONFIG_UNKNOWN_KEY") << faults[0].Message();
}

TEST(Settings, CutOrDamagedAnywhereAreReadOrRefusedWithAReason) {
  const std::string file = test::Uncommented(test::ReadSource("config/etld.toml"));
  std::size_t refused = 0;
  for (std::size_t at = 0; at < file.size(); at += 7) {
    refused += Faults(file.substr(0, at)).empty() ? 0 : 1;
    for (const char byte : {'\0', '"', '[', '=', '\n', '\xff'}) {
      std::string damaged = file;
      damaged[at] = byte;
      refused += Faults(damaged).empty() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, file.size() / 7);
}

TEST(ParseSettings, RefusesSourcesThatNobodyReadsOnlyWhereItIsToldWhichAreRead) {
  const char* const text = "[source.knwon]\nburst = \"x\"\n[source.anothr]\n[source.known]\n";
  EXPECT_TRUE(ParseSettings("[source.other]\n", "t.toml"));
  std::vector<Error> faults;
  const Result<Settings> settings = ParseSettings(text, "t.toml", {}, &faults, {"another", "known"});
  ASSERT_FALSE(settings);
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(faults[0].code, "CONFIG_UNKNOWN_SOURCE");
  EXPECT_EQ(faults[0].where, "t.toml:1");
  EXPECT_EQ(faults[0].what, "there is no source knwon");
  EXPECT_EQ(faults[0].fix, "did you mean [source.known]?");
  EXPECT_EQ(faults[1].code, "CONFIG_TYPE") << "its keys are checked all the same";
  EXPECT_EQ(faults[2].where, "t.toml:3");
  EXPECT_EQ(faults[2].fix, "did you mean [source.another]?");
  ASSERT_FALSE(ParseSettings("[source.z]", "t.toml", {}, &faults, {"another", "known"}));
  EXPECT_EQ(faults[0].fix, "remove the section, or name one of: another, known");
}

TEST(Nearest, IsTheWordWithTheFewestEdits) {
  const std::vector<std::string_view> known = {"burst", "backoff_max_s", "dir"};
  EXPECT_EQ(config::Nearest("burst", known), "burst");
  EXPECT_EQ(config::Nearest("BRUST", known), "burst");
  EXPECT_EQ(config::Nearest("backoff_max", known), "backoff_max_s");
  EXPECT_EQ(config::Nearest("backoffmaxms", known), "backoff_max_s");
  EXPECT_EQ(config::Nearest("di", known), "dir");
  EXPECT_EQ(config::Nearest("", known), "");
  EXPECT_EQ(config::Nearest("xyz", known), "");
  EXPECT_EQ(config::Nearest(std::string(65, 'b'), known), "");
}

}  // namespace
}  // namespace etl
