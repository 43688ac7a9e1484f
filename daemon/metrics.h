#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/command_host.h"
#include "daemon/http_server.h"
#include "daemon/visit.h"
#include "fetch/http_transport.h"
#include "model/instant.h"
#include "store/health.h"

namespace etl {

// What /metrics shows of the moment it is asked at.
struct MetricsFacts {
  Instant now;
  std::vector<SourceReport> sources;
  std::string epoch;  // empty: the store is not open yet
  std::uint64_t sequence = 0;
  StoreHealth store;
  std::uint64_t disk_free_bytes = 0, disk_reserve_bytes = 0;
  bool ingestion_paused = false;
  std::size_t intake_pending = 0;
  std::size_t http_connections = 0, http_in_flight = 0;
  std::uint64_t http_accepted = 0, http_turned_away = 0;
};

// Counts what happens and tells it in Prometheus' text format 0.0.4 (docs/metrics.md lists every metric).
// Any thread may call anything. Labels are sources, routes and other words of our own, of which there are
// few: nothing that a caller or an upstream sends becomes one.
class Metrics {
 public:
  explicit Metrics(std::string version);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // The visits of the daemon's own, with the report of the transport that served it, whose counts grow from
  // one visit to the next until it is opened anew.
  void Visit(const VisitResult& result, const std::optional<HostReport>& network);
  void Http(const HttpDone& done);
  std::string Text(const MetricsFacts& facts) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace etl
