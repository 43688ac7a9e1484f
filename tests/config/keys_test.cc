#include "config/keys.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/config/settings_files.h"

namespace etl::config {
namespace {

TEST(Keys, EachStandsOnceAndInAKnownSection) {
  std::set<std::string> sections, names, of_source;
  for (const Section& section : Sections()) EXPECT_TRUE(sections.insert(std::string(section.name)).second);
  for (const Key& key : Keys()) {
    SCOPED_TRACE(key.name);
    EXPECT_TRUE(sections.contains(std::string(key.section)));
    EXPECT_TRUE(names.insert(std::string(key.section).append(".").append(key.name)).second);
    if (key.in_source != nullptr) {
      EXPECT_TRUE(of_source.insert(std::string(key.name)).second);
    }
    EXPECT_EQ(key.in_settings == nullptr, key.section == "source");
    EXPECT_EQ(key.in_source != nullptr,
              key.section == "source" || key.section == "fetch" || key.section == "poll");
  }
  EXPECT_EQ(names.size(), 44U);
}

TEST(Keys, HaveAMeaningLimitsAndAUnitThatTheirNameEndsIn) {
  struct Ending {
    std::string_view ending, unit;
  };
  for (const Key& key : Keys()) {
    SCOPED_TRACE(key.name);
    EXPECT_TRUE(key.about.ends_with('.'));
    EXPECT_EQ(key.about.find(". "), std::string_view::npos) << "one sentence";
    EXPECT_NE(FormText(key), "");
    EXPECT_EQ(LimitsText(key).empty(), key.form == Form::kBool);
    if (key.form != Form::kBool && key.form != Form::kWord) {
      EXPECT_LT(key.min, key.max);
    }
    if (key.form == Form::kWhole || key.form == Form::kNumber) {
      EXPECT_EQ(key.unit.empty(), key.name == "listen_port");
    }
    for (const auto& [ending, unit] :
         {Ending{"_s", "seconds"}, Ending{"_ms", "milliseconds"}, Ending{"_h", "hours"},
          Ending{"_percent", "percent"}, Ending{"_bytes", "bytes"}}) {
      if (key.name.ends_with(ending)) {
        EXPECT_EQ(key.unit, unit);
      }
    }
  }
}

// A value of the type that the struct has, so that a wrong form in the table cannot reach std::get.
TEST(Keys, PointToMembersOfTheirForm) {
  Settings settings;
  SourceSettings source;
  std::set<const void*> places;
  for (const Key& key : Keys()) {
    SCOPED_TRACE(key.name);
    const bool text = key.form >= Form::kPath;
    const std::size_t index = text ? 3 : key.form == Form::kHosts ? 4 : static_cast<std::size_t>(key.form);
    for (const bool of_source : {false, true}) {
      if (of_source ? key.in_source == nullptr : key.in_settings == nullptr) continue;
      const Slot slot = of_source ? key.in_source(source) : key.in_settings(settings);
      EXPECT_EQ(slot.index(), index);
      const void* const place = std::visit([](auto* at) -> const void* { return at; }, slot);
      EXPECT_TRUE(places.insert(place).second) << "two keys share a member";
    }
  }
}

TEST(Keys, SayTheirLimitsAndDefaultsForPeople) {
  struct Case {
    const Key* key;
    std::string form, limits, default_text;
  };
  const Case cases[] = {
      {FindKey("fetch", "burst"), "a whole number", "from 1 to 10000 requests", "4"},
      {FindKey("fetch", "requests_per_second"), "a number", "from 0 to 10000 requests per second", "2"},
      {FindKey("fetch", "body_bytes_max"), "a whole number", "from 1024 (1 KiB) to 1073741824 (1 GiB) bytes",
       "33554432 (32 MiB)"},
      {FindKey("fetch", "contact"), "an e-mail address or https URL", "at most 200 bytes",
       "\"\", not set: nothing is fetched over the network"},
      {FindKey("poll", "jitter"), "a number", "from 0 to 0.5 of the interval", "0.1"},
      {FindKey("poll", "withdraw_max_percent"), "a number", "from 0 to 100 percent", "10"},
      {FindKey("log", "level"), "a word", "one of trace, debug, info, warning, error", "\"info\""},
      {FindKey("serve", "listen_port"), "a whole number", "from 0 to 65535", "8417"},
      {FindKey("control", "socket"), "an absolute path", "at most 107 bytes", "\"/run/etld/control.sock\""},
      {FindSourceKey("allowed_hosts"), "a list of host names", "at most 32 hosts", "[]"},
      {FindSourceKey("enabled"), "true or false", "", "true"},
  };
  for (const Case& c : cases) {
    ASSERT_NE(c.key, nullptr) << c.limits;
    EXPECT_EQ(FormText(*c.key), c.form);
    EXPECT_EQ(LimitsText(*c.key), c.limits);
    EXPECT_EQ(DefaultText(*c.key), c.default_text);
  }
}

TEST(Literal, WritesNumbersAndTextsAsTomlReadsThem) {
  EXPECT_EQ(NumberText(10), "10");
  EXPECT_EQ(NumberText(-2), "-2");
  EXPECT_EQ(NumberText(0.1), "0.1");
  EXPECT_EQ(NumberText(1e15), "1000000000000000");
  EXPECT_EQ(Literal("a\"b\\c\nd\x7f"), R"("a\"b\\c\u000Ad\u007F")");
  std::vector<std::string> hosts = {"a", "b"};
  EXPECT_EQ(Literal(Slot(&hosts)), R"(["a", "b"])");
}

TEST(ShippedFile, IsMadeFromTheTable) {
  test::ExpectSource("config/etld.toml", DefaultSettingsFile());
}

TEST(ShippedFile, GivesTheDefaultsAsItIsAndWithEveryKeySet) {
  const std::string file = test::ReadSource("config/etld.toml");
  const Result<Settings> shipped = ParseSettings(file, "etld.toml");
  ASSERT_TRUE(shipped) << shipped.error().Message();
  EXPECT_EQ(*shipped, Settings());
  EXPECT_TRUE(shipped->origins.empty());

  const Result<Settings> set = ParseSettings(test::Uncommented(file), "etld.toml");
  ASSERT_TRUE(set) << set.error().Message();
  EXPECT_EQ(set->origins.size(), Keys().size());
  Settings expected;
  expected.sources["sol-execbench"] = SourceSettings();
  EXPECT_EQ(*set, expected);
}

TEST(ShippedFile, SaysMeaningUnitLimitsAndDefaultOfEveryKey) {
  std::string file = test::ReadSource("config/etld.toml");
  // Long comments are broken into lines.
  for (std::size_t at = 0; (at = file.find("\n# ", at)) != std::string::npos;) file.replace(at, 3, " ");
  for (const Key& key : Keys()) {
    SCOPED_TRACE(key.name);
    EXPECT_NE(file.find(key.about), std::string::npos);
    std::string facts = FormText(key);
    if (!LimitsText(key).empty()) facts += ", " + LimitsText(key);
    facts +=
        "; default: " + DefaultText(key) + "\n#" + std::string(key.name) + " = " + DefaultLiteral(key) + "\n";
    EXPECT_NE(file.find(facts), std::string::npos) << facts;
  }
}

}  // namespace
}  // namespace etl::config
