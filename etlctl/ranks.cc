#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "etlctl/commands.h"
#include "etlctl/escape.h"
#include "etlctl/format.h"
#include "etlctl/json_out.h"
#include "etlctl/page.h"
#include "etlctl/resolve.h"
#include "etlctl/run_record.h"

namespace etl::ctl {
namespace {

constexpr std::uint64_t kPageLines = 1000;

// The digests that a kernel's operation has now (or had then), or ever had.
Result<std::set<Digest>> OperationsOf(const Store& store, const RanksOptions& options, AsOf as_of) {
  ETL_TRY(const std::vector<EntryName> names,
          FindNamed(store, options.source, options.kernel, Kind::kOperationSpec));
  if (names.empty()) {
    return Fail(Errc::kNotFound, "KERNEL_NOT_FOUND", options.kernel,
                "no source of this store has a kernel of this name",
                "give the kernel's full name at the source");
  }
  std::set<Digest> digests;
  for (const EntryName& name : names) {
    if (options.all_versions) {
      ETL_TRY(const std::vector<Version> versions, store.GetVersions(name, Kind::kOperationSpec));
      for (const Version& version : versions) {
        if (version.digest) digests.insert(*version.digest);
      }
      continue;
    }
    const auto states = store.GetEntry(name, as_of);
    if (!states && states.error().errc == Errc::kNotFound) continue;  // not there yet, as of then
    if (!states) return Fail(states.error());
    const auto found = states->find(Kind::kOperationSpec);
    if (found != states->end() && found->second.digest) digests.insert(*found->second.digest);
  }
  return digests;
}

Result<AsOf> AsOfFrom(const Store& store, const std::string& text) {
  if (text.empty()) return AsOf{};
  return store.ResolveAsOf(text);
}

struct GroupTexts {
  std::string kernel, protocol, environment;
};

// Kernels with equal definitions share a group; the one that was asked for names it.
Result<GroupTexts> TextsOf(const Store& store, const GroupInfo& group, const std::string& asked) {
  ETL_TRY(const Loaded operation, LoadManifest(store, group.operation));
  ETL_TRY(const Loaded protocol, LoadManifest(store, group.protocol));
  ETL_TRY(const Loaded environment, LoadManifest(store, group.environment));
  GroupTexts texts;
  texts.kernel = asked.empty() ? operation.external_id : asked;
  if (const auto* spec = std::get_if<BenchmarkProtocol>(&protocol.manifest.spec))
    texts.protocol = HarnessText(*spec);
  if (const auto* spec = std::get_if<ExecutionEnvironment>(&environment.manifest.spec)) {
    texts.environment = HardwareText(*spec);
  }
  return texts;
}

std::string GroupHead(const GroupInfo& group, const GroupTexts& texts) {
  return JsonObject()
      .Text("comparisonKey", group.key)
      .Text("profile", group.profile)
      .Text("metricKey", group.metric_key)
      .Text("kernel", texts.kernel)
      .Text("protocol", texts.protocol)
      .Text("environment", texts.environment)
      .Text("operationDigest", group.operation)
      .Text("workloadDigest", group.workload)
      .Text("protocolDigest", group.protocol)
      .Text("environmentDigest", group.environment)
      .Done();
}

void WriteGroupTitle(Output& out, const GroupInfo& group, const GroupTexts& texts, std::string_view tail) {
  out.DataLine(out.Styled(Safe(texts.kernel), Style::kBold) + "  " + Safe(texts.environment) + "  " +
               Safe(texts.protocol));
  out.DataLine(out.Styled(group.key.Text() + "  " + Safe(group.metric_key) + "  " +
                              ProfileText(group.profile) + "  " + std::string(tail),
                          Style::kDim));
}

struct Standings {
  Output& out;
  const Store& store;
  const RanksOptions& options;
  AsOf as_of;
};

std::string LineJson(const StandingLine& line, const std::string& user, double best) {
  return JsonObject()
      .Count("rank", line.rank)
      .Number("value", line.contender.value)
      .Number("gap", best > 0 ? line.contender.value / best - 1 : 0)
      .Text("user", user)
      .Text("source", line.source)
      .Text("externalId", line.external_id)
      .Text("observedAt", line.contender.observed_at)
      .Text("digest", line.contender.digest)
      .Count("since", line.since)
      .Done();
}

// Members of a group in pages, best first, at most `top` of them.
Status ForEachLine(const Standings& s, const GroupInfo& group,
                   const std::function<Status(const StandingLine&, const std::string& user)>& visit) {
  const std::uint64_t wanted = s.options.top == 0 ? UINT64_MAX : s.options.top;
  for (std::uint64_t offset = 0; offset < wanted;) {
    ETL_TRY(const auto lines,
            s.store.GetStanding(group, offset, std::min(kPageLines, wanted - offset), s.as_of));
    for (const StandingLine& line : lines) {
      ETL_TRY(const std::string user, AuthorOfEntry(s.store, {line.source, line.external_id, ""}));
      ETL_CHECK_OK(visit(line, user));
    }
    offset += lines.size();
    if (lines.empty()) break;
  }
  return {};
}

// `{"group": {...}, "standing": [...]}` as it comes, without holding the standing.
Status WriteGroupJson(const Standings& s, const GroupInfo& group, const GroupTexts& texts) {
  s.out.Data("{\"group\":" + GroupHead(group, texts) + ",\"standing\":[");
  double best = 0;
  bool first = true;
  ETL_CHECK_OK(ForEachLine(s, group, [&](const StandingLine& line, const std::string& user) -> Status {
    if (first) best = line.contender.value;
    s.out.Data(first ? "" : ",");
    s.out.Data(LineJson(line, user, best));
    first = false;
    return {};
  }));
  s.out.Data("]}");
  return {};
}

Status WriteGroupTable(const Standings& s, const GroupInfo& group, const GroupTexts& texts) {
  Table table({{"RANK", Align::kRight},
               {"VALUE", Align::kRight},
               {"GAP", Align::kRight},
               {"USER", Align::kLeft},
               {"EXTERNAL ID", Align::kLeft},
               {"OBSERVED", Align::kLeft},
               {"RUN", Align::kLeft}});
  double best = 0;
  ETL_CHECK_OK(ForEachLine(s, group, [&](const StandingLine& line, const std::string& user) -> Status {
    if (table.size() == 0) best = line.contender.value;
    const Style style = line.rank == 1 ? Style::kGood : Style::kPlain;
    table.Add({Cell(std::to_string(line.rank), style),
               FormatValue(line.contender.value, UnitOf(group.metric_key)),
               FormatGap(line.contender.value, best), user, line.external_id,
               FormatDay(line.contender.observed_at), ShortId(line.contender.digest)});
    return {};
  }));
  const std::string shown = FormatCount(table.size());
  WriteGroupTitle(s.out, group, texts,
                  s.as_of.now() && group.members > table.size()
                      ? shown + " of " + FormatCount(group.members) + " runs"
                      : shown + (table.size() == 1 ? " run" : " runs"));
  table.Write(s.out);
  return {};
}

Error NoGroups(const RanksOptions& options) {
  return Error{Errc::kNotFound, "NO_GROUPS", options.kernel,
               "the kernel is there, but no run of it was ever ranked",
               options.all_versions ? "" : "try --all for the groups of its earlier versions"};
}

void AppendRecordRow(ListWriter& list, const GroupInfo& group, const GroupTexts& texts,
                     const RecordStep& step, const std::string& user) {
  JsonObject object;
  object.Text("at", step.at).Text("comparisonKey", group.key).Text("kernel", texts.kernel);
  object.Text("environment", texts.environment).Text("protocol", texts.protocol);
  object.Number("value", step.value).Text("metricKey", group.metric_key).Text("user", user);
  object.Text("source", step.source).Text("externalId", step.external_id).Text("digest", step.digest);
  object.Maybe("previous", step.previous);
  list.Add(object.Done(), {step.at.Text(), FormatValue(step.value, UnitOf(group.metric_key)), user,
                           step.external_id, step.previous.value_or("–"), texts.kernel, texts.environment,
                           texts.protocol, ShortId(group.key, 8)});
}

}  // namespace

Result<std::vector<GroupInfo>> SelectGroups(const Store& store, const RanksOptions& options, AsOf as_of) {
  std::vector<GroupInfo> groups;
  if (!options.group.empty()) {
    ETL_TRY(GroupInfo group, ResolveGroup(store, options.group));
    groups.push_back(std::move(group));
    return groups;
  }
  std::set<Digest> operations;
  const bool every = options.kernel.empty();
  if (!every) {
    ETL_TRY(operations, OperationsOf(store, options, as_of));
  }
  ETL_CHECK_OK(store.ForEachGroup([&](const GroupInfo& group) {
    if (every || operations.contains(group.operation)) groups.push_back(group);
    return true;
  }));
  std::stable_sort(groups.begin(), groups.end(),
                   [](const GroupInfo& a, const GroupInfo& b) { return a.members > b.members; });
  return groups;
}

Result<Exit> Ranks(Output& out, const Store& store, const RanksOptions& options) {
  ETL_TRY(const AsOf as_of, AsOfFrom(store, options.as_of));
  ETL_TRY(const std::vector<GroupInfo> groups, SelectGroups(store, options, as_of));
  if (groups.empty()) return Fail(NoGroups(options));
  const Standings standings{out, store, options, as_of};
  if (out.format() == Format::kJson) out.Data("{\"groups\":[");
  bool first = true;
  for (const GroupInfo& group : groups) {
    ETL_TRY(const GroupTexts texts, TextsOf(store, group, options.kernel));
    if (out.json()) {
      if (!first && out.format() == Format::kJson) out.Data(",");
      ETL_CHECK_OK(WriteGroupJson(standings, group, texts));
      if (out.format() == Format::kJsonl) out.Data("\n");
    } else {
      if (!first) out.DataLine("");
      ETL_CHECK_OK(WriteGroupTable(standings, group, texts));
    }
    first = false;
  }
  if (out.format() == Format::kJson) out.DataLine("]}");
  return Exit::kDone;
}

Result<Exit> Records(Output& out, const Store& store, const RanksOptions& options) {
  ETL_TRY(const AsOf as_of, AsOfFrom(store, options.as_of));
  ETL_TRY(const std::vector<GroupInfo> groups, SelectGroups(store, options, as_of));
  struct Row {
    RecordStep step;
    std::size_t group;
  };
  std::vector<Row> rows;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    ETL_TRY(std::vector<RecordStep> steps, store.GetRecords(groups[i], as_of));
    for (RecordStep& step : steps) rows.push_back({std::move(step), i});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.step.at != b.step.at ? a.step.at > b.step.at : a.step.digest < b.step.digest;
  });
  if (options.top != 0 && rows.size() > options.top) rows.resize(options.top);
  std::vector<std::optional<GroupTexts>> texts(groups.size());
  ListWriter list(out, "records",
                  {{"AT"},
                   {"VALUE", Align::kRight},
                   {"USER"},
                   {"EXTERNAL ID"},
                   {"TAKEN FROM"},
                   {"KERNEL"},
                   {"ENVIRONMENT"},
                   {"PROTOCOL"},
                   {"GROUP"}});
  for (const Row& row : rows) {
    const GroupInfo& group = groups[row.group];
    if (!texts[row.group]) {
      ETL_TRY(texts[row.group], TextsOf(store, group, options.kernel));
    }
    ETL_TRY(const std::string user, AuthorOfEntry(store, {row.step.source, row.step.external_id, ""}));
    AppendRecordRow(list, group, *texts[row.group], row.step, user);
  }
  list.Finish("", "no record was ever set here");
  return Exit::kDone;
}

}  // namespace etl::ctl
