#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/error.h"

// The settings of the product: what /etc/etld/etld.toml (TOML 1.0) may say, checked and with defaults filled
// in. Here are the values and their defaults; unit, limits and meaning of each are in the table of
// config/keys.cc, from which the shipped file is made and against which the man page is tested. A text that
// is "" is not set.
//
// Parsing is pure and may run on any thread; loading reads one file and blocks on it.
namespace etl {

struct StoreSettings {
  std::string dir = "/var/lib/etld";
  friend bool operator==(const StoreSettings&, const StoreSettings&) = default;
};

struct NetworkSettings {
  std::string contact;
  double requests_per_second = 2;
  std::int64_t burst = 4;
  std::int64_t connections_per_host = 2;
  double connect_deadline_s = 10;
  double idle_deadline_s = 30;
  double request_deadline_s = 120;
  std::int64_t body_bytes_max = 32 << 20;
  std::int64_t decoded_bytes_max = 64 << 20;
  double decode_ratio_max = 100;
  std::int64_t header_bytes_max = 64 << 10;
  std::int64_t retries_max = 5;
  std::int64_t backoff_base_ms = 500;
  double backoff_max_s = 60;
  double retry_after_max_s = 3600;
  std::int64_t breaker_failures = 8;
  double breaker_pause_s = 300;
  std::string ca_file;
  friend bool operator==(const NetworkSettings&, const NetworkSettings&) = default;
};

struct PollSettings {
  double interval_min_s = 60;
  double interval_max_s = 3600;
  double jitter = 0.1;
  double reread_s = 21600;
  std::int64_t unconditional_every = 24;
  double unfinished_give_up_h = 168;
  double shrink_max_percent = 20;
  double withdraw_max_percent = 10;
  friend bool operator==(const PollSettings&, const PollSettings&) = default;
};

// Of one source. `fetch` and `poll` are whole: what [source.<slug>] leaves out is as in [fetch] and [poll].
struct SourceSettings {
  bool enabled = true;
  std::string base_url;
  std::vector<std::string> allowed_hosts;
  NetworkSettings fetch;
  PollSettings poll;
  friend bool operator==(const SourceSettings&, const SourceSettings&) = default;
};

struct ServeSettings {
  std::string listen_address = "127.0.0.1";
  std::int64_t listen_port = 8417;
  std::int64_t connections_max = 1024;
  double request_deadline_s = 10;
  std::int64_t feed_buffer_bytes_max = 256 << 10;
  double feed_heartbeat_s = 15;
  friend bool operator==(const ServeSettings&, const ServeSettings&) = default;
};

struct ControlSettings {
  std::string socket = "/run/etld/control.sock";
  std::string read_group = "etld";
  std::string admin_group = "etld-admin";
  friend bool operator==(const ControlSettings&, const ControlSettings&) = default;
};

struct LogSettings {
  std::string level = "info";
  std::string format = "auto";
  friend bool operator==(const LogSettings&, const LogSettings&) = default;
};

struct GenerationSettings {
  std::int64_t keep = 3;
  double interval_min_s = 5;
  friend bool operator==(const GenerationSettings&, const GenerationSettings&) = default;
};

struct DiskSettings {
  std::int64_t reserve_bytes = std::int64_t{1} << 30;
  friend bool operator==(const DiskSettings&, const DiskSettings&) = default;
};

struct Settings {
  StoreSettings store;
  NetworkSettings fetch;
  PollSettings poll;
  std::map<std::string, SourceSettings, std::less<>> sources;  // those the file names, by slug
  ServeSettings serve;
  ControlSettings control;
  LogSettings log;
  GenerationSettings generations;
  DiskSettings disk;

  // Where a value comes from, by its dotted name ("fetch.burst", "source.sol-execbench.burst"): "FILE:LINE"
  // or "environment NAME". What is not here has its default, or in a source the value of [fetch] or [poll].
  std::map<std::string, std::string, std::less<>> origins;

  // What holds for a source, whether or not the file names it.
  SourceSettings Source(std::string_view slug) const;

  // Whether all values are equal; where they come from does not count.
  friend bool operator==(const Settings& a, const Settings& b);
};

// A variable of the environment, or nothing. An empty value counts as not set.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

// The environment of this process. Not to be asked while another thread changes it.
Environment ProcessEnvironment();

inline constexpr std::size_t kSettingsBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kSettingsFaultsMax = 100;
inline constexpr std::size_t kSourcesMax = 64;

// Reads the text of a settings file; `file_name` is used in messages and origins. Over the file's [fetch]
// contact and [store] dir go ETL_CONTACT and ETL_STORE of `environment`, when given; a relative ETL_STORE is
// kept as it is, and a contact of [source.<slug>] stands above both.
//
// Faults are gathered up to the limit, and put in the order of the file, the environment's last. The error is
// the first of them and says how many more there are; `faults`, when given, receives them all, at most
// kSettingsFaultsMax, and is empty on success. `where` is FILE:LINE, for a syntax error FILE:LINE:COLUMN, or
// "environment NAME"; `fix` always says what to do. All are kInvalid:
//
//   CONFIG_SYNTAX         not TOML 1.0, or not UTF-8; found one at a time
//   CONFIG_DUPLICATE_KEY  a key or section is there twice; found one at a time
//   CONFIG_TOO_LARGE      more than kSettingsBytesMax bytes, or more than kSourcesMax sources
//   CONFIG_UNKNOWN_KEY    no such key or section; names the nearest known one
//   CONFIG_SLUG           [source.<slug>] with a slug that is not [a-z0-9][a-z0-9-]*, at most 100 long
//   CONFIG_UNKNOWN_SOURCE [source.<slug>] of a source that is not in `known_sources`; where that is empty,
//                         any is taken
//   CONFIG_TYPE           the value has another type; a whole number does for a number, not the reverse
//   CONFIG_RANGE          a number or a count outside its limits; names them with the unit
//   CONFIG_VALUE          a text that breaks its rule: a path, address, contact or one of several words
//   CONFIG_CONFLICT       two values that contradict each other, as a minimum above its maximum
//
// A contact is not required here: who opens the network refuses to without one.
Result<Settings> ParseSettings(std::string_view toml, std::string_view file_name,
                               const Environment& environment = {}, std::vector<Error>* faults = nullptr,
                               const std::vector<std::string>& known_sources = {});

// The same from a file. Besides: kNotFound CONFIG_MISSING when there is none, kUnavailable CONFIG_READ when
// it cannot be read or is no ordinary file. Nothing past kSettingsBytesMax is read.
Result<Settings> LoadSettings(const std::string& path, const Environment& environment = {},
                              std::vector<Error>* faults = nullptr,
                              const std::vector<std::string>& known_sources = {});

// One effective value. `section` is that of the file, "source.<slug>" for a source; `origin` is as in
// Settings::origins, "default", or "[fetch], FILE:LINE" where a source has what [fetch] or [poll] set.
struct EffectiveValue {
  std::string section, name;
  std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>> value;
  std::string origin;
};

// Every effective value, in the order of the shipped file.
std::vector<EffectiveValue> EffectiveSettings(const Settings& settings);

// Every effective value with where it comes from, as a settings file that would give the same values.
std::string ShowSettings(const Settings& settings);

// The file that is shipped: every section, and every key as a comment with its meaning, unit, limits and
// default.
std::string DefaultSettingsFile();

}  // namespace etl
