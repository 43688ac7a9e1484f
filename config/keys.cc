#include "config/keys.h"

#include <algorithm>

namespace etl::config {
namespace {

template <auto kSection, auto kMember>
Slot InSettings(Settings& settings) {
  return &((settings.*kSection).*kMember);
}
template <auto kSection, auto kMember>
Slot InSource(SourceSettings& source) {
  return &((source.*kSection).*kMember);
}

template <auto kSection, auto kMember>
Key In(std::string_view section, Key key) {
  key.section = section;
  key.in_settings = &InSettings<kSection, kMember>;
  return key;
}

template <auto kMember>
Key Fetch(Key key) {
  key.in_source = &InSource<&SourceSettings::fetch, kMember>;
  return In<&Settings::fetch, kMember>("fetch", std::move(key));
}
template <auto kMember>
Key Poll(Key key) {
  key.in_source = &InSource<&SourceSettings::poll, kMember>;
  return In<&Settings::poll, kMember>("poll", std::move(key));
}
template <auto kMember>
Key OfSource(Key key) {
  key.section = "source";
  key.in_source = [](SourceSettings& source) -> Slot { return &(source.*kMember); };
  return key;
}
template <auto kMember>
Key Serve(Key key) {
  return In<&Settings::serve, kMember>("serve", std::move(key));
}
template <auto kMember>
Key Control(Key key) {
  return In<&Settings::control, kMember>("control", std::move(key));
}

constexpr double kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB, kTiB = 1024 * kGiB;
constexpr double kHour_s = 3600, kDay_s = 24 * kHour_s;
constexpr double kPathBytes = 4095;    // PATH_MAX of Linux without its NUL
constexpr double kSocketBytes = 107;   // sun_path of unix(7) without its NUL
constexpr double kGroupBytes = 32;     // useradd(8)
constexpr double kContactBytes = 200;  // keeps the User-Agent line short
constexpr double kUrlBytes = 2000;
constexpr double kAddressBytes = 45;  // INET6_ADDRSTRLEN without its NUL

std::vector<Key> FetchKeys() {
  using S = NetworkSettings;
  return {
      Fetch<&S::contact>({.name = "contact",
                          .form = Form::kContact,
                          .max = kContactBytes,
                          .unset = "not set: nothing is fetched over the network",
                          .about = "E-mail address or https URL where the operators of a source reach you; "
                                   "sent with every request."}),
      Fetch<&S::requests_per_second>(
          {.name = "requests_per_second",
           .form = Form::kNumber,
           .unit = "requests per second",
           .min = 0,
           .max = 10'000,
           .about = "Requests to one host in the long run, kept over restarts; 0 is no spacing."}),
      Fetch<&S::burst>({.name = "burst",
                        .form = Form::kWhole,
                        .unit = "requests",
                        .min = 1,
                        .max = 10'000,
                        .about = "Requests that may be sent at once after a time of rest."}),
      Fetch<&S::connections_per_host>({.name = "connections_per_host",
                                       .form = Form::kWhole,
                                       .unit = "connections",
                                       .min = 1,
                                       .max = 32,
                                       .about = "Connections open to one host at once."}),
      Fetch<&S::connect_deadline_s>(
          {.name = "connect_deadline_s",
           .form = Form::kNumber,
           .unit = "seconds",
           .min = 0.05,
           .max = 300,
           .about = "Time for the name lookup, the connection and the TLS handshake together."}),
      Fetch<&S::idle_deadline_s>({.name = "idle_deadline_s",
                                  .form = Form::kNumber,
                                  .unit = "seconds",
                                  .min = 0.05,
                                  .max = 600,
                                  .about = "Longest silence of the server while a response is due."}),
      Fetch<&S::request_deadline_s>({.name = "request_deadline_s",
                                     .form = Form::kNumber,
                                     .unit = "seconds",
                                     .min = 0.05,
                                     .max = kHour_s,
                                     .about = "Time for one request from start to end, redirects included."}),
      Fetch<&S::body_bytes_max>({.name = "body_bytes_max",
                                 .form = Form::kWhole,
                                 .unit = "bytes",
                                 .min = kKiB,
                                 .max = kGiB,
                                 .about = "Largest response body as sent."}),
      Fetch<&S::decoded_bytes_max>({.name = "decoded_bytes_max",
                                    .form = Form::kWhole,
                                    .unit = "bytes",
                                    .min = kKiB,
                                    .max = kGiB,
                                    .about = "Largest response body once decompressed."}),
      Fetch<&S::decode_ratio_max>({.name = "decode_ratio_max",
                                   .form = Form::kNumber,
                                   .unit = "times",
                                   .min = 1,
                                   .max = 10000,
                                   .about = "How much larger decompression may make a body."}),
      Fetch<&S::header_bytes_max>({.name = "header_bytes_max",
                                   .form = Form::kWhole,
                                   .unit = "bytes",
                                   .min = kKiB,
                                   .max = 96 << 10,
                                   .about = "Largest response header, all lines together."}),
      Fetch<&S::retries_max>({.name = "retries_max",
                              .form = Form::kWhole,
                              .unit = "retries",
                              .min = 0,
                              .max = 20,
                              .about = "Further tries of a request after a failure that may pass."}),
      Fetch<&S::backoff_base_ms>(
          {.name = "backoff_base_ms",
           .form = Form::kWhole,
           .unit = "milliseconds",
           .min = 1,
           .max = 60000,
           .about = "Wait before the first retry; doubles with each, up to backoff_max_s, with jitter."}),
      Fetch<&S::backoff_max_s>({.name = "backoff_max_s",
                                .form = Form::kNumber,
                                .unit = "seconds",
                                .min = 0.001,
                                .max = kHour_s,
                                .about = "Longest wait between two tries."}),
      Fetch<&S::retry_after_max_s>(
          {.name = "retry_after_max_s",
           .form = Form::kNumber,
           .unit = "seconds",
           .min = 0,
           .max = 86'400,
           .about = "Longest wait that a server may ask for with Retry-After; more is cut to this."}),
      Fetch<&S::breaker_failures>(
          {.name = "breaker_failures",
           .form = Form::kWhole,
           .unit = "failures",
           .min = 1,
           .max = 1000,
           .about = "Failures of a host in a row after which it is left alone for breaker_pause_s."}),
      Fetch<&S::breaker_pause_s>(
          {.name = "breaker_pause_s",
           .form = Form::kNumber,
           .unit = "seconds",
           .min = 0.01,
           .max = kDay_s,
           .about = "How long a failing host is left alone before one request tries it again."}),
      Fetch<&S::ca_file>(
          {.name = "ca_file",
           .form = Form::kPath,
           .max = kPathBytes,
           .unset = "the certificates of the system",
           .about = "PEM file of the certificate authorities that servers are checked against."}),
  };
}

std::vector<Key> PollKeys() {
  using S = PollSettings;
  return {
      Poll<&S::interval_min_s>({.name = "interval_min_s",
                                .form = Form::kNumber,
                                .unit = "seconds",
                                .min = 0.1,
                                .max = kDay_s,
                                .about = "Time between two polls of a source that changes often."}),
      Poll<&S::interval_max_s>({.name = "interval_max_s",
                                .form = Form::kNumber,
                                .unit = "seconds",
                                .min = 0.1,
                                .max = 30 * kDay_s,
                                .about = "Time between two polls of a source that rests."}),
      Poll<&S::jitter>({.name = "jitter",
                        .form = Form::kNumber,
                        .unit = "of the interval",
                        .min = 0,
                        .max = 0.5,
                        .about = "Share by which an interval is lengthened or shortened at random."}),
      Poll<&S::reread_s>(
          {.name = "reread_s",
           .form = Form::kNumber,
           .unit = "seconds",
           .min = 1,
           .max = 30 * kDay_s,
           .about = "How often every row of a window is read and compared, to find silent changes."}),
      Poll<&S::unconditional_every>(
          {.name = "unconditional_every",
           .form = Form::kWhole,
           .unit = "polls",
           .min = 1,
           .max = 100000,
           .about =
               "One poll in so many asks without validators, to find a server that wrongly says unchanged."}),
      Poll<&S::unfinished_give_up_h>({.name = "unfinished_give_up_h",
                                      .form = Form::kNumber,
                                      .unit = "hours",
                                      .min = 0.1,
                                      .max = 8760,
                                      .about = "How long a row that never finishes is asked for."}),
      Poll<&S::shrink_max_percent>(
          {.name = "shrink_max_percent",
           .form = Form::kNumber,
           .unit = "percent",
           .min = 0,
           .max = 100,
           .about = "A list that shrinks by more than this is refused until an operator admits it."}),
      Poll<&S::withdraw_max_percent>(
          {.name = "withdraw_max_percent",
           .form = Form::kNumber,
           .unit = "percent",
           .min = 0,
           .max = 100,
           .about = "Share of a source's kernels that may disappear at once without an operator."}),
  };
}

std::vector<Key> SourceKeys() {
  using S = SourceSettings;
  return {
      OfSource<&S::enabled>(
          {.name = "enabled", .form = Form::kBool, .about = "Whether the source is polled."}),
      OfSource<&S::base_url>({.name = "base_url",
                              .form = Form::kBaseUrl,
                              .max = kUrlBytes,
                              .unset = "the source's own address",
                              .about = "Where the source's API begins; http is for loopback hosts only."}),
      OfSource<&S::allowed_hosts>(
          {.name = "allowed_hosts",
           .form = Form::kHosts,
           .unit = "hosts",
           .max = 32,
           .about = "Hosts that redirects may lead to, beside the host of base_url."}),
  };
}

std::vector<Key> ServeKeys() {
  using S = ServeSettings;
  return {
      Serve<&S::listen_address>({.name = "listen_address",
                                 .form = Form::kAddress,
                                 .max = kAddressBytes,
                                 .about = "Address that the API and the pages listen on."}),
      Serve<&S::listen_port>({.name = "listen_port",
                              .form = Form::kWhole,
                              .min = 0,
                              .max = 65535,
                              .about = "TCP port of the API and the pages; 0 takes any that is free."}),
      Serve<&S::connections_max>({.name = "connections_max",
                                  .form = Form::kWhole,
                                  .unit = "connections",
                                  .min = 1,
                                  .max = 100000,
                                  .about = "Connections served at once; more are turned away."}),
      Serve<&S::request_deadline_s>(
          {.name = "request_deadline_s",
           .form = Form::kNumber,
           .unit = "seconds",
           .min = 0.1,
           .max = 300,
           .about = "Time for a client to send a request, and to take its response."}),
      Serve<&S::feed_buffer_bytes_max>(
          {.name = "feed_buffer_bytes_max",
           .form = Form::kWhole,
           .unit = "bytes",
           .min = 4 * kKiB,
           .max = 64 * kMiB,
           .about = "What may wait for a slow reader of the change feed before it is closed."}),
      Serve<&S::feed_heartbeat_s>({.name = "feed_heartbeat_s",
                                   .form = Form::kNumber,
                                   .unit = "seconds",
                                   .min = 0.1,
                                   .max = 300,
                                   .about = "Time between two signs of life on a quiet change feed."}),
  };
}

std::vector<Key> OtherKeys() {
  return {
      Control<&ControlSettings::socket>({.name = "socket",
                                         .form = Form::kPath,
                                         .max = kSocketBytes,
                                         .about = "UNIX socket on which etlctl reaches the daemon."}),
      Control<&ControlSettings::read_group>({.name = "read_group",
                                             .form = Form::kGroup,
                                             .max = kGroupBytes,
                                             .about = "Group whose members may ask over the socket."}),
      Control<&ControlSettings::admin_group>(
          {.name = "admin_group",
           .form = Form::kGroup,
           .max = kGroupBytes,
           .about = "Group whose members may, like root, also change things over the socket."}),
      In<&Settings::log, &LogSettings::level>("log", {.name = "level",
                                                      .form = Form::kWord,
                                                      .words = {"trace", "debug", "info", "warning", "error"},
                                                      .about = "The least important lines that are logged."}),
      In<&Settings::log, &LogSettings::format>(
          "log",
          {.name = "format",
           .form = Form::kWord,
           .words = {"auto", "journald", "json"},
           .about =
               "Fields for journald or JSON lines; auto takes journald under systemd, else JSON lines."}),
      In<&Settings::generations, &GenerationSettings::keep>(
          "generations", {.name = "keep",
                          .form = Form::kWhole,
                          .unit = "generations",
                          .min = 1,
                          .max = 100,
                          .about = "Newest generations that are kept for readers."}),
      In<&Settings::generations, &GenerationSettings::interval_min_s>(
          "generations", {.name = "interval_min_s",
                          .form = Form::kNumber,
                          .unit = "seconds",
                          .min = 0.1,
                          .max = kDay_s,
                          .about = "Least time between two generations; none is made without a change."}),
      In<&Settings::disk, &DiskSettings::reserve_bytes>(
          "disk", {.name = "reserve_bytes",
                   .form = Form::kWhole,
                   .unit = "bytes",
                   .min = kMiB,
                   .max = kTiB,
                   .about = "Space that stays free on the store's disk: below it nothing new is taken in."}),
  };
}

std::vector<Key> AllKeys() {
  std::vector<Key> all = {In<&Settings::store, &StoreSettings::dir>(
      "store", {.name = "dir", .form = Form::kPath, .max = kPathBytes, .about = "The folder of the store."})};
  for (auto* const group : {&FetchKeys, &PollKeys, &SourceKeys, &ServeKeys, &OtherKeys}) {
    const std::vector<Key> keys = group();
    all.insert(all.end(), keys.begin(), keys.end());
  }
  return all;
}

}  // namespace

std::span<const Section> Sections() {
  static constexpr Section kSections[] = {
      {"store", "Where everything is kept."},
      {"fetch", "How sources are asked over the network."},
      {"poll", "How often sources are asked, and which answers are not believed."},
      {"source",
       "One source, by its slug; any key of [fetch] and [poll] may be set here too, for this source alone."},
      {"serve", "The HTTP API and the pages."},
      {"control", "The socket between etlctl and the daemon."},
      {"log", "What is logged, and how."},
      {"generations", "The frozen copies of the store that other processes read."},
      {"disk", "What happens when the disk fills up."},
  };
  return kSections;
}

std::span<const Key> Keys() {
  static const std::vector<Key> keys = AllKeys();
  return keys;
}

const Key* FindKey(std::string_view section, std::string_view name) {
  if (section == "source") return nullptr;
  const auto keys = Keys();
  const auto found = std::find_if(keys.begin(), keys.end(),
                                  [&](const Key& key) { return key.section == section && key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

const Key* FindSourceKey(std::string_view name) {
  const auto keys = Keys();
  const auto found = std::find_if(keys.begin(), keys.end(),
                                  [&](const Key& key) { return key.in_source && key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

}  // namespace etl::config
