// The record page against the pages of the public catalogue, for the two runs whose page is known.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/etlctl/ctl.h"
#include "tests/support/golden.h"
#include "tests/support/temp_dir.h"

namespace etl::ctl {
namespace {

using test::Ctl;

// What is left of a line when its layout is taken away: a web page runs labels and values together, ours sets
// them in columns.
std::string Squeezed(std::string line) {
  std::erase_if(line, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
  return line;
}

std::vector<std::string> SqueezedLines(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  for (std::string& line : lines) line = Squeezed(std::move(line));
  std::erase(lines, "");
  return lines;
}

// The seed's lines that the page must have: without the catalogue's own id and date of publication, the last
// line taken apart.
std::vector<std::string> Expected(const std::string& seed) {
  std::vector<std::string> lines = SqueezedLines(seed);
  lines.erase(lines.begin());
  const std::string last = lines.back();
  lines.pop_back();
  const std::size_t all = last.find("Allresults"), json = last.rfind("JSON");
  lines.push_back(last.substr(all, json - all));
  lines.emplace_back("JSON");
  return lines;
}

void ExpectPage(const std::string& golden, const std::string& row) {
  const etl::test::TempDir dir("ctl");
  const std::string store = dir.File("store");
  const auto filled =
      Ctl({"backfill", "--source", "sol-execbench", "--from", golden + "/sol-execbench", "--kernel",
           row == "37749" ? "028_gqa_rotary_attention_core_backward" : "013_fused_residual_rms_norm_backward",
           "--store", store});
  ASSERT_EQ(filled.exit, 0) << filled.out << filled.err;
  const auto page = Ctl({"get", "run", "sol-execbench:submission/" + row, "-o", "page", "--store", store});
  ASSERT_EQ(page.exit, 0) << page.err;
  const std::vector<std::string> ours = SqueezedLines(page.out);
  auto at = ours.begin();
  for (const std::string& line : Expected(etl::test::ReadFile(golden + "/../seed/run-" + row + ".txt"))) {
    const auto found =
        std::find_if(at, ours.end(), [&](const std::string& own) { return own.starts_with(line); });
    ASSERT_NE(found, ours.end()) << "missing, or out of order: " << line << "\n" << page.out;
    at = found + 1;
  }
}

TEST(GoldenPage, ShowsRun37749AsTheCatalogueDoes) {
  ETL_GOLDEN(golden);
  ExpectPage(golden, "37749");
}

TEST(GoldenPage, ShowsRun14917AsTheCatalogueDoes) {
  ETL_GOLDEN(golden);
  ExpectPage(golden, "14917");
}

}  // namespace
}  // namespace etl::ctl
