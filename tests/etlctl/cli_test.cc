#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/digest.h"
#include "model/json.h"
#include "tests/etlctl/ctl.h"
#include "tests/support/temp_dir.h"

namespace etl::ctl {
namespace {

using test::Ctl;
using test::Ran;
using ::testing::HasSubstr;
using Args = std::vector<std::string>;

TEST(CommandLine, RefusesWhatItDoesNotUnderstandWithStatus2) {
  const std::string none = "/nonexistent-store";
  const Args cases[] = {
      {},
      {"frobnicate"},
      {"get"},
      {"get", "run"},
      {"get", "run", "abcd", "efgh"},
      {"get", "run", "abcd", "-o", "yaml"},
      {"get", "entry", "abcd", "-o", "page"},
      {"ranks", "abcd", "-o", "manifest"},
      {"ranks"},
      {"ranks", "abcd", "--kernel", "k"},
      {"ranks", "abcd", "--top", "many"},
      {"compare", "abcd"},
      {"compare", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
      {"backfill", "--from", "x"},
      {"backfill", "--source", "nobody", "--from", "x"},
      {"backfill", "--source", "sol-execbench", "--from", "x", "--limit", "0"},
      {"backfill", "--source", "sol-execbench", "--from", "x", "--captured-at", "yesterday"},
      {"quarantine"},
      {"rebuild"},
      {"digest"},
      {"backup", "restore", "--id", "-3"},
      {"backup", "restore", "--id", "4294967296"},
      {"rebuild", ""},
      {"history", ""},
      {"status", "--unknown"},
  };
  for (Args args : cases) {
    if (!args.empty()) args.insert(args.end(), {"--store", none});
    const Ran ran = Ctl(args);
    EXPECT_EQ(ran.exit, 2) << ::testing::PrintToString(args) << ran.err;
    EXPECT_EQ(ran.out, "") << ::testing::PrintToString(args);
    EXPECT_NE(ran.err, "") << ::testing::PrintToString(args);
  }
}

TEST(CommandLine, TakesWholeNumbersFromOneOnForEveryCount) {
  const Args counts[] = {{"ranks", "abcd", "--top"},
                         {"records", "--top"},
                         {"changes", "--limit"},
                         {"backfill", "--source", "sol-execbench", "--from", "x", "--limit"},
                         {"backup", "restore", "--id"}};
  for (const Args& command : counts) {
    for (const char* value : {"0", "-1", "+1", "00", "010", "0x10", "1.5", "1e3", "", " 1", "1 ", "many",
                              "1000000000000000000", "99999999999999999999999"}) {
      Args args = command;
      args.insert(args.end(), {value, "--store", "/nonexistent-store"});
      const Ran ran = Ctl(args);
      EXPECT_EQ(ran.exit, 2) << ::testing::PrintToString(args);
      EXPECT_THAT(ran.err, HasSubstr("etlctl: USAGE at " + command[0])) << ::testing::PrintToString(args);
      EXPECT_THAT(ran.err, HasSubstr(command.back() + ": needs a whole number from 1 on"));
    }
    Args args = command;
    args.insert(args.end(), {"1", "--store", "/nonexistent-store"});
    EXPECT_NE(Ctl(args).exit, 2) << ::testing::PrintToString(args);
  }
}

TEST(CommandLine, TakesNoEmptyTextForAnOption) {
  const Args options[] = {
      {"ranks", "abcd", "--as-of"},
      {"ranks", "--kernel"},
      {"records", "--as-of"},
      {"records", "--source"},
      {"export", "--as-of"},
      {"changes", "--since"},
      {"backfill", "--source", "sol-execbench", "--from"},
      {"backfill", "--source", "sol-execbench", "--from", "x", "--kernel"},
      {"backfill", "--source", "sol-execbench", "--from", "x", "--captured-at"},
      {"backup", "create", "--to"},
      {"backup", "list", "--from"},
      {"quarantine", "list", "--source"},
  };
  for (Args args : options) {
    const std::string option = args.back();
    args.insert(args.end(), {"", "--store", "/nonexistent-store"});
    const Ran ran = Ctl(args);
    EXPECT_EQ(ran.exit, 2) << ::testing::PrintToString(args) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(option + ": needs a value that is not empty")) << ran.err;
  }
  EXPECT_EQ(Ctl({"status", "--store", ""}).exit, 2);
}

TEST(CommandLine, NamesArgumentsThatAreTooManyInTheirOrder) {
  EXPECT_THAT(Ctl({"status", "one", "two", "--three"}).err,
              HasSubstr(": not expected here: one two --three\n"));
  EXPECT_THAT(Ctl({"get", "run", "abcd", "one", "two"}).err, HasSubstr(": not expected here: one two\n"));
}

TEST(CommandLine, NamesTheCommandThatWasWrongAndItsHelp) {
  const Ran ran = Ctl({"get", "run"});
  EXPECT_THAT(ran.err, HasSubstr("etlctl: USAGE at get run: "));
  EXPECT_THAT(ran.err, HasSubstr("  fix: see `etlctl get run --help`\n"));
}

TEST(CommandLine, ReportsInJsonWhereJsonWasAskedFor) {
  for (const Args& args : {Args{"-o", "json", "get", "run"}, Args{"get", "run", "--output=json"},
                           Args{"status", "--store", "/nonexistent-store", "-ojson"}}) {
    const Ran ran = Ctl(args);
    const auto document = json::Document::Parse(ran.err);
    ASSERT_TRUE(document) << ran.err;
    EXPECT_EQ(document->root().Find("exit").AsInt64(), ran.exit);
    EXPECT_TRUE(document->root().Find("code").IsString());
  }
}

TEST(CommandLine, RefusesTheNetworkWithoutAContactAndSaysHowToSetOne) {
  const etl::test::TempDir dir;
  for (const char* command : {"backfill", "poll"}) {
    const Ran ran = Ctl({"--store", dir.File("store"), command, "--source", "sol-execbench"});
    EXPECT_EQ(ran.exit, 1) << command;
    EXPECT_THAT(ran.err, HasSubstr("FETCH_CONTACT_MISSING"));
    EXPECT_THAT(ran.err, HasSubstr("ETL_CONTACT"));
    EXPECT_FALSE(std::filesystem::exists(dir.File("store"))) << "no store is made for nothing";
  }
}

TEST(CommandLine, NamesTheSourcesThereAre) {
  const Ran ran = Ctl({"backfill", "--source", "nobody", "--from", "x"});
  EXPECT_THAT(ran.err, HasSubstr("SOURCE_UNKNOWN at nobody"));
  EXPECT_THAT(ran.err, HasSubstr("fix: sources: sol-execbench"));
}

TEST(CommandLine, ShowsVersionAndHelpOnStandardOutput) {
  EXPECT_THAT(Ctl({"--version"}).out, HasSubstr("etlctl "));
  EXPECT_EQ(Ctl({"--version"}).exit, 0);
  EXPECT_EQ(Ctl({"status", "--version"}).exit, 0);
  const Args commands[] = {{},
                           {"backfill"},
                           {"get"},
                           {"get", "run"},
                           {"get", "entry"},
                           {"get", "object"},
                           {"ranks"},
                           {"records"},
                           {"history"},
                           {"compare"},
                           {"changes"},
                           {"quarantine"},
                           {"quarantine", "list"},
                           {"quarantine", "show"},
                           {"drift"},
                           {"gaps"},
                           {"status"},
                           {"digest"},
                           {"validate"},
                           {"export"},
                           {"verify"},
                           {"rebuild"},
                           {"backup"},
                           {"backup", "create"},
                           {"backup", "list"},
                           {"backup", "restore"}};
  for (Args args : commands) {
    args.emplace_back("--help");
    const Ran ran = Ctl(args);
    EXPECT_EQ(ran.exit, 0);
    EXPECT_EQ(ran.err, "");
    EXPECT_THAT(ran.out, HasSubstr("Example:\n  etlctl ")) << ::testing::PrintToString(args);
  }
}

TEST(CommandLine, TakesGlobalOptionsOnEitherSideOfTheCommand) {
  for (const Args& args : {Args{"--store", "/nonexistent-store", "-o", "json", "status"},
                           Args{"status", "--store", "/nonexistent-store", "-o", "json"},
                           Args{"quarantine", "--store", "/nonexistent-store", "list", "-o", "json"}}) {
    const Ran ran = Ctl(args);
    EXPECT_EQ(ran.exit, 4) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("\"code\":\"STORE_MISSING\""));
    EXPECT_THAT(ran.err, HasSubstr("/nonexistent-store"));
  }
}

TEST(CommandLine, TakesTheStoreFromTheEnvironment) {
  ::setenv("ETL_STORE", "/nonexistent-from-env", 1);
  EXPECT_THAT(Ctl({"status"}).err, HasSubstr("/nonexistent-from-env"));
  EXPECT_THAT(Ctl({"status", "--store", "/nonexistent-named"}).err, HasSubstr("/nonexistent-named"));
  ::unsetenv("ETL_STORE");
}

TEST(Backfill, NeedsTheFolderThatItWasGiven) {
  const etl::test::TempDir dir("ctl");
  const Ran ran =
      Ctl({"backfill", "--source", "sol-execbench", "--from", dir.File("absent"), "--store", dir.File("s")});
  EXPECT_EQ(ran.exit, 4);
  EXPECT_THAT(ran.err, HasSubstr("FOLDER_MISSING"));
}

std::string Write(const etl::test::TempDir& dir, const std::string& name, const std::string& text) {
  std::ofstream(dir.File(name), std::ios::binary) << text;
  return dir.File(name);
}

constexpr const char* kProject =
    R"({"metadata":{"name":"p"},"apiVersion":"kernelindex.dev/v1alpha1","kind":"SoftwareProject","spec":{"name":"A project"}})";

TEST(Digest, GivesBothDigestsOfEachFile) {
  const etl::test::TempDir dir("ctl");
  const std::string file = Write(dir, "p.json", kProject);
  const Digest digest = Sha256(
      R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":"SoftwareProject","spec":{"name":"A project"}})");
  const Digest whole = Sha256(
      R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":"SoftwareProject","metadata":{"name":"p"},"spec":{"name":"A project"}})");
  const Ran ran = Ctl({"digest", file, "-o", "jsonl"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.out, "{\"file\":\"" + file + "\",\"kind\":\"SoftwareProject\",\"digest\":\"" + digest.Text() +
                         "\",\"manifestDigest\":\"" + whole.Text() + "\"}\n");
  EXPECT_THAT(Ctl({"digest", file}).out, HasSubstr(digest.Text() + "  " + whole.Text()));
}

TEST(Digest, GoesOnAfterAFileThatIsWrong) {
  const etl::test::TempDir dir("ctl");
  const std::string good = Write(dir, "good.json", kProject), bad = Write(dir, "bad.json", "{\"kind\":");
  const Ran ran = Ctl({"digest", bad, dir.File("absent.json"), good});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.err, HasSubstr("at " + bad + " byte "));
  EXPECT_THAT(ran.err, HasSubstr("FILE_MISSING at " + dir.File("absent.json")));
  EXPECT_THAT(ran.out, HasSubstr(good));
  EXPECT_EQ(Ctl({"digest", dir.File("absent.json")}).exit, 4);
}

TEST(Validate, GivesAPathAndAReasonForEachFault) {
  const etl::test::TempDir dir("ctl");
  const std::string good = Write(dir, "good.json", kProject);
  const std::string bad = Write(
      dir, "bad.json",
      R"({"metadata":{"name":"p"},"apiVersion":"kernelindex.dev/v1alpha1","kind":"SoftwareProject","spec":{"flavour":1}})");
  const Ran valid = Ctl({"validate", good});
  EXPECT_EQ(valid.exit, 0);
  EXPECT_EQ(valid.out, good + ": valid\n");
  const Ran ran = Ctl({"validate", bad, good});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, HasSubstr(bad + ": $.spec.flavour: UNKNOWN_MEMBER: "));
  EXPECT_THAT(ran.out, HasSubstr("MISSING_MEMBER"));
  const Ran json = Ctl({"validate", bad, good, "-o", "json"});
  const auto document = json::Document::Parse(json.out);
  ASSERT_TRUE(document) << json.out;
  EXPECT_EQ(document->root().Find("files").size(), 2U);
  EXPECT_EQ(json.exit, 1);
}

}  // namespace
}  // namespace etl::ctl
