#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "etlctl/commands.h"
#include "etlctl/format.h"
#include "etlctl/json_out.h"
#include "etlctl/page.h"
#include "etlctl/resolve.h"
#include "etlctl/run_record.h"

namespace etl::ctl {
namespace {

constexpr std::size_t kRunsMin = 2, kRunsMax = 8;

struct Aspect {
  std::string label, name;  // for people, for programs
  std::function<std::string(const RunRecord&)> text;
  bool compared = true;  // worth a mark where runs differ
};

std::string MetricText(const RunRecord& record, std::string_view name) {
  const auto& native = record.spec().source_native;
  if (!native || !native->metrics) return {};
  const auto found = native->metrics->find(name);
  return found == native->metrics->end() ? std::string() : FormatNumber(found->second);
}

std::string LabelText(const RunRecord& record, std::string_view name) {
  const auto& labels = record.run.manifest.metadata.labels;
  if (!labels) return {};
  const auto found = labels->find(name);
  return found == labels->end() ? std::string() : found->second;
}

std::string StateOf(const RunRecord& record) {
  return record.retracted() ? "retracted" : record.superseded() ? "superseded" : record.spec().status;
}

std::vector<Aspect> Aspects() {
  return {
      {"entry", "entry", [](const RunRecord& r) { return r.entry.Text(); }, false},
      {"user", "user", [](const RunRecord& r) { return r.Author(); }},
      {"state", "state", StateOf},
      {"value", "value", PrimaryText},
      {"rank", "rank",
       [](const RunRecord& r) { return r.place ? std::to_string(r.place->rank) : std::string("–"); }},
      {"SOL score", "solScore", [](const RunRecord& r) { return MetricText(r, "sol_score"); }},
      {"speedup", "avgSpeedup", [](const RunRecord& r) { return MetricText(r, "avg_speedup"); }},
      {"cases faster", "fast1Count", [](const RunRecord& r) { return MetricText(r, "fast_1_count"); }},
      {"cases", "fast1Total", [](const RunRecord& r) { return MetricText(r, "fast_1_total"); }},
      {"observed", "observedAt", [](const RunRecord& r) { return r.spec().observed_at.Text(); }, false},
      {"kernel", "kernel", [](const RunRecord& r) { return r.Kernel(); }},
      {"operation", "operationDigest", [](const RunRecord& r) { return r.operation.digest.Text(); }},
      {"workload", "workloadDigest", [](const RunRecord& r) { return r.workload.digest.Text(); }},
      {"protocol", "protocol",
       [](const RunRecord& r) { return HarnessText(std::get<BenchmarkProtocol>(r.protocol.manifest.spec)); }},
      {"environment", "environment",
       [](const RunRecord& r) {
         return HardwareText(std::get<ExecutionEnvironment>(r.environment.manifest.spec));
       }},
      {"stack", "stack",
       [](const RunRecord& r) { return r.environment.manifest.metadata.title.value_or(""); }},
      {"implementation", "implementationDigest",
       [](const RunRecord& r) { return r.implementation.digest.Text(); }, false},
      {"worker", "worker", [](const RunRecord& r) { return LabelText(r, "worker"); }},
      {"group", "comparisonKey",
       [](const RunRecord& r) { return r.group ? r.group->key.Text() : std::string("–"); }},
  };
}

// What keeps the runs out of one group; empty: nothing does.
std::vector<std::string> Apart(const std::vector<RunRecord>& runs) {
  std::vector<std::string> parts;
  const auto differs = [&](auto&& part) {
    return std::any_of(runs.begin() + 1, runs.end(),
                       [&](const RunRecord& r) { return part(r) != part(runs.front()); });
  };
  if (differs([](const RunRecord& r) { return r.operation.digest; })) parts.emplace_back("operation");
  if (differs([](const RunRecord& r) { return r.workload.digest; })) parts.emplace_back("workload");
  if (differs([](const RunRecord& r) { return r.protocol.digest; })) parts.emplace_back("protocol");
  if (differs([](const RunRecord& r) { return r.environment.digest; })) parts.emplace_back("environment");
  if (differs([](const RunRecord& r) { return r.primary ? r.primary->MetricKey() : std::string("none"); })) {
    parts.emplace_back("metric");
  }
  if (parts.empty() && differs([](const RunRecord& r) { return std::string(ProfileOf(r.spec())); })) {
    parts.emplace_back("profile");
  }
  return parts;
}

bool AllEqual(const std::vector<std::string>& texts) {
  return std::all_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text == texts.front(); });
}

std::vector<std::string> TextsOf(const Aspect& aspect, const std::vector<RunRecord>& runs) {
  std::vector<std::string> texts;
  for (const RunRecord& run : runs) texts.push_back(aspect.text(run));
  return texts;
}

// A digest is too long for a column.
std::string Cut(const std::string& text) {
  constexpr std::size_t kDigestText = 71, kShown = 19;
  return text.starts_with("sha256:") && text.size() == kDigestText ? text.substr(0, kShown) + "…" : text;
}

// How many times the best value each run takes; only where the values may be compared.
std::string RelativeText(const RunRecord& run, const std::vector<RunRecord>& runs) {
  double best = 0;
  for (const RunRecord& other : runs) {
    if (other.primary && other.primary->value > 0 && (best == 0 || other.primary->value < best)) {
      best = other.primary->value;
    }
  }
  if (!run.primary || best <= 0) return "–";
  return run.primary->value == best ? "fastest" : FormatRatio(run.primary->value / best) + " the time";
}

void WriteTable(Output& out, const std::vector<RunRecord>& runs, const std::vector<std::string>& apart) {
  if (apart.empty()) {
    out.DataLine(out.Styled("In one comparison group: their values may be compared.", Style::kGood));
  } else {
    out.DataLine(
        out.Styled(fmt::format("NOT in one comparison group: {} differ{}. Their values may not be compared.",
                               fmt::join(apart, ", "), apart.size() == 1 ? "s" : ""),
                   Style::kBad));
  }
  out.DataLine("");
  std::vector<Column> columns{{"", Align::kLeft}, {"", Align::kLeft}};
  for (const RunRecord& run : runs) columns.push_back({ShortId(run.run.digest), Align::kLeft});
  Table table(std::move(columns));
  for (const Aspect& aspect : Aspects()) {
    const std::vector<std::string> texts = TextsOf(aspect, runs);
    const bool nothing = AllEqual(texts) && texts.front().empty();
    if (nothing) continue;
    const bool marked = aspect.compared && !AllEqual(texts);
    std::vector<Cell> row{marked ? "*" : "", aspect.label};
    for (const std::string& text : texts)
      row.emplace_back(Cut(text), marked ? Style::kWarning : Style::kPlain);
    table.Add(std::move(row));
    if (aspect.name != "value" || !apart.empty()) continue;
    std::vector<Cell> relative{"", "against the best"};
    for (const RunRecord& run : runs) relative.emplace_back(RelativeText(run, runs));
    table.Add(std::move(relative));
  }
  table.Write(out);
  out.DataLine("");
  out.DataLine(out.Styled("* differs", Style::kDim));
}

std::string RunJson(const RunRecord& run) {
  JsonObject object;
  object.Text("digest", run.run.digest);
  for (const Aspect& aspect : Aspects()) {
    if (aspect.name != "value" && aspect.name != "rank") object.Text(aspect.name, aspect.text(run));
  }
  if (run.primary) object.Number("value", run.primary->value).Text("metricKey", run.primary->MetricKey());
  object.Raw("rank", run.place ? std::to_string(run.place->rank) : "");
  object.Texts("notRankedBecause", run.reasons);
  return object.Done();
}

std::string CompareJson(const std::vector<RunRecord>& runs, const std::vector<std::string>& apart) {
  std::vector<std::string> differing;
  for (const Aspect& aspect : Aspects()) {
    if (aspect.compared && !AllEqual(TextsOf(aspect, runs))) differing.push_back(aspect.name);
  }
  std::vector<std::string> parts;
  for (const RunRecord& run : runs) parts.push_back(RunJson(run));
  return JsonObject()
      .Bool("comparable", apart.empty())
      .Texts("apart", apart)
      .Texts("differing", differing)
      .Raw("runs", JsonArray(parts))
      .Done();
}

}  // namespace

Result<Exit> Compare(Output& out, const Store& store, const CompareOptions& options) {
  if (options.ids.size() < kRunsMin || options.ids.size() > kRunsMax) {
    return Fail(UsageError("compare", fmt::format("{} runs given", options.ids.size()), "give 2 to 8 runs"));
  }
  std::vector<RunRecord> runs;
  for (const std::string& id : options.ids) {
    ETL_TRY(const Digest digest, ResolveObject(store, id, Kind::kBenchmarkRun));
    ETL_TRY(RunRecord record, LoadRun(store, digest));
    runs.push_back(std::move(record));
  }
  const std::vector<std::string> apart = Apart(runs);
  if (out.json()) {
    out.DataLine(CompareJson(runs, apart));
  } else {
    WriteTable(out, runs, apart);
  }
  return Exit::kDone;
}

}  // namespace etl::ctl
