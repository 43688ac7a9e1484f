#include "fetch/settings.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "fetch/address.h"
#include "fetch/url.h"

namespace etl {
namespace {

constexpr std::size_t kContactBytesMax = 200;
constexpr std::int64_t kDurationMsMax = 86'400'000;
constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 30;

tl::unexpected<Error> Bad(std::string code, std::string where, std::string what, std::string fix) {
  return Fail(Errc::kInvalid, std::move(code), std::move(where), std::move(what), std::move(fix));
}

template <class T>
Status InRange(std::string_view name, T value, T low, T high) {
  if (value >= low && value <= high) return {};  // not the negation: a NaN is outside too
  return Bad("FETCH_LIMIT", std::string(name), "the value is outside its range",
             "set it to " + std::to_string(low) + " to " + std::to_string(high));
}

Status CheckContact(std::string_view contact) {
  constexpr std::string_view kFix =
      "set fetch.contact in etld.toml or ETL_CONTACT to an e-mail address or URL";
  if (contact.empty()) return Bad("FETCH_CONTACT_MISSING", "contact", "no contact is set", std::string(kFix));
  const bool plain = std::all_of(contact.begin(), contact.end(), [](char c) {
    return c > 0x20 && c < 0x7F && c != '(' && c != ')' && c != '\\';
  });
  const std::size_t at = contact.find('@');
  const bool address = at != std::string_view::npos && at > 0 && at + 1 < contact.size();
  const bool url = contact.starts_with("https://") || contact.starts_with("http://");
  if (plain && (address || (url && ParseUrl(contact))) && contact.size() <= kContactBytesMax) return {};
  return Bad("FETCH_CONTACT", "contact", "the contact is neither an e-mail address nor a URL",
             std::string(kFix) + ", without spaces and parentheses, at most 200 bytes");
}

Status CheckBaseUrl(std::string_view text) {
  const auto bad = [&](std::string what) {
    return Bad("FETCH_BASE_URL", "base_url", std::move(what),
               "give an https URL without user name, query and fragment (http only for a loopback address)");
  };
  const auto url = ParseUrl(text);
  if (!url) return bad("\"" + std::string(text.substr(0, 200)) + "\" is no http or https URL");
  if (text.find_first_of("?#@") != std::string_view::npos)
    return bad("it has more than scheme, host and path");
  if (url->scheme == "http" && !IsLoopbackHost(url->host)) return bad("http to a host that is not loopback");
  return {};
}

Status CheckAllowedHosts(const std::vector<std::string>& hosts) {
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto url = ParseUrl("https://" + hosts[i]);
    if (url && url->target == "/" && hosts[i].find_first_of("/?#@") == std::string::npos) continue;
    return Bad("FETCH_ALLOWED_HOST", "allowed_hosts[" + std::to_string(i) + "]",
               "\"" + hosts[i].substr(0, 200) + "\" is no host", "give \"host\" or \"host:port\"");
  }
  return {};
}

}  // namespace

Status FetchSettings::Validate() const {
  ETL_CHECK_OK(CheckContact(contact));
  ETL_CHECK_OK(CheckBaseUrl(base_url));
  ETL_CHECK_OK(CheckAllowedHosts(allowed_hosts));
  ETL_CHECK_OK(InRange("connections_max", connections_max, 1, 64));
  ETL_CHECK_OK(InRange("requests_per_second", requests_per_second, 0.0, 10'000.0));
  if (requests_per_second > 0)
    ETL_CHECK_OK(InRange("requests_per_second", requests_per_second, 0.001, 10'000.0));
  ETL_CHECK_OK(InRange("burst", burst, 1, 10'000));
  ETL_CHECK_OK(InRange<std::int64_t>("connect_ms", connect_ms, 1, kDurationMsMax));
  ETL_CHECK_OK(InRange<std::int64_t>("idle_ms", idle_ms, 1, kDurationMsMax));
  ETL_CHECK_OK(InRange<std::int64_t>("whole_ms", whole_ms, 1, kDurationMsMax));
  ETL_CHECK_OK(InRange<std::uint64_t>("wire_bytes_max", wire_bytes_max, 1, kBytesMax));
  ETL_CHECK_OK(InRange<std::uint64_t>("decoded_bytes_max", decoded_bytes_max, 1, kBytesMax));
  ETL_CHECK_OK(InRange("decode_ratio_max", decode_ratio_max, 1.0, 10'000.0));
  ETL_CHECK_OK(InRange<std::uint64_t>("decode_ratio_free_bytes", decode_ratio_free_bytes, 0, kBytesMax));
  ETL_CHECK_OK(InRange<std::uint64_t>("header_bytes_max", header_bytes_max, 128, 96 << 10));
  ETL_CHECK_OK(InRange("redirects_max", redirects_max, 0, 20));
  ETL_CHECK_OK(InRange("attempts_max", attempts_max, 1, 100));
  ETL_CHECK_OK(InRange("retry_budget", retry_budget, 0, 1'000'000));
  ETL_CHECK_OK(InRange("retry_budget_refill", retry_budget_refill, 0.0, 1.0));
  ETL_CHECK_OK(InRange<std::int64_t>("backoff_base_ms", backoff_base_ms, 0, kDurationMsMax));
  ETL_CHECK_OK(InRange<std::int64_t>("backoff_cap_ms", backoff_cap_ms, 0, kDurationMsMax));
  ETL_CHECK_OK(InRange<std::int64_t>("retry_after_cap_ms", retry_after_cap_ms, 0, kDurationMsMax));
  ETL_CHECK_OK(InRange("breaker_threshold", breaker_threshold, 1, 1'000'000));
  ETL_CHECK_OK(InRange<std::int64_t>("breaker_cooldown_ms", breaker_cooldown_ms, 1, kDurationMsMax));
  ETL_CHECK_OK(InRange<std::int64_t>("breaker_cooldown_cap_ms", breaker_cooldown_cap_ms, 1, kDurationMsMax));
  ETL_CHECK_OK(InRange("expected_max", expected_max, 0, 256));
  ETL_CHECK_OK(InRange<std::uint64_t>("expected_bytes_max", expected_bytes_max, 0, kBytesMax));
  return InRange<std::int64_t>("expected_age_ms", expected_age_ms, 0, kDurationMsMax);
}

}  // namespace etl
