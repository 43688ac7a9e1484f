#include <algorithm>
#include <cctype>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "config/keys.h"
#include "tests/config/settings_files.h"

namespace etl::config {
namespace {

constexpr std::string_view kPage = "docs/man/etld.toml.5";
constexpr std::string_view kBegin = ".\\\" Settings: made from the table of config/keys.cc.\n";
constexpr std::string_view kEnd = ".\\\" End of settings.\n";

// As lines of mdoc(7) text: at most 78 columns, none that starts like a macro.
void AppendText(std::string_view text, std::string& out) {
  constexpr std::size_t kColumns = 78;
  std::istringstream words{std::string(text)};
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kColumns) {
      out.append(line).append("\n");
      line.clear();
    }
    line.append(line.empty() ? "" : " ").append(word);
  }
  out.append(line).append("\n");
}

std::string Sentence(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text += '.';
}

std::string SettingsPart() {
  std::string out;
  for (const Section& section : Sections()) {
    out.append(".Ss Section ").append(section.name).append(section.name == "source" ? ".<slug>\n" : "\n");
    AppendText(section.about, out);
    out.append(".Bl -tag -width Ds\n");
    for (const Key& key : Keys()) {
      if (key.section != section.name) continue;
      out.append(".It Ic ").append(key.name).append("\n");
      AppendText(key.about, out);
      const std::string limits = LimitsText(key);
      AppendText(Sentence(FormText(key) + (limits.empty() ? "" : ", " + limits)), out);
      AppendText("Default: " + DefaultText(key) + ".", out);
    }
    out.append(".El\n");
  }
  return out;
}

TEST(ManPage, ListsEveryKeyWithUnitLimitsAndDefault) {
  const std::string page = test::ReadSource(kPage);
  const std::size_t begin = page.find(kBegin), end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  test::ExpectSource(kPage, page.substr(0, begin) + std::string(kBegin) + SettingsPart() + page.substr(end));
}

TEST(ManPage, NamesEveryCodeThatAFaultMayHave) {
  const std::string page = test::ReadSource(kPage);
  for (const std::string_view code :
       {"CONFIG_SYNTAX", "CONFIG_DUPLICATE_KEY", "CONFIG_TOO_LARGE", "CONFIG_UNKNOWN_KEY", "CONFIG_SLUG",
        "CONFIG_UNKNOWN_SOURCE", "CONFIG_TYPE", "CONFIG_RANGE", "CONFIG_VALUE", "CONFIG_CONFLICT",
        "CONFIG_MISSING", "CONFIG_READ"}) {
    EXPECT_NE(page.find(".It Li " + std::string(code) + "\n"), std::string::npos) << code;
  }
}

}  // namespace
}  // namespace etl::config
