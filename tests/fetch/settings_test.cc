#include "fetch/settings.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace etl::test {
namespace {

FetchSettings Good() {
  FetchSettings settings;
  settings.base_url = "https://example.org/api";
  settings.contact = "operator@example.org";
  return settings;
}

TEST(FetchSettings, DefaultsAreGoodOnceSourceAndContactAreSet) {
  EXPECT_TRUE(Good().Validate());
  FetchSettings loopback = Good();
  for (const char* url :
       {"http://127.0.0.1:8080/api", "http://localhost", "http://[::1]:80/", "https://10.0.0.1/"}) {
    loopback.base_url = url;
    EXPECT_TRUE(loopback.Validate()) << url;
  }
}

TEST(FetchSettings, WithoutAContactTheySayHowToSetOne) {
  FetchSettings settings = Good();
  settings.contact.clear();
  const Status status = settings.Validate();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().Message(),
            "FETCH_CONTACT_MISSING at contact: no contact is set; set fetch.contact in etld.toml or "
            "ETL_CONTACT to an "
            "e-mail address or URL");
}

TEST(FetchSettings, RefuseWhatCannotWork) {
  struct Case {
    const char* code;
    const char* where;
    std::function<void(FetchSettings&)> change;
  };
  const std::vector<Case> cases = {
      {"FETCH_CONTACT", "contact", [](FetchSettings& s) { s.contact = "me"; }},
      {"FETCH_CONTACT", "contact", [](FetchSettings& s) { s.contact = "a@b\r\nX: y"; }},
      {"FETCH_CONTACT", "contact", [](FetchSettings& s) { s.contact = "a@b)"; }},
      {"FETCH_CONTACT", "contact", [](FetchSettings& s) { s.contact = "@b"; }},
      {"FETCH_CONTACT", "contact", [](FetchSettings& s) { s.contact = "a@" + std::string(300, 'b'); }},
      {"FETCH_BASE_URL", "base_url", [](FetchSettings& s) { s.base_url = ""; }},
      {"FETCH_BASE_URL", "base_url", [](FetchSettings& s) { s.base_url = "example.org/api"; }},
      {"FETCH_BASE_URL", "base_url", [](FetchSettings& s) { s.base_url = "http://example.org/"; }},
      {"FETCH_BASE_URL", "base_url", [](FetchSettings& s) { s.base_url = "http://10.0.0.1/"; }},
      {"FETCH_BASE_URL", "base_url", [](FetchSettings& s) { s.base_url = "ftp://example.org/"; }},
      {"FETCH_BASE_URL", "base_url", [](FetchSettings& s) { s.base_url = "https://u:p@example.org/"; }},
      {"FETCH_BASE_URL", "base_url", [](FetchSettings& s) { s.base_url = "https://example.org/?a=b"; }},
      {"FETCH_BASE_URL", "base_url", [](FetchSettings& s) { s.base_url = "https://example.org/#x"; }},
      {"FETCH_ALLOWED_HOST", "allowed_hosts[1]",
       [](FetchSettings& s) {
         s.allowed_hosts = {"a.org", "a.org/x"};
       }},
      {"FETCH_ALLOWED_HOST", "allowed_hosts[0]", [](FetchSettings& s) { s.allowed_hosts = {"a.org:99999"}; }},
      {"FETCH_LIMIT", "connections_max", [](FetchSettings& s) { s.connections_max = 0; }},
      {"FETCH_LIMIT", "requests_per_second", [](FetchSettings& s) { s.requests_per_second = -1; }},
      {"FETCH_LIMIT", "requests_per_second", [](FetchSettings& s) { s.requests_per_second = 1e-9; }},
      {"FETCH_LIMIT", "requests_per_second", [](FetchSettings& s) { s.requests_per_second = std::nan(""); }},
      {"FETCH_LIMIT", "burst", [](FetchSettings& s) { s.burst = 0; }},
      {"FETCH_LIMIT", "connect_ms", [](FetchSettings& s) { s.connect_ms = 0; }},
      {"FETCH_LIMIT", "idle_ms", [](FetchSettings& s) { s.idle_ms = -5; }},
      {"FETCH_LIMIT", "whole_ms", [](FetchSettings& s) { s.whole_ms = 1LL << 40; }},
      {"FETCH_LIMIT", "wire_bytes_max", [](FetchSettings& s) { s.wire_bytes_max = 0; }},
      {"FETCH_LIMIT", "decoded_bytes_max", [](FetchSettings& s) { s.decoded_bytes_max = UINT64_MAX; }},
      {"FETCH_LIMIT", "decode_ratio_max", [](FetchSettings& s) { s.decode_ratio_max = 0.5; }},
      {"FETCH_LIMIT", "header_bytes_max", [](FetchSettings& s) { s.header_bytes_max = 1 << 20; }},
      {"FETCH_LIMIT", "redirects_max", [](FetchSettings& s) { s.redirects_max = -1; }},
      {"FETCH_LIMIT", "attempts_max", [](FetchSettings& s) { s.attempts_max = 0; }},
      {"FETCH_LIMIT", "retry_budget", [](FetchSettings& s) { s.retry_budget = -1; }},
      {"FETCH_LIMIT", "retry_budget_refill", [](FetchSettings& s) { s.retry_budget_refill = 2; }},
      {"FETCH_LIMIT", "backoff_base_ms", [](FetchSettings& s) { s.backoff_base_ms = -1; }},
      {"FETCH_LIMIT", "backoff_cap_ms", [](FetchSettings& s) { s.backoff_cap_ms = -1; }},
      {"FETCH_LIMIT", "retry_after_cap_ms", [](FetchSettings& s) { s.retry_after_cap_ms = -1; }},
      {"FETCH_LIMIT", "breaker_threshold", [](FetchSettings& s) { s.breaker_threshold = 0; }},
      {"FETCH_LIMIT", "breaker_cooldown_ms", [](FetchSettings& s) { s.breaker_cooldown_ms = 0; }},
      {"FETCH_LIMIT", "breaker_cooldown_cap_ms", [](FetchSettings& s) { s.breaker_cooldown_cap_ms = 0; }},
      {"FETCH_LIMIT", "expected_max", [](FetchSettings& s) { s.expected_max = 1000; }},
      {"FETCH_LIMIT", "expected_age_ms", [](FetchSettings& s) { s.expected_age_ms = -1; }},
  };
  for (const Case& one : cases) {
    FetchSettings settings = Good();
    one.change(settings);
    const Status status = settings.Validate();
    ASSERT_FALSE(status) << one.where;
    EXPECT_EQ(status.error().code, one.code) << one.where;
    EXPECT_EQ(status.error().where, one.where);
    EXPECT_EQ(status.error().errc, Errc::kInvalid);
    EXPECT_FALSE(status.error().fix.empty());
  }
}

}  // namespace
}  // namespace etl::test
