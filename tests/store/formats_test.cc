// The examples of docs/formats.md are what the program reads and writes.
#include <functional>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "store/commit.h"
#include "store/record.h"
#include "tests/support/golden.h"

namespace etl::test {
namespace {

// The fenced blocks of the page, by what stands behind "json".
std::map<std::string, std::string> Examples() {
  const std::string page = ReadFile(std::string(ETL_SOURCE_DIR) + "/docs/formats.md");
  std::map<std::string, std::string> out;
  const std::string fence = "```json ";
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    const std::size_t name_end = page.find('\n', at);
    const std::size_t end = page.find("\n```", name_end);
    out[page.substr(at + fence.size(), name_end - at - fence.size())] =
        page.substr(name_end + 1, end - name_end - 1);
    at = end;
  }
  return out;
}

// A group's key is its prefix and a digest, that of an item of the quarantine names its source too.
std::string KeyOf(const std::string& name) {
  return (name == "quarantine" ? "zsource" + std::string(1, '\0') : "k") + std::string(32, 'd');
}

// Decodes and encodes again.
std::string Again(const std::string& name, const std::string& text) {
  const std::string key = KeyOf(name);
  if (name == "entry") return EncodeBundle(*DecodeBundle(key, text));
  if (name == "version") return EncodeVersion(*DecodeVersion(key, text));
  if (name == "object") {
    const auto object = DecodeObject(key, text);
    return EncodeObject(object->first, object->sequence, object->identity);
  }
  if (name == "commit") {
    std::vector<Change> changes;
    const auto commit = DecodeCommit(key, text, &changes);
    return EncodeCommit(*commit, changes);
  }
  if (name == "group") return EncodeGroup(*DecodeGroup(key, text));
  if (name == "request") return EncodeRequest(*DecodeRequest(key, text));
  if (name == "quarantine") return EncodeQuarantine(*DecodeQuarantine(key, text));
  if (name == "counters") {
    WriterState state;
    const auto read = DecodeCounters(key, text, state);
    return read ? EncodeCounters(state) : read.error().Message();
  }
  if (name == "review") return ReviewText(*ParseReview(text));
  return "no decoder for " + name;
}

TEST(Formats, EveryExampleOfThePageIsReadAndWrittenBackTheSame) {
  const auto examples = Examples();
  ASSERT_EQ(examples.size(), 9u);
  for (const auto& [name, text] : examples) EXPECT_EQ(Again(name, text), text) << name;
}

TEST(Formats, AValueThatIsNotWhatItsKeySaysIsUnreadableAndNamesTheKey) {
  for (const auto& [name, text] : Examples()) {
    const std::string key = KeyOf(name);
    const std::string bad = "{\"unlike\":" + text + "}";
    const std::map<std::string, std::function<std::string()>> decoders{
        {"entry", [&] { return DecodeBundle(key, bad).error().code; }},
        {"version", [&] { return DecodeVersion(key, bad).error().code; }},
        {"object", [&] { return DecodeObject(key, bad).error().code; }},
        {"commit", [&] { return DecodeCommit(key, bad, nullptr).error().code; }},
        {"group", [&] { return DecodeGroup(key, bad).error().code; }},
        {"request", [&] { return DecodeRequest(key, bad).error().code; }},
        {"quarantine", [&] { return DecodeQuarantine(key, bad).error().code; }},
        {"counters",
         [&] {
           WriterState state;
           return DecodeCounters(key, bad, state).error().code;
         }},
        {"review", [&] { return ParseReview(bad) ? "read" : "RECORD_UNREADABLE"; }}};
    EXPECT_EQ(decoders.at(name)(), "RECORD_UNREADABLE") << name;
  }
  EXPECT_NE(DecodeVersion("vabc", "[]").error().where.find("vabc"), std::string::npos);
}

TEST(Formats, ABodyIsUnpackedToTheSameBytesAndDamageIsTold) {
  const std::string bytes(100'000, 'x');
  const std::string packed = EncodeBody(bytes);
  EXPECT_LT(packed.size(), 1000u);
  EXPECT_EQ(*DecodeBody("b", packed), bytes);
  EXPECT_EQ(*DecodeBody("b", EncodeBody("")), "");
  for (const std::string& bad :
       {std::string(), packed.substr(0, 1), packed.substr(0, packed.size() - 1), "\x02" + packed.substr(1)})
    EXPECT_EQ(DecodeBody("b", bad).error().code, "RECORD_UNREADABLE");
}

}  // namespace
}  // namespace etl::test
