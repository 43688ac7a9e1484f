#include "daemon/metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <prometheus/client_metric.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

namespace etl {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

const prometheus::Histogram::BucketBoundaries kVisitBoundsS{0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800, 7200};
const prometheus::Histogram::BucketBoundaries kHttpBoundsS{0.0001, 0.0005, 0.001, 0.003, 0.01,
                                                           0.05,   0.25,   1,     5,     30};
constexpr std::array<std::string_view, 3> kResults{"full", "partial", "failed"};
constexpr std::array<std::string_view, 7> kStates{"polling",  "waiting",  "failing", "paused",
                                                  "disabled", "no space", "draining"};

// What a source's visits came to.
struct SourceCounts {
  std::map<std::string, std::uint64_t, std::less<>> visits;  // by result
  std::uint64_t answered = 0, not_modified = 0, failed = 0, retries = 0, wire_bytes = 0, body_bytes = 0;
  std::uint64_t snapshots = 0, rows = 0, versions_new = 0, versions_changed = 0, runs = 0, groups = 0;
  std::uint64_t quarantined = 0, gaps = 0, drift = 0;
  HostReport last;  // of the transport, to see what it added
  std::unique_ptr<prometheus::Histogram> seconds = std::make_unique<prometheus::Histogram>(kVisitBoundsS);
};

struct RouteCounts {
  std::map<int, std::uint64_t> answers;  // by status
  std::uint64_t bytes = 0;
  std::unique_ptr<prometheus::Histogram> seconds = std::make_unique<prometheus::Histogram>(kHttpBoundsS);
};

// The families in the making, in the order they are shown.
class Page {
 public:
  Page& Gauge(std::string name, std::string help) {
    return Family(std::move(name), std::move(help), MetricType::Gauge);
  }
  Page& Counter(std::string name, std::string help) {
    return Family(std::move(name), std::move(help), MetricType::Counter);
  }
  Page& Histogram(std::string name, std::string help) {
    return Family(std::move(name), std::move(help), MetricType::Histogram);
  }
  Page& Value(double value, Labels labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.gauge.value = metric.counter.value = value;
    families_.back().metric.push_back(std::move(metric));
    return *this;
  }
  Page& Value(std::uint64_t value, Labels labels = {}) {
    return Value(static_cast<double>(value), std::move(labels));
  }
  Page& Add(ClientMetric metric, Labels labels) {
    metric.label = std::move(labels);
    families_.back().metric.push_back(std::move(metric));
    return *this;
  }
  std::string Text() const {
    std::ostringstream out;
    prometheus::TextSerializer().Serialize(out, families_);
    return out.str();
  }

 private:
  Page& Family(std::string name, std::string help, MetricType type) {
    MetricFamily family;
    family.name = std::move(name);
    family.help = std::move(help);
    family.type = type;
    families_.push_back(std::move(family));
    return *this;
  }
  std::vector<MetricFamily> families_;
};

double Seconds(Instant at) {
  return static_cast<double>(at.ms) / 1000;
}

ClientMetric CommitHistogram(const StoreHealth& store) {
  ClientMetric metric;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < store.commits.size(); ++i) {
    sum += store.commits[i];
    const bool last = i == store.kCommitBoundsS.size();
    metric.histogram.bucket.push_back(
        {sum, last ? std::numeric_limits<double>::infinity() : store.kCommitBoundsS[i]});
  }
  metric.histogram.sample_count = sum;
  metric.histogram.sample_sum = store.commit_seconds;
  return metric;
}

void AddSources(Page& page, const MetricsFacts& facts) {
  const auto each = [&](const auto& value) {
    for (const SourceReport& source : facts.sources)
      if (const std::optional<double> v = value(source)) page.Value(*v, {{"source", source.source}});
  };
  page.Gauge("etld_source_state", "1 for the state that a source is in.");
  for (const SourceReport& source : facts.sources)
    for (const std::string_view state : kStates)
      page.Value(source.state == state ? 1.0 : 0.0,
                 {{"source", source.source}, {"state", std::string(state)}});
  page.Gauge("etld_source_last_full_visit_timestamp_seconds", "When the last full visit ended.");
  each([](const SourceReport& s) {
    return s.last_full ? std::optional(Seconds(*s.last_full)) : std::nullopt;
  });
  page.Gauge("etld_source_last_visit_timestamp_seconds", "When the last visit of any result ended.");
  each([](const SourceReport& s) { return s.last_end ? std::optional(Seconds(*s.last_end)) : std::nullopt; });
  page.Gauge("etld_source_lag_seconds", "Time since the last full visit ended.");
  each([&](const SourceReport& s) {
    return s.last_full ? std::optional(std::max(0.0, Seconds(facts.now) - Seconds(*s.last_full)))
                       : std::nullopt;
  });
  page.Gauge("etld_source_poll_interval_seconds", "Time between polls, as it is adapted now.");
  each([](const SourceReport& s) { return std::optional(static_cast<double>(s.interval_ms) / 1000); });
  page.Gauge("etld_source_consecutive_failures", "Visits that failed in a row.");
  each([](const SourceReport& s) { return std::optional(static_cast<double>(s.failures)); });
}

void AddStore(Page& page, const MetricsFacts& facts) {
  const StoreHealth& s = facts.store;
  page.Gauge("etld_store_open", "1 when the store is open.").Value(facts.epoch.empty() ? 0.0 : 1.0);
  page.Gauge("etld_store_sequence", "Newest sequence of the change log.");
  if (!facts.epoch.empty()) page.Value(facts.sequence, {{"epoch", facts.epoch}});
  page.Histogram("etld_store_commit_duration_seconds",
                 "Time to derive standings and records from a response and commit it.");
  page.Add(CommitHistogram(s), {});
  page.Gauge("etld_store_write_stopped", "1 while RocksDB takes no writes.")
      .Value(s.writes_stopped ? 1.0 : 0.0);
  page.Counter("etld_store_write_slowdowns_total", "Times that RocksDB slowed writes down.")
      .Value(s.slowdowns);
  page.Counter("etld_store_write_stops_total", "Times that RocksDB stopped writes.").Value(s.stops);
  page.Gauge("etld_store_compaction_pending_bytes", "What compaction has yet to rewrite, estimated.")
      .Value(s.compaction_pending_bytes);
  page.Gauge("etld_store_compactions_running", "Compactions under way.").Value(s.compactions_running);
  page.Gauge("etld_store_flushes_running", "Flushes of memtables under way.").Value(s.flushes_running);
  page.Counter("etld_store_background_errors_total", "Errors of RocksDB's background work.")
      .Value(s.background_errors);
  page.Gauge("etld_store_table_bytes", "Size of the table files.").Value(s.table_bytes);
  page.Gauge("etld_store_log_bytes", "Size of the write-ahead logs.").Value(s.log_bytes);
  page.Gauge("etld_store_memtable_bytes", "Memory that memtables use.").Value(s.memtable_bytes);
  page.Gauge("etld_store_cache_bytes", "Memory that cached blocks use.").Value(s.cache_bytes);
  page.Gauge("etld_store_keys", "Keys in the database, estimated.").Value(s.estimated_keys);
}

std::optional<double> ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  if (!(statm >> size >> resident)) return std::nullopt;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

std::optional<double> OpenFiles() {
  std::error_code error;
  std::uint64_t count = 0;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end;
       it.increment(error))
    ++count;
  if (error || count == 0) return std::nullopt;
  return static_cast<double>(count - 1);  // without the one that reads the folder
}

void AddProcess(Page& page, const MetricsFacts& facts, const std::string& version) {
  page.Gauge("etld_build_info", "The program that runs.").Value(1.0, {{"version", version}});
  const bool open = !facts.epoch.empty();
  page.Gauge("etld_disk_free_bytes", "Free space on the store's disk.");
  if (open) page.Value(facts.disk_free_bytes);
  page.Gauge("etld_disk_reserve_bytes", "Free space that ingestion leaves.");
  if (open) page.Value(facts.disk_reserve_bytes);
  page.Gauge("etld_ingestion_paused", "1 while nothing is taken in for want of space.")
      .Value(facts.ingestion_paused ? 1.0 : 0.0);
  page.Gauge("etld_intake_queue_length", "Responses that wait for their commit.")
      .Value(std::uint64_t{facts.intake_pending});
  page.Gauge("process_resident_memory_bytes", "Resident memory size in bytes.");
  if (const auto bytes = ResidentBytes()) page.Value(*bytes);
  page.Gauge("process_open_fds", "Number of open file descriptors.");
  if (const auto files = OpenFiles()) page.Value(*files);
}

}  // namespace

struct Metrics::Impl {
  explicit Impl(std::string v) : version(std::move(v)) {}

  void AddVisits(Page& page) const;
  void AddHttp(Page& page, const MetricsFacts& facts) const;

  const std::string version;
  std::mutex mutex;  // guards what follows
  std::map<std::string, SourceCounts> sources;
  std::map<std::string, RouteCounts, std::less<>> routes;
};

Metrics::Metrics(std::string version) : impl_(std::make_unique<Impl>(std::move(version))) {}
Metrics::~Metrics() = default;

void Metrics::Visit(const VisitResult& result, const std::optional<HostReport>& network) {
  const std::lock_guard lock(impl_->mutex);
  SourceCounts& counts = impl_->sources[result.source];
  ++counts.visits[result.visit];
  counts.snapshots += result.snapshots;
  counts.rows += result.rows;
  counts.versions_new += result.entries_new;
  counts.versions_changed += result.entries_changed;
  counts.runs += result.runs;
  counts.groups += result.groups_recomputed;
  counts.quarantined += result.quarantined;
  counts.gaps += result.gaps;
  counts.drift += result.drift;
  counts.seconds->Observe(result.elapsed_seconds);
  if (!network) return;
  // A transport that was opened anew counts from 0 again.
  const HostReport before = network->requests >= counts.last.requests ? counts.last : HostReport();
  const std::uint64_t sent = network->requests - before.requests;
  const std::uint64_t failed = std::min(sent, network->failures - before.failures);
  const std::uint64_t unchanged = std::min(sent - failed, network->not_modified - before.not_modified);
  counts.failed += failed;
  counts.not_modified += unchanged;
  counts.answered += sent - failed - unchanged;
  counts.retries += network->retries - before.retries;
  counts.wire_bytes += network->wire_bytes - before.wire_bytes;
  counts.body_bytes += network->body_bytes - before.body_bytes;
  counts.last = *network;
}

void Metrics::Http(const HttpDone& done) {
  const std::lock_guard lock(impl_->mutex);
  auto route = impl_->routes.find(done.route);
  if (route == impl_->routes.end()) route = impl_->routes.try_emplace(std::string(done.route)).first;
  ++route->second.answers[done.status];
  route->second.bytes += done.bytes;
  route->second.seconds->Observe(done.seconds);
}

void Metrics::Impl::AddVisits(Page& page) const {
  const auto counter = [&](const char* name, const char* help, std::uint64_t SourceCounts::*count) {
    page.Counter(name, help);
    for (const auto& [source, counts] : sources) page.Value(counts.*count, {{"source", source}});
  };
  page.Counter("etld_visits_total", "Visits by result.");
  for (const auto& [source, counts] : sources) {
    for (const std::string_view result : kResults) {
      const auto found = counts.visits.find(result);
      page.Value(found == counts.visits.end() ? std::uint64_t{0} : found->second,
                 {{"source", source}, {"result", std::string(result)}});
    }
  }
  page.Histogram("etld_visit_duration_seconds", "How long visits took.");
  for (const auto& [source, counts] : sources) page.Add(counts.seconds->Collect(), {{"source", source}});
  page.Counter("etld_requests_total",
               "Requests sent to a source, robots.txt, redirects and retries among them.");
  for (const auto& [source, counts] : sources) {
    page.Value(counts.answered, {{"source", source}, {"outcome", "answered"}});
    page.Value(counts.not_modified, {{"source", source}, {"outcome", "not_modified"}});
    page.Value(counts.failed, {{"source", source}, {"outcome", "failed"}});
  }
  counter("etld_request_retries_total", "Requests that repeated a failed one.", &SourceCounts::retries);
  counter("etld_received_bytes_total", "Bodies received, as they were sent.", &SourceCounts::wire_bytes);
  counter("etld_decoded_bytes_total", "Bodies received, decoded.", &SourceCounts::body_bytes);
  counter("etld_snapshots_total", "Responses stored.", &SourceCounts::snapshots);
  counter("etld_rows_total", "Rows read.", &SourceCounts::rows);
  page.Counter("etld_versions_total",
               "States of entries stored: of new entries, and of known ones that changed.");
  for (const auto& [source, counts] : sources) {
    page.Value(counts.versions_new, {{"source", source}, {"change", "new"}});
    page.Value(counts.versions_changed, {{"source", source}, {"change", "changed"}});
  }
  counter("etld_runs_total", "Runs ranked.", &SourceCounts::runs);
  counter("etld_groups_recomputed_total", "Comparison groups whose standing changed.", &SourceCounts::groups);
  counter("etld_quarantined_total", "Items refused and kept aside.", &SourceCounts::quarantined);
  counter("etld_gaps_total", "Times that rows left the window of a source unseen.", &SourceCounts::gaps);
  counter("etld_drift_total", "Things that a source said and its adapter does not know.",
          &SourceCounts::drift);
}

void Metrics::Impl::AddHttp(Page& page, const MetricsFacts& facts) const {
  page.Counter("etld_http_requests_total", "Answers given, by kind of question and status.");
  for (const auto& [route, counts] : routes)
    for (const auto& [status, count] : counts.answers)
      page.Value(count, {{"route", route}, {"status", std::to_string(status)}});
  page.Histogram("etld_http_request_duration_seconds",
                 "From the first byte of a request to the last of its answer; waiting for changes counts.");
  for (const auto& [route, counts] : routes) page.Add(counts.seconds->Collect(), {{"route", route}});
  page.Counter("etld_http_response_bytes_total", "Bodies of answers.");
  for (const auto& [route, counts] : routes) page.Value(counts.bytes, {{"route", route}});
  page.Gauge("etld_http_requests_in_flight", "Requests read and not yet answered.")
      .Value(std::uint64_t{facts.http_in_flight});
  page.Gauge("etld_http_connections", "Open connections.").Value(std::uint64_t{facts.http_connections});
  page.Counter("etld_http_connections_total", "Connections accepted.").Value(facts.http_accepted);
  page.Counter("etld_http_connections_refused_total",
               "Connections turned away, over [serve] connections_max.")
      .Value(facts.http_turned_away);
}

std::string Metrics::Text(const MetricsFacts& facts) const {
  Page page;
  AddSources(page, facts);
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->AddVisits(page);
    impl_->AddHttp(page, facts);
  }
  AddStore(page, facts);
  AddProcess(page, facts, impl_->version);
  return page.Text();
}

}  // namespace etl
