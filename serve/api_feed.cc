// What happened lately, day by day: new records, runs taken in, runs taken back.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "model/json.h"
#include "model/json_writer.h"
#include "serve/api.h"
#include "serve/format.h"
#include "serve/run_json.h"
#include "serve/run_record.h"
#include "serve/run_texts.h"

namespace etl::serve {
namespace {

using json::ObjectWriter;

constexpr std::int64_t kPresetDays = 7;
constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::uint64_t kScannedMax = 50'000;  // the newest lines of the log that are looked at
constexpr std::size_t kEntriesMax = 200;       // records and corrections shown, the newest

struct Entry {
  std::string at, json;
};

// What a source brought in on a day.
struct Import {
  std::string at;
  std::uint64_t runs = 0, first_records = 0;
  std::set<Digest> operations;
  std::set<std::string> hardware;
};

// Lines of the log that an entry is made of.
struct Line {
  std::string at, source, json;
};

std::string MatchJson(std::string_view cohort, const Named& operation, const Named& project,
                      std::string_view gpu) {
  return Object([&](ObjectWriter& o) {
    o.Raw("cohort", TextOrNull(cohort)).Raw("operation", TextOrNull(operation.slug));
    o.Raw("projects", json::TextArray(std::vector<std::string>{project.slug})).Raw("gpu", TextOrNull(gpu));
    o.Raw("models", "[]");
  });
}

class Feed {
 public:
  Feed(const Ask& ask, const Catalogue& catalogue) : ask_(ask) {
    for (const GroupFacts& group : catalogue.groups) groups_[group.info.key] = &group;
  }

  Status Read(std::uint64_t after, Instant since) {
    ETL_CHECK_OK(ask_.store.ForEachChange(after, [&](const CommitInfo& commit, const Change& change) {
      if (commit.time < since) return true;
      const auto document = json::Document::Parse(change.json);
      if (document) Take(commit, change, document->root());
      return true;
    }));
    return {};
  }

  Result<std::string> Days() {
    std::map<std::string, std::vector<Entry>, std::greater<>> days;
    for (auto lines : {&records_, &corrections_}) {
      const std::size_t skipped = lines->size() > kEntriesMax ? lines->size() - kEntriesMax : 0;
      for (std::size_t i = skipped; i < lines->size(); ++i) {
        const Line& line = (*lines)[i];
        ETL_TRY(std::string json, lines == &records_ ? RecordEntry(line) : CorrectionEntry(line));
        if (!json.empty()) days[line.at.substr(0, 10)].push_back({line.at, std::move(json)});
      }
    }
    for (const auto& [key, import] : imports_)
      if (import.runs > 0) days[key.first].push_back({import.at, ImportEntry(key.second, import)});
    std::vector<std::string> values;
    for (auto& [date, entries] : days) {
      std::stable_sort(entries.begin(), entries.end(),
                       [](const Entry& a, const Entry& b) { return a.at > b.at; });
      std::vector<std::string> list;
      for (Entry& entry : entries) list.push_back(std::move(entry.json));
      values.push_back(Object(
          [&, &date = date](ObjectWriter& o) { o.Text("date", date).Raw("entries", ListJson(list)); }));
    }
    return ListJson(values);
  }

 private:
  void Take(const CommitInfo& commit, const Change& change, json::Value line) {
    const std::string at = commit.time.Text();
    const std::string_view what = line.Find("what").AsString();
    Import& import = imports_[{at.substr(0, 10), commit.source}];
    import.at = at;
    if (change.type == "record" && line.Find("op").AsString() == "set") {
      records_.push_back({at, commit.source, change.json});
      const auto key = ParseDigest(line.Find("group").AsString());
      const auto group = key ? groups_.find(*key) : groups_.end();
      if (group != groups_.end()) {
        import.operations.insert(group->second->info.operation);
        import.hardware.insert(group->second->environment->product);
      }
      if (line.Find("previous").IsAbsent()) ++import.first_records;
    } else if (change.type == "entry" && line.Find("kind").AsString() == "BenchmarkRun") {
      if (what == "new") ++import.runs;
      if (what == "retracted") corrections_.push_back({at, commit.source, change.json});
    }
  }

  // Empty for the first of a group, which took the record from nobody, and for one that does not stand any
  // more.
  Result<std::string> RecordEntry(const Line& line) {
    const auto document = json::Document::Parse(line.json);
    const auto key = ParseDigest(document->root().Find("group").AsString());
    const auto digest = ParseDigest(document->root().Find("digest").AsString());
    const auto found = key ? groups_.find(*key) : groups_.end();
    if (!digest || found == groups_.end()) return std::string();
    const GroupFacts& group = *found->second;
    ETL_TRY(const std::vector<RecordStep> steps, ask_.store.GetRecords(group.info));
    const auto step =
        std::find_if(steps.begin(), steps.end(), [&](const RecordStep& s) { return s.digest == *digest; });
    if (step == steps.end() || step == steps.begin()) return std::string();
    ETL_TRY(const RunRecord run, LoadRun(ask_.store, *digest));
    const Named author = ImplementationNamed(run.implementation);
    const RecordStep& before = *(step - 1);
    ETL_TRY(const RunRecord holder, LoadRun(ask_.store, before.digest));
    const std::string previous = Object([&](ObjectWriter& o) {
      o.Raw("implementation", NamedJson(ImplementationNamed(holder.implementation)));
      o.Raw("value", PrimaryJson(holder.primary));
    });
    return Object([&](ObjectWriter& o) {
      o.Text("at", line.at);
      o.Raw("match",
            MatchJson(group.info.key.Text(), group.operation->named, author, group.environment->slug));
      o.Text("kind", "record").Text("runId", RunId(*digest));
      o.Raw("operation", NamedJson(group.operation->named)).Text("workloadId", RunId(group.info.workload));
      o.Text("workloadSummary", WorkloadText(run.workload)).Text("hardware", group.environment->product);
      o.Raw("implementation", NamedJson(author)).Raw("project", NamedJson(author));
      o.Raw("value", PrimaryJson(run.primary)).Raw("previous", previous);
      o.Number("improvementPct", (before.value - step->value) / before.value * 100);
      o.Text("cohortKey", group.info.key.Text());
    });
  }

  Result<std::string> CorrectionEntry(const Line& line) {
    const auto document = json::Document::Parse(line.json);
    const json::Value change = document->root();
    const EntryName name{line.source, std::string(change.Find("externalId").AsString()),
                         std::string(change.Find("scope").AsString())};
    ETL_TRY(const std::vector<Version> versions, ask_.store.GetVersions(name, Kind::kBenchmarkRun));
    std::optional<Digest> digest;  // of the run that it was
    for (const Version& version : versions)
      if (version.digest) digest = version.digest;
    if (!digest) return std::string();
    ETL_TRY(const RunRecord run, LoadRun(ask_.store, *digest));
    std::string reason;
    for (const json::Value code : change.Find("reasons").elements())
      reason.append(reason.empty() ? "" : ", ").append(code.AsString());
    const Named author = ImplementationNamed(run.implementation), operation = OperationNamed(run);
    return Object([&](ObjectWriter& o) {
      o.Text("at", line.at);
      o.Raw("match", MatchJson(run.group ? run.group->key.Text() : "", operation, author, ""));
      o.Text("kind", "correction").Text("runId", RunId(*digest)).Text("action", "retracted");
      o.Raw("reason", TextOrNull(reason)).Raw("operation", NamedJson(operation));
      o.Raw("implementation", NamedJson(author));
    });
  }

  static std::string ImportEntry(const std::string& source, const Import& import) {
    return Object([&](ObjectWriter& o) {
      o.Text("at", import.at);
      o.Raw("match", R"({"cohort":null,"operation":null,"projects":[],"gpu":null,"models":[]})");
      o.Text("kind", "import");
      o.Raw("source", NamedJson({SourceTitle(source), source})).Count("runs", import.runs);
      o.Count("firstRecords", import.first_records).Count("operations", import.operations.size());
      o.Raw("hardware", json::TextArray(import.hardware));
    });
  }

  const Ask& ask_;
  std::map<Digest, const GroupFacts*> groups_;
  std::vector<Line> records_, corrections_;
  std::map<std::pair<std::string, std::string>, Import> imports_;  // by day and source
};

}  // namespace

Result<Response> GetFeed(const Ask& ask) {
  Instant since{ask.at().ms - kPresetDays * kDayMs};
  if (const auto text = ask.request.Param("since")) {
    const auto at = ParseSourceInstant(*text);
    if (!at)
      return Fail(Errc::kInvalid, "SINCE", "since", "this is no instant",
                  "give one like 2026-08-18T18:15:52Z");
    since = *at;
  }
  ETL_TRY(const auto catalogue, ask.cache.For(ask.store));
  const std::uint64_t newest = ask.store.sequence();
  Feed feed(ask, *catalogue);
  ETL_CHECK_OK(feed.Read(newest > kScannedMax ? newest - kScannedMax : 0, since));
  ETL_TRY(const std::string days, feed.Days());
  return JsonAnswer(Object([&](ObjectWriter& o) {
    o.Bool("illustrative", false).Raw("days", days).Text("generatedAt", ask.at().Text());
  }));
}

}  // namespace etl::serve
