#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/json.h"
#include "tests/etlctl/ctl.h"
#include "tests/support/temp_dir.h"

namespace etl::ctl {
namespace {

using test::Ctl;
using test::Ran;
using ::testing::HasSubstr;
using ::testing::Not;

// A variable of the environment, for as long as a test lasts.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    const char* const old = std::getenv(name);
    if (old != nullptr) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { old_.empty() ? ::unsetenv(name_) : ::setenv(name_, old_.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string old_;
};

class ConfigCommands : public ::testing::Test {
 protected:
  std::string File(const std::string& text) {
    const std::string path = dir_.File("etld.toml");
    std::ofstream(path) << text;
    return path;
  }

 private:
  const etl::test::TempDir dir_{"ctl"};
  const Variable no_contact_{"ETL_CONTACT", ""}, no_config_{"ETL_CONFIG", ""}, no_store_{"ETL_STORE", ""};
};

TEST_F(ConfigCommands, CheckSaysOkInOneLine) {
  const std::string path = File("[fetch]\ncontact = \"a@example.org\"\n");
  const Ran ran = Ctl({"config", "check", path});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.out, path + ": ok\n");
  EXPECT_EQ(ran.err, "");
}

TEST_F(ConfigCommands, CheckNamesEveryFaultAndEndsWithStatus2) {
  const std::string path =
      File("[fetch]\nburts = 4\n[serve]\nlisten_port = 70000\n[source.sol-execbnch]\nbase_url = 5\n");
  const Ran ran = Ctl({"config", "check", path});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("CONFIG_UNKNOWN_KEY at " + path + ":2: unknown key fetch.burts\n"));
  EXPECT_THAT(ran.err, HasSubstr("CONFIG_RANGE at " + path + ":4: "));
  EXPECT_THAT(ran.err, HasSubstr("CONFIG_UNKNOWN_SOURCE at " + path +
                                 ":5: there is no source sol-execbnch\n"
                                 "  fix: did you mean [source.sol-execbench]?\n"));
  EXPECT_THAT(ran.err, HasSubstr("CONFIG_TYPE at " + path + ":6: "));
  EXPECT_THAT(ran.err, HasSubstr("\n" + path + ": 4 faults\n"));
}

TEST_F(ConfigCommands, CheckInJsonIsOneObjectEitherWay) {
  const std::string path = File("[log]\nlevel = \"loud\"\n");
  const Ran bad = Ctl({"config", "check", path, "-o", "json"});
  EXPECT_EQ(bad.exit, 2);
  EXPECT_EQ(bad.err, "");
  const auto document = json::Document::Parse(bad.out);
  ASSERT_TRUE(document) << bad.out;
  EXPECT_THAT(bad.out, HasSubstr("\"ok\":false,"));
  ASSERT_EQ(document->root().Find("faults").size(), 1U);
  EXPECT_THAT(bad.out, HasSubstr("\"code\":\"CONFIG_VALUE\""));
  File("");
  const Ran good = Ctl({"config", "check", path, "-o", "json"});
  EXPECT_EQ(good.exit, 0);
  EXPECT_THAT(good.out, HasSubstr("\"ok\":true,\"faults\":[],\"notes\":[\"no contact is set"));
}

TEST_F(ConfigCommands, CheckNotesAMissingContactWhichIsNoFault) {
  const Ran ran = Ctl({"config", "check", File("")});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.err, HasSubstr("note: no contact is set for sol-execbench: nothing is fetched"));
  const Variable contact("ETL_CONTACT", "a@example.org");
  EXPECT_EQ(Ctl({"config", "check", File("")}).err, "");
  EXPECT_EQ(Ctl({"config", "check", File("[source.sol-execbench]\nenabled = false\n")}).err, "");
}

TEST_F(ConfigCommands, TellAMissingFileFromAFaultyOne) {
  for (const char* command : {"check", "show"}) {
    const Ran ran = Ctl({"config", command, "/nonexistent/etld.toml"});
    EXPECT_EQ(ran.exit, 4) << command;
    EXPECT_EQ(ran.out, "") << command;
    EXPECT_THAT(ran.err, HasSubstr("CONFIG_MISSING at /nonexistent/etld.toml: ")) << command;
    EXPECT_EQ(Ctl({"config", command, "/"}).exit, 1) << command;
  }
  const Ran show = Ctl({"config", "show", File("[log]\nlevel = 1\nformat = 2\n")});
  EXPECT_EQ(show.exit, 2);
  EXPECT_THAT(show.err, HasSubstr("(and 1 more fault)"));
}

TEST_F(ConfigCommands, TakeTheNamedFileThenTheOptionThenTheVariable) {
  const etl::test::TempDir other("ctl");
  std::ofstream(other.File("other.toml")) << "[log]\nlevel = \"error\"\n";
  const std::string named = File("[log]\nlevel = \"debug\"\n");
  const Variable variable("ETL_CONFIG", "/nonexistent/variable.toml");
  EXPECT_THAT(Ctl({"config", "show"}).err, HasSubstr("/nonexistent/variable.toml"));
  EXPECT_THAT(Ctl({"config", "show", "--config", other.File("other.toml")}).out,
              HasSubstr("level = \"error\""));
  EXPECT_THAT(Ctl({"config", "show", named, "--config", "/nonexistent/option.toml"}).out,
              HasSubstr("level = \"debug\""));
}

TEST_F(ConfigCommands, ShowGivesEveryValueWithItsOrigin) {
  const Variable contact("ETL_CONTACT", "a@example.org");
  const std::string path = File("[fetch]\nburst = 9\n");
  const Ran ran = Ctl({"config", "show", path});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, ::testing::ContainsRegex("\nburst = 9 +# " + path + ":2\n"));
  EXPECT_THAT(ran.out,
              ::testing::ContainsRegex("\ncontact = \"a@example.org\" +# environment ETL_CONTACT\n"));
  EXPECT_THAT(ran.out, ::testing::ContainsRegex("\nlisten_port = 8417 +# default\n"));
  // A source that the file does not name is there too, with what it has from [fetch].
  EXPECT_THAT(ran.out, ::testing::ContainsRegex("\nburst = 9 +# \\[fetch\\], " + path + ":2\n"));
  // The text is a settings file.
  EXPECT_EQ(Ctl({"config", "check", File(ran.out)}).exit, 0);
}

TEST_F(ConfigCommands, ShowInJsonKeepsTheTypes) {
  const std::string path = File("[source.sol-execbench]\nallowed_hosts = [\"example.org\"]\n");
  const Ran ran = Ctl({"config", "show", path, "-o", "json"});
  const auto document = json::Document::Parse(ran.out);
  ASSERT_TRUE(document) << ran.out;
  EXPECT_EQ(document->root().Find("file").AsString(), path);
  EXPECT_GT(document->root().Find("settings").size(), 60U);
  EXPECT_THAT(
      ran.out,
      HasSubstr("{\"section\":\"serve\",\"key\":\"listen_port\",\"value\":8417,\"from\":\"default\"}"));
  EXPECT_THAT(ran.out, HasSubstr("\"key\":\"jitter\",\"value\":0.1,"));
  EXPECT_THAT(ran.out, HasSubstr("\"key\":\"level\",\"value\":\"info\","));
  EXPECT_THAT(ran.out,
              HasSubstr("{\"section\":\"source.sol-execbench\",\"key\":\"enabled\",\"value\":true,"));
  EXPECT_THAT(ran.out, HasSubstr("\"key\":\"allowed_hosts\",\"value\":[\"example.org\"],\"from\":\"" + path +
                                 ":2\"}"));
  const Ran lines = Ctl({"config", "show", path, "-o", "jsonl"});
  EXPECT_THAT(lines.out, Not(HasSubstr("\"settings\"")));
  EXPECT_THAT(lines.out, HasSubstr("\n{\"section\":\"log\",\"key\":\"level\",\"value\":\"info\","));
}

}  // namespace
}  // namespace etl::ctl
