#include "config/settings.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/config/settings_files.h"
#include "tests/support/temp_dir.h"

namespace etl {
namespace {

using testing::HasSubstr;

std::string Write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(LoadSettings, ReadsAFileAndNamesItInOrigins) {
  const test::TempDir dir("config");
  const std::string path = Write(dir.File("etld.toml"), "[fetch]\nburst = 7\n");
  std::vector<Error> faults = {Error()};
  const Result<Settings> settings = LoadSettings(path, {}, &faults);
  ASSERT_TRUE(settings) << settings.error().Message();
  EXPECT_EQ(settings->fetch.burst, 7);
  EXPECT_EQ(settings->origins.at("fetch.burst"), path + ":2");
  EXPECT_TRUE(faults.empty());
}

TEST(LoadSettings, RefusesWhatIsNoReadableFile) {
  const test::TempDir dir("config");
  const std::string pipe = dir.File("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string loop = dir.File("loop");
  std::filesystem::create_symlink(loop, loop);
  const std::string file = Write(dir.File("file"), "");
  struct Case {
    std::string path, code;
    Errc errc;
  };
  for (const Case& c :
       {Case{dir.File("none"), "CONFIG_MISSING", Errc::kNotFound},
        Case{file + "/below", "CONFIG_MISSING", Errc::kNotFound},
        Case{dir.path(), "CONFIG_READ", Errc::kUnavailable}, Case{pipe, "CONFIG_READ", Errc::kUnavailable},
        Case{"/dev/zero", "CONFIG_READ", Errc::kUnavailable},
        Case{loop, "CONFIG_READ", Errc::kUnavailable}}) {
    std::vector<Error> faults;
    const Result<Settings> settings = LoadSettings(c.path, {}, &faults);
    ASSERT_FALSE(settings) << c.path;
    EXPECT_EQ(settings.error().code, c.code);
    EXPECT_EQ(settings.error().errc, c.errc);
    EXPECT_EQ(settings.error().where, c.path);
    EXPECT_NE(settings.error().fix, "");
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].code, c.code);
  }
}

TEST(LoadSettings, StopsReadingAtTheLimit) {
  const test::TempDir dir("config");
  const std::string path = Write(dir.File("etld.toml"), "");
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);  // sparse: reading it whole would not end well
  const Result<Settings> settings = LoadSettings(path);
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().code, "CONFIG_TOO_LARGE");
  EXPECT_EQ(settings.error().where, path);
}

TEST(ProcessEnvironment, TellsWhatIsSet) {
  const Environment environment = ProcessEnvironment();
  ASSERT_EQ(setenv("ETL_CONFIG_TEST", "here", 1), 0);
  EXPECT_EQ(environment("ETL_CONFIG_TEST"), "here");
  ASSERT_EQ(unsetenv("ETL_CONFIG_TEST"), 0);
  EXPECT_EQ(environment("ETL_CONFIG_TEST"), std::nullopt);
}

TEST(ShowSettings, SaysWhereEachValueComesFrom) {
  const Result<Settings> settings = ParseSettings(
      "[fetch]\nburst = 7\nretries_max = 2\n[source.a]\nretries_max = 9\n", "/etc/etld/etld.toml",
      [](std::string_view name) {
        return name == "ETL_CONTACT" ? std::optional<std::string>("me@example.org") : std::nullopt;
      });
  ASSERT_TRUE(settings) << settings.error().Message();
  const std::string shown = ShowSettings(*settings);
  const auto line = [&](std::string value, std::string_view origin) {
    value.resize(48, ' ');
    return "\n" + value + "# " + std::string(origin) + "\n";
  };
  const std::string common = shown.substr(0, shown.find("[source.a]"));
  EXPECT_THAT(common, HasSubstr(line("burst = 7", "/etc/etld/etld.toml:2")));
  EXPECT_THAT(common, HasSubstr(line("retries_max = 2", "/etc/etld/etld.toml:3")));
  EXPECT_THAT(common, HasSubstr(line("contact = \"me@example.org\"", "environment ETL_CONTACT")));
  EXPECT_THAT(common, HasSubstr(line("connections_per_host = 2", "default")));
  std::string source = shown.substr(shown.find("[source.a]"));
  source = source.substr(0, source.find("\n\n") + 1);
  EXPECT_THAT(source, HasSubstr(line("burst = 7", "[fetch], /etc/etld/etld.toml:2")));
  EXPECT_THAT(source, HasSubstr(line("retries_max = 9", "/etc/etld/etld.toml:5")));
  EXPECT_THAT(source, HasSubstr(line("contact = \"me@example.org\"", "[fetch], environment ETL_CONTACT")));
  EXPECT_THAT(source, HasSubstr(line("enabled = true", "default")));
}

TEST(EffectiveSettings, AreTheSameValuesWithTheirTypes) {
  const Result<Settings> settings = ParseSettings(
      "[fetch]\nburst = 7\n[source.a]\njitter = 0.2\nallowed_hosts = [\"h.example\"]\n", "t.toml");
  ASSERT_TRUE(settings);
  std::map<std::string, EffectiveValue> by_name;
  for (const EffectiveValue& value : EffectiveSettings(*settings))
    EXPECT_TRUE(by_name.emplace(value.section + "." + value.name, value).second);
  using List = std::vector<std::string>;
  EXPECT_EQ(std::get<std::int64_t>(by_name.at("fetch.burst").value), 7);
  EXPECT_EQ(by_name.at("fetch.burst").origin, "t.toml:2");
  EXPECT_EQ(std::get<std::int64_t>(by_name.at("source.a.burst").value), 7);
  EXPECT_EQ(by_name.at("source.a.burst").origin, "[fetch], t.toml:2");
  EXPECT_EQ(std::get<double>(by_name.at("source.a.jitter").value), 0.2);
  EXPECT_EQ(std::get<List>(by_name.at("source.a.allowed_hosts").value), List{"h.example"});
  EXPECT_TRUE(std::get<bool>(by_name.at("source.a.enabled").value));
  EXPECT_EQ(std::get<std::string>(by_name.at("log.level").value), "info");
  EXPECT_EQ(by_name.at("log.level").origin, "default");
}

TEST(ShowSettings, IsAFileThatGivesTheSameSettings) {
  const std::string text =
      "[store]\ndir = \"/srv/\\\"odd\\\\ \\u0007\"\n[fetch]\nrequests_per_second = 0.3\n[poll]\njitter = 0\n"
      "[source.a]\nallowed_hosts = ['x.org', 'y.org']\ninterval_min_s = 90.25\n[source.b]\nenabled = false\n";
  for (const std::string& file : {std::string(), text, test::Uncommented(DefaultSettingsFile())}) {
    const Result<Settings> settings = ParseSettings(file, "odd\nname.toml");
    ASSERT_TRUE(settings) << settings.error().Message();
    const Result<Settings> again = ParseSettings(ShowSettings(*settings), "shown.toml");
    ASSERT_TRUE(again) << again.error().Message();
    EXPECT_EQ(*again, *settings);
    EXPECT_EQ(ShowSettings(*settings).find("\n\n\n"), std::string::npos);
  }
}

TEST(Settings, AreEqualByTheirValuesAlone) {
  Settings a, b;
  b.origins["fetch.burst"] = "x:1";
  EXPECT_EQ(a, b);
  b.sources["a"].enabled = false;
  EXPECT_FALSE(a == b);
  b = a;
  b.disk.reserve_bytes += 1;
  EXPECT_FALSE(a == b);
}

}  // namespace
}  // namespace etl
