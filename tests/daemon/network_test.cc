#include "daemon/network.h"

#include <string>

#include <gtest/gtest.h>

#include "config/keys.h"
#include "config/settings.h"

namespace etl {
namespace {

FetchSettings FetchOf(const std::string& toml) {
  const auto settings = ParseSettings(toml, "test.toml");
  EXPECT_TRUE(settings.has_value()) << toml << ": " << settings.error().Message();
  const auto adapter = MakeAdapter("sol-execbench");
  return FetchSettingsOf(*adapter, settings ? settings->Source("sol-execbench") : SourceSettings(), "", "");
}

TEST(FetchSettingsOf, KnowsWhereTheSourceAnswers) {
  const FetchSettings fetch = FetchOf("[fetch]\ncontact = \"ops@example.org\"\n");
  EXPECT_EQ(fetch.base_url, "https://research.nvidia.com/benchmarks/sol-execbench/api");
  EXPECT_EQ(fetch.contact, "ops@example.org");
  EXPECT_TRUE(fetch.Validate().has_value());
}

TEST(FetchSettingsOf, TakesTheSettingsOfTheSourceAndThenTheCommandLine) {
  const std::string toml =
      "[fetch]\ncontact = \"ops@example.org\"\n[source.sol-execbench]\nbase_url = "
      "\"https://mirror.example.org/api\"\n"
      "requests_per_second = 0.5\n";
  const auto settings = ParseSettings(toml, "test.toml");
  ASSERT_TRUE(settings.has_value());
  const auto adapter = MakeAdapter("sol-execbench");
  const SourceSettings source = settings->Source("sol-execbench");
  EXPECT_EQ(FetchSettingsOf(*adapter, source, "", "").base_url, "https://mirror.example.org/api");
  EXPECT_EQ(FetchSettingsOf(*adapter, source, "", "").requests_per_second, 0.5);
  EXPECT_EQ(FetchSettingsOf(*adapter, source, "http://127.0.0.1:8", "").base_url, "http://127.0.0.1:8");
}

TEST(FetchSettingsOf, WithoutAContactSaysHowToSetOne) {
  const auto status = FetchOf("").Validate();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, "FETCH_CONTACT_MISSING");
  EXPECT_NE(status.error().fix.find("ETL_CONTACT"), std::string::npos);
}

// What the settings file allows, the transport takes.
TEST(FetchSettingsOf, FitsTheTransportAtBothEndsOfEveryLimit) {
  int checked = 0;
  for (const config::Key& key : config::Keys()) {
    if (key.section != "fetch" || (key.form != config::Form::kWhole && key.form != config::Form::kNumber))
      continue;
    for (const double limit : {key.min, key.max}) {
      Settings settings;
      settings.fetch.contact = "ops@example.org";
      const config::Slot slot = key.in_settings(settings);
      if (auto* const* whole = std::get_if<std::int64_t*>(&slot)) **whole = static_cast<std::int64_t>(limit);
      if (auto* const* number = std::get_if<double*>(&slot)) **number = limit;
      const auto adapter = MakeAdapter("sol-execbench");
      const auto status = FetchSettingsOf(*adapter, settings.Source("sol-execbench"), "", "").Validate();
      EXPECT_TRUE(status.has_value()) << key.name << " = " << limit << ": " << status.error().Message();
      ++checked;
    }
  }
  EXPECT_GT(checked, 20);
}

}  // namespace
}  // namespace etl
