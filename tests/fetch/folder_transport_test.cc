#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fetch/transport.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

namespace fs = std::filesystem;

void WriteFile(const std::string& path, const std::string& bytes) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

class FolderTransportTest : public testing::Test {
 protected:
  void SetUp() override { Write("kernels.json", "{\"data\": 1}"); }
  void Write(const std::string& name, const std::string& bytes) {
    WriteFile(dir_.File("saved/" + name), bytes);
  }
  std::string Place(const std::string& name = "") const { return dir_.File("saved" + name); }
  Result<Response> Fetch(const std::string& key) {
    if (!transport_) {
      auto opened = OpenFolder(Place());
      if (!opened) return Fail(opened.error());
      transport_ = *std::move(opened);
    }
    return transport_->Fetch(key);
  }
  std::string Bytes(const std::string& key) {
    auto response = Fetch(key);
    return response ? std::to_string(response->status) + " " + response->bytes : response.error().code;
  }

  TempDir dir_{"folder"};
  std::unique_ptr<Transport> transport_;
};

TEST_F(FolderTransportTest, AnswersFromFilesOfTheSameName) {
  Write("kernels/5.json", "detail");
  Write("leaderboard/kernel/5/B200.json", "any");
  Write("leaderboard/kernel/5/B200@evaluation_stack_version=v1.1.json", "exact");
  EXPECT_EQ(Bytes("kernels"), "200 {\"data\": 1}");
  EXPECT_EQ(Bytes("kernels/5"), "200 detail");
  EXPECT_EQ(Bytes("leaderboard/kernel/5/B200"), "200 any");
  EXPECT_EQ(Bytes("leaderboard/kernel/5/B200?evaluation_stack_version=v1.1"), "200 exact");
  EXPECT_EQ(Bytes("leaderboard/kernel/5/B200?evaluation_stack_version=v1.0"), "200 any");
  EXPECT_EQ(Fetch("kernels/5")->origin, fs::canonical(Place("/kernels/5.json")).string());
  EXPECT_EQ(transport_->Describe(), "folder " + fs::canonical(Place()).string());
  EXPECT_FALSE(transport_->local());
}

TEST_F(FolderTransportTest, AnswersNotFoundForAFileThatIsNotThere) {
  Write("kernels/7.json/inside.json", "x");
  for (const char* key :
       {"kernels/6", "submissions?kernel_id=6&limit=50&offset=0", "leaderboard/kernel/5/B200", "local",
        "local/x/definition.json", "kernels/7.json/inside.json/more"}) {
    EXPECT_EQ(Bytes(key), "404 ") << key;
  }
}

TEST_F(FolderTransportTest, CutsPagesWithoutRewritingARow) {
  Write("submissions/5.json",
        "{\"data\": {\"submissions\": [ {\"id\":  1.0} ,\n{\"id\": 2, \"b\": [\"],\"]}, {\"i\\u0064\": 3} ], "
        "\"total\": 9}}");
  const auto page = [&](int offset, int limit) {
    return Bytes("submissions?kernel_id=5&limit=" + std::to_string(limit) +
                 "&offset=" + std::to_string(offset));
  };
  // What stands around the rows stays to the byte, white space and all.
  EXPECT_EQ(
      page(0, 2),
      "200 {\"data\": {\"submissions\": [ {\"id\":  1.0} ,\n{\"id\": 2, \"b\": [\"],\"]} ], \"total\": 9}}");
  EXPECT_EQ(page(1, 1), "200 {\"data\": {\"submissions\": [ {\"id\": 2, \"b\": [\"],\"]} ], \"total\": 9}}");
  EXPECT_EQ(page(2, 50), "200 {\"data\": {\"submissions\": [ {\"i\\u0064\": 3} ], \"total\": 9}}");
  const std::string empty = "200 {\"data\": {\"submissions\": [  ], \"total\": 9}}";
  EXPECT_EQ(page(3, 50), empty);
  EXPECT_EQ(page(1, 0), empty);
  EXPECT_EQ(Bytes("submissions?kernel_id=5&limit=9223372036854775807&offset=9223372036854775807"), empty);
}

TEST_F(FolderTransportTest, AnswersAWholeFileUnchangedWhenItIsOnePage) {
  const std::string file =
      "{\"data\": {\"submissions\": [{\"id\": 1}, {\"id\": 2}], \"total\": 2, \"extra\": 7}}\n";
  Write("submissions/5.json", file);
  EXPECT_EQ(Bytes("submissions?kernel_id=5&limit=2&offset=0"), "200 " + file);
  EXPECT_EQ(Bytes("submissions?kernel_id=5"), "200 " + file);
  EXPECT_NE(Bytes("submissions?kernel_id=5&limit=1&offset=0"), "200 " + file);
}

TEST_F(FolderTransportTest, InventsNoTotalAndMendsNothingAroundTheRows) {
  Write("submissions/5.json", "{\"data\": {\"submissions\": [1, 2, 3]}, \"data\": 7} trailing");
  EXPECT_EQ(Bytes("submissions?kernel_id=5&limit=1&offset=1"),
            "200 {\"data\": {\"submissions\": [2]}, \"data\": 7} trailing");
}

TEST_F(FolderTransportTest, ServesARowThatNoReaderTakesAsItIs) {
  Write("submissions/5.json", "{\"data\": {\"submissions\": [1, {\"a\": NaN, \"a\": 1}, 3], \"total\": 4}}");
  EXPECT_EQ(Bytes("submissions?kernel_id=5&limit=1&offset=1"),
            "200 {\"data\": {\"submissions\": [{\"a\": NaN, \"a\": 1}], \"total\": 4}}");
}

TEST_F(FolderTransportTest, LeavesAFileThatIsNoListForTheAdapterToJudge) {
  Write("submissions/5.json", "<html>");
  EXPECT_EQ(Bytes("submissions?kernel_id=5&limit=50&offset=0"), "200 <html>");
  EXPECT_EQ(Bytes("submissions?kernel_id=5&limit=50&offset=49"), "200 <html>");
}

TEST_F(FolderTransportTest, ReadsAFileAnewWhenAWalkBeginsAgain) {
  Write("submissions/5.json", "{\"data\": {\"submissions\": [1, 2]}}");
  EXPECT_NE(Bytes("submissions?kernel_id=5&limit=1&offset=0").find("[1]"), std::string::npos);
  Write("submissions/5.json", "{\"data\": {\"submissions\": [3, 4]}}");
  EXPECT_NE(Bytes("submissions?kernel_id=5&limit=1&offset=0").find("[3]"), std::string::npos);
  EXPECT_NE(Bytes("submissions?kernel_id=5&limit=1&offset=1").find("[4]"), std::string::npos);
}

TEST_F(FolderTransportTest, ReadsNothingOutsideTheFolder) {
  WriteFile(dir_.File("secret.json"), "secret");
  Write("kernels/inside.json", "inside");
  fs::create_symlink(dir_.File("secret.json"), Place("/kernels/9.json"));
  fs::create_symlink(dir_.path(), Place("/leaderboard"));
  fs::create_symlink(Place("/kernels/inside.json"), Place("/kernels/8.json"));
  const std::vector<std::string> keys = {"kernels/../../secret",
                                         "../secret",
                                         "/etc/passwd",
                                         "kernels//5",
                                         "kernels/",
                                         "",
                                         "kernels/a\nb",
                                         std::string("kernels/a\0b", 11),
                                         "kernels\\5",
                                         "kernels/.",
                                         "kernels/./5",
                                         "kernels/9",
                                         "leaderboard/secret",
                                         "leaderboard/x/..",
                                         "local/../secret",
                                         "local/x/../definition.json",
                                         "local/x/secret.json",
                                         "local/x",
                                         "elsewhere/5",
                                         "kernels?../../secret",
                                         "kernels?a/b",
                                         "submissions",
                                         "submissions?kernel_id=5&status=x",
                                         "submissions?kernel_id=-5",
                                         "submissions?kernel_id=../5",
                                         "submissions?kernel_id=5&limit=",
                                         "submissions?limit=5"};
  for (const std::string& key : keys) {
    const auto response = Fetch(key);
    ASSERT_FALSE(response) << key;
    EXPECT_EQ(response.error().errc, Errc::kInvalid) << key;
    EXPECT_EQ(response.error().code, "FOLDER_KEY") << key;
    EXPECT_EQ(response.error().where, key);
  }
  EXPECT_EQ(Bytes("kernels/8"), "200 inside");
}

TEST_F(FolderTransportTest, SaysWhenAFileCannotBeRead) {
  fs::create_directories(Place("/kernels/5.json"));
  const auto response = Fetch("kernels/5");
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().errc, Errc::kUnavailable);
  EXPECT_EQ(response.error().code, "FOLDER_READ");
  EXPECT_EQ(response.error().where, fs::canonical(Place("/kernels/5.json")).string());
}

TEST_F(FolderTransportTest, RefusesAFileOverItsLimit) {
  Write("kernels/5.json", "");
  fs::resize_file(Place("/kernels/5.json"), (std::uintmax_t{256} << 20) + 1);  // sparse
  EXPECT_EQ(Bytes("kernels/5"), "FOLDER_FILE_TOO_LARGE");
}

TEST_F(FolderTransportTest, IndexesDefinitionFilesInLocalMode) {
  fs::remove(Place("/kernels.json"));
  Write("b/definition.json", "B");
  Write("a \"q\"/definition.json", "A");
  Write("c/readme.txt", "C");
  Write("b/workload.jsonl", "rows");
  EXPECT_EQ(Bytes("local"), "200 {\"kernels\":[\"a \\\"q\\\"\",\"b\"]}");
  EXPECT_TRUE(transport_->local());
  EXPECT_EQ(Bytes("local/b/definition.json"), "200 B");
  EXPECT_EQ(Bytes("local/b/workload.jsonl"), "200 rows");
  EXPECT_EQ(Bytes("kernels"), "404 ");
  transport_.reset();
  Write("definition.json", "here");
  EXPECT_EQ(Bytes("local"), "200 {\"kernels\":[\".\"]}");
  EXPECT_EQ(Bytes("local/./definition.json"), "200 here");
}

TEST_F(FolderTransportTest, CannotBeOpenedWithoutAnythingToServe) {
  fs::create_directories(dir_.File("empty/sub"));
  for (const std::string& place : {dir_.File("nowhere"), dir_.File("empty"), Place("/kernels.json")}) {
    const auto opened = OpenFolder(place);
    ASSERT_FALSE(opened) << place;
    EXPECT_EQ(opened.error().errc, Errc::kNotFound);
    EXPECT_EQ(opened.error().code, "FOLDER_MISSING");
    EXPECT_EQ(opened.error().where, place);
  }
}

}  // namespace
}  // namespace etl::test
