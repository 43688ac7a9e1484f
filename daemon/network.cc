#include "daemon/network.h"

#include <algorithm>
#include <cmath>

namespace etl {
namespace {

std::int64_t Milliseconds(double seconds) {
  return std::llround(seconds * 1000);
}

}  // namespace

FetchSettings FetchSettingsOf(const Adapter& adapter, const SourceSettings& settings,
                              const std::string& base_url, const std::string& state_dir) {
  const NetworkSettings& from = settings.fetch;
  FetchSettings to;
  to.base_url = !base_url.empty()            ? base_url
                : !settings.base_url.empty() ? settings.base_url
                                             : std::string(adapter.base_url());
  to.contact = from.contact;
  to.allowed_hosts = settings.allowed_hosts;
  to.state_dir = state_dir;
  to.ca_file = from.ca_file;
  to.connections_max = static_cast<int>(from.connections_per_host);
  to.requests_per_second = from.requests_per_second;
  to.burst = static_cast<int>(from.burst);
  to.connect_ms = Milliseconds(from.connect_deadline_s);
  to.idle_ms = Milliseconds(from.idle_deadline_s);
  to.whole_ms = Milliseconds(from.request_deadline_s);
  to.wire_bytes_max = static_cast<std::uint64_t>(from.body_bytes_max);
  to.decoded_bytes_max = static_cast<std::uint64_t>(from.decoded_bytes_max);
  to.decode_ratio_max = from.decode_ratio_max;
  to.header_bytes_max = static_cast<std::uint64_t>(from.header_bytes_max);
  to.attempts_max = static_cast<int>(from.retries_max) + 1;
  to.backoff_base_ms = from.backoff_base_ms;
  to.backoff_cap_ms = Milliseconds(from.backoff_max_s);
  to.retry_after_cap_ms = Milliseconds(from.retry_after_max_s);
  to.breaker_threshold = static_cast<int>(from.breaker_failures);
  to.breaker_cooldown_ms = Milliseconds(from.breaker_pause_s);
  to.breaker_cooldown_cap_ms = std::max(to.breaker_cooldown_cap_ms, to.breaker_cooldown_ms);
  return to;
}

FollowRules RulesOf(const PollSettings& settings) {
  FollowRules rules;
  rules.reread_s = std::llround(settings.reread_s);
  rules.reread_min_s = std::llround(settings.interval_min_s);
  rules.give_up_s = std::llround(settings.unfinished_give_up_h * 3600);
  rules.shrink_max_percent = static_cast<int>(settings.shrink_max_percent);
  rules.withdraw_max_percent = static_cast<int>(settings.withdraw_max_percent);
  return rules;
}

}  // namespace etl
