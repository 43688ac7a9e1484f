#include "tests/support/backfill.h"

#include <algorithm>
#include <deque>
#include <regex>
#include <stdexcept>

#include <gtest/gtest.h>

#include "daemon/intake.h"

namespace etl::test {

std::unique_ptr<Store> OpenStore(const std::string& dir, Clock& clock, Store::Mode mode) {
  Store::Options options;
  options.mode = mode;
  options.create = mode == Store::Mode::kWrite;
  options.in_memory = dir.empty();
  options.holder = "test";
  auto store = Store::Open(dir, options, clock);
  if (!store) throw std::runtime_error(store.error().Message());
  return *std::move(store);
}

VisitResult Backfill(Store& store, const std::string& from, Clock& clock, const VisitOptions& options) {
  auto transport = OpenFolder(from);
  if (!transport) throw std::runtime_error(transport.error().Message());
  const auto adapter = MakeAdapter("sol-execbench");
  VisitOptions o = options;
  o.goal.local = (*transport)->local();
  return RunVisit(*adapter, **transport, &store, clock, o);
}

std::string ExportOf(const Store& store, AsOf as_of) {
  std::string out;
  const auto status = store.Export(as_of, [&](std::string_view line) {
    out += line;
    return Status();
  });
  if (!status) throw std::runtime_error(status.error().Message());
  return out;
}

std::string ExportOf(const Store& store, const std::string& type) {
  std::string out;
  const std::string start = "{\"type\":\"" + type + "\"";
  const auto status = store.Export({}, [&](std::string_view line) {
    if (line.starts_with(start)) out += line;
    return Status();
  });
  if (!status) throw std::runtime_error(status.error().Message());
  return out;
}

std::string NewestOf(const std::string& text) {
  static const std::regex number("\"version\":[0-9]+");
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    const std::string line = text.substr(at, end - at);
    const bool fallen =
        line.find("\"BenchmarkRun\"") != std::string::npos && line.find("RETRACTED") != std::string::npos;
    const bool implementation = line.find("\"ImplementationRevision\"") != std::string::npos;
    if (!line.starts_with("{\"type\":\"object\"") && !fallen && !implementation)
      out += std::regex_replace(line, number, "\"version\":0");
    at = end;
  }
  return out;
}

std::string Difference(const std::string& a, const std::string& b) {
  if (a == b) return "";
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  const auto line = [at](const std::string& text) {
    if (at >= text.size()) return std::string("(the end)");
    const std::size_t start = text.rfind('\n', at) == std::string::npos ? 0 : text.rfind('\n', at) + 1;
    return text.substr(start, std::min(text.find('\n', at), start + 600) - start);
  };
  return "A: " + line(a) + "\nB: " + line(b);
}

std::vector<Snapshot> ResponsesOf(const std::string& from) {
  auto transport = OpenFolder(from);
  if (!transport) throw std::runtime_error(transport.error().Message());
  const auto adapter = MakeAdapter("sol-execbench");
  const Goal goal;
  std::deque<Request> queue;
  for (Request& request : adapter->Plan(goal)) queue.push_back(std::move(request));
  std::vector<Snapshot> out;
  while (!queue.empty()) {
    Request request = std::move(queue.front());
    queue.pop_front();
    auto response = (*transport)->Fetch(request.key);
    if (!response || response->status != 200) continue;
    Snapshot snapshot{
        "sol-execbench", request.key, response->origin, Instant{}, std::move(response->bytes), {}, {}, {}};
    snapshot.digest = Sha256(snapshot.bytes);
    auto outcome = adapter->Accept(request, snapshot, "", Reading::kWalkOnly, goal);
    if (outcome)
      for (auto it = outcome->next.rbegin(); it != outcome->next.rend(); ++it)
        queue.push_front(std::move(*it));
    out.push_back(std::move(snapshot));
  }
  return out;
}

void TakeIn(Store& store, const std::vector<Snapshot>& snapshots) {
  const auto adapter = MakeAdapter("sol-execbench");
  const Goal goal;
  Intake intake(*adapter, &store, false, goal);
  for (const Snapshot& snapshot : snapshots) {
    Request request;
    request.key = snapshot.request;
    request.context = adapter->ContextFor(snapshot.request);
    const auto taken = intake.Take(request, snapshot);
    ASSERT_TRUE(taken.has_value()) << taken.error().Message();
  }
}

}  // namespace etl::test
