#include "daemon/metrics.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/support/golden.h"
#include "tests/support/temp_dir.h"

namespace etl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

SourceReport Report() {
  SourceReport report;
  report.source = "small";
  report.state = "waiting";
  report.last_full = Instant{1'000'000'000'000};
  report.last_end = Instant{1'000'000'060'000};
  report.interval_ms = 90'000;
  report.failures = 2;
  return report;
}

VisitResult Result(const char* visit) {
  VisitResult result;
  result.source = "small";
  result.visit = visit;
  result.rows = 7;
  result.entries_new = 3;
  result.entries_changed = 2;
  result.runs = 1;
  result.gaps = 1;
  result.elapsed_seconds = 0.25;
  return result;
}

HostReport Network(std::uint64_t requests, std::uint64_t not_modified, std::uint64_t failures) {
  HostReport report;
  report.requests = requests;
  report.not_modified = not_modified;
  report.failures = failures;
  report.wire_bytes = requests * 10;
  return report;
}

// Every metric that there can be has a value.
std::string Everything() {
  Metrics metrics("1.2.3");
  metrics.Visit(Result("full"), Network(10, 4, 1));
  metrics.Http({"runs", 200, 1000, 0.002});
  MetricsFacts facts;
  facts.now = Instant{1'000'000'120'000};
  facts.sources = {Report()};
  facts.epoch = "0123abcd";
  facts.sequence = 42;
  facts.store.commits[2] = 5;
  facts.store.commits.back() = 1;
  facts.store.commit_seconds = 3.5;
  facts.disk_free_bytes = 5'000'000'000;
  return metrics.Text(facts);
}

TEST(Metrics, TellsWhatHappenedByConventionalNames) {
  const std::string text = Everything();
  for (const char* line :
       {"etld_build_info{version=\"1.2.3\"} 1\n", "etld_source_lag_seconds{source=\"small\"} 120\n",
        "etld_source_state{source=\"small\",state=\"waiting\"} 1\n",
        "etld_source_state{source=\"small\",state=\"failing\"} 0\n",
        "etld_visits_total{source=\"small\",result=\"full\"} 1\n",
        "etld_visits_total{source=\"small\",result=\"failed\"} 0\n",
        "etld_requests_total{source=\"small\",outcome=\"answered\"} 5\n",
        "etld_requests_total{source=\"small\",outcome=\"not_modified\"} 4\n",
        "etld_requests_total{source=\"small\",outcome=\"failed\"} 1\n",
        "etld_rows_total{source=\"small\"} 7\n", "etld_versions_total{source=\"small\",change=\"new\"} 3\n",
        "etld_store_sequence{epoch=\"0123abcd\"} 42\n", "etld_store_commit_duration_seconds_count 6\n",
        "etld_store_commit_duration_seconds_bucket{le=\"0.0025\"} 5\n",
        "etld_store_commit_duration_seconds_bucket{le=\"+Inf\"} 6\n", "etld_disk_free_bytes 5000000000\n",
        "etld_http_requests_total{route=\"runs\",status=\"200\"} 1\n",
        "etld_http_response_bytes_total{route=\"runs\"} 1000\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Metrics, CountsWhatATransportAddsSinceTheVisitBefore) {
  Metrics metrics("1");
  metrics.Visit(Result("full"), Network(10, 4, 1));
  metrics.Visit(Result("full"), Network(15, 6, 2));
  metrics.Visit(Result("failed"), std::nullopt);
  metrics.Visit(Result("full"), Network(3, 0, 0));  // opened anew
  const std::string text = metrics.Text({});
  EXPECT_THAT(text, HasSubstr("etld_requests_total{source=\"small\",outcome=\"answered\"} 10\n"));
  EXPECT_THAT(text, HasSubstr("etld_requests_total{source=\"small\",outcome=\"not_modified\"} 6\n"));
  EXPECT_THAT(text, HasSubstr("etld_requests_total{source=\"small\",outcome=\"failed\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("etld_received_bytes_total{source=\"small\"} 180\n"));
  EXPECT_THAT(text, HasSubstr("etld_visits_total{source=\"small\",result=\"failed\"} 1\n"));
}

TEST(Metrics, SaysNothingOfADiskItDoesNotKnowYet) {
  const std::string text = Metrics("1").Text({});
  EXPECT_THAT(text, HasSubstr("etld_store_open 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("\netld_disk_free_bytes ")));
  EXPECT_THAT(text, Not(HasSubstr("\netld_store_sequence")));
}

// Name -> type, of what starts with "# TYPE ".
std::map<std::string, std::string> TypesIn(const std::string& text) {
  std::map<std::string, std::string> types;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash, word, name, type;
    if (words >> hash >> word >> name >> type && hash == "#" && word == "TYPE") types[name] = type;
  }
  return types;
}

TEST(Metrics, AreAllListedInTheDocumentation) {
  std::map<std::string, std::string> listed;
  std::istringstream lines(test::ReadFile(std::string(ETL_SOURCE_DIR) + "/docs/metrics.md"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::size_t end = line.find('`', 3), type = line.find("| ", end) + 2;
    listed[line.substr(3, end - 3)] = line.substr(type, line.find(' ', type) - type);
  }
  EXPECT_EQ(listed, TypesIn(Everything()));
}

bool HavePromtool() {
  return std::system("command -v promtool >/dev/null 2>&1") == 0;
}

TEST(Metrics, PassPromtool) {
  if (!HavePromtool())
    GTEST_SKIP() << "promtool is not here (Debian package prometheus): metrics are not checked";
  const test::TempDir dir("metrics");
  std::ofstream(dir.File("metrics")) << Everything();
  const std::string command =
      "promtool check metrics < " + dir.File("metrics") + " > " + dir.File("out") + " 2>&1";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0) << test::ReadFile(dir.File("out"));
}

TEST(Alerts, PassPromtool) {
  if (!HavePromtool())
    GTEST_SKIP() << "promtool is not here (Debian package prometheus): alerts are not checked";
  const test::TempDir dir("alerts");
  const std::string command = "promtool check rules " + std::string(ETL_SOURCE_DIR) + "/docs/alerts.yml > " +
                              dir.File("out") + " 2>&1";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0) << test::ReadFile(dir.File("out"));
}

TEST(Alerts, UseMetricsThatThereAreAndHaveARunbookEntryEach) {
  const std::string docs = std::string(ETL_SOURCE_DIR) + "/docs/";
  const std::string alerts = test::ReadFile(docs + "alerts.yml"),
                    runbook = test::ReadFile(docs + "runbook.md");
  const auto types = TypesIn(Everything());
  int entries = 0;
  std::set<std::string> alerted;
  std::istringstream lines(alerts);
  for (std::string line; std::getline(lines, line);) {
    if (const std::size_t at = line.find("alert: "); at != std::string::npos) {
      ++entries;
      EXPECT_THAT(runbook, HasSubstr("\n## " + line.substr(at + 7) + "\n"));
    }
    if (line.find("expr: ") == std::string::npos) continue;
    for (std::size_t at = line.find("etld_"); at != std::string::npos; at = line.find("etld_", at + 1)) {
      const std::size_t end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at);
      EXPECT_TRUE(types.contains(line.substr(at, end - at))) << line;
    }
  }
  EXPECT_GT(entries, 10);
}

}  // namespace
}  // namespace etl
