#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "etlctl/commands.h"
#include "etlctl/escape.h"
#include "etlctl/format.h"
#include "etlctl/json_out.h"
#include "etlctl/page.h"
#include "etlctl/resolve.h"
#include "etlctl/run_record.h"
#include "etlctl/version_out.h"

namespace etl::ctl {
namespace {

std::string PrimaryJson(const PrimaryMeasurement& primary) {
  return JsonObject()
      .Text("metric", primary.metric)
      .Text("statistic", primary.statistic)
      .Text("unit", primary.unit)
      .Number("value", primary.value)
      .Done();
}

std::string GroupJson(const RunRecord& record) {
  const GroupInfo& group = *record.group;
  JsonObject object;
  object.Text("comparisonKey", group.key).Text("profile", group.profile).Text("metricKey", group.metric_key);
  object.Count("members", group.members);
  if (record.leader) {
    object.Raw("leader", JsonObject()
                             .Text("digest", record.leader->contender.digest)
                             .Text("externalId", record.leader->external_id)
                             .Number("value", record.leader->contender.value)
                             .Done());
  }
  return object.Done();
}

std::string RunJson(const RunRecord& record) {
  JsonObject object;
  object.Text("id", ShortId(record.run.digest, 32)).Text("digest", record.run.digest);
  object.Text("source", record.entry.source).Text("externalId", record.entry.external_id);
  object.Text("state", record.retracted() ? "retracted" : record.superseded() ? "superseded" : "passed");
  object.Maybe("supersededBy", record.newer);
  object.Texts("reasons", record.newest ? record.newest->reasons : std::vector<std::string>());
  object.Raw("primaryMeasurement", record.primary ? PrimaryJson(*record.primary) : "");
  object.Raw("rank", record.place ? std::to_string(record.place->rank) : "");
  object.Texts("notRankedBecause", record.reasons);
  object.Raw("group", record.group ? GroupJson(record) : "");
  object.Text("observedAt", record.spec().observed_at);
  object.Text("publishedAt", record.introduced.time);
  object.Text("kernel", record.Kernel()).Text("kernelTitle", TitleOf(record.Kernel()));
  object.Text("author", record.Author());
  object.Raw("provenance", ProvenanceJson(record.version, record.derived));
  std::vector<std::string> versions;
  for (const Version& version : record.versions) versions.push_back(VersionJson(version));
  object.Raw("versions", JsonArray(versions));
  object.Raw("manifest", record.run.text).Raw("implementation", record.implementation.text);
  object.Raw("protocol", record.protocol.text).Raw("environment", record.environment.text);
  object.Raw("workload", JsonObject()
                             .Text("digest", record.workload.digest)
                             .Text("externalId", record.workload.external_id)
                             .Text("text", WorkloadText(record.workload))
                             .Done());
  return object.Done();
}

std::string PlaceText(const RunRecord& record) {
  std::string text = RankText(record);
  if (record.group) text += fmt::format(" of {}", FormatCount(record.group->members));
  const auto& run = record.spec();
  return text + " · " + ProfileText(ProfileOf(run)) + " comparison · observed " + FormatDay(run.observed_at);
}

void WriteTable(Output& out, const RunRecord& record) {
  out.DataLine(
      out.Styled("Run " + ShortId(record.run.digest) + "  " + Safe(TitleOf(record.Kernel())), Style::kBold));
  for (const std::string& banner : Banners(record))
    out.DataLine(out.Styled("!! " + Safe(banner), Style::kBad));
  Fields fields;
  fields.Add("primary", Cell(PrimaryText(record), Style::kBold));
  fields.Add("rank", PlaceText(record));
  if (record.leader && record.place && record.place->rank > 1 && record.primary) {
    const Contender& best = record.leader->contender;
    fields.Add("leader", FormatValue(best.value, record.primary->unit) + " · " + record.leader->external_id +
                             " · " + ShortId(best.digest) + " · gap " +
                             FormatGap(record.primary->value, best.value));
  }
  fields.AddUnlessEmpty("metrics", SourceMetricsText(record.spec()));
  fields.AddUnlessEmpty("user", record.Author());
  fields.Add("kernel", record.Kernel());
  fields.Add("entry", record.entry.Text());
  fields.Add("digest", record.run.digest.Text());
  fields.Add("manifest digest", ManifestDigest(record.run.manifest).Text());
  if (record.group) fields.Add("group", record.group->key.Text());
  fields.Add("implementation", record.implementation.digest.Text());
  fields.Add("workload", record.workload.digest.Text() + "  " + WorkloadText(record.workload));
  fields.Add("protocol", record.protocol.digest.Text() + "  " +
                             HarnessText(std::get<BenchmarkProtocol>(record.protocol.manifest.spec)));
  fields.Add("environment",
             record.environment.digest.Text() + "  " +
                 HardwareText(std::get<ExecutionEnvironment>(record.environment.manifest.spec)));
  fields.Add("published", record.introduced.time.Text());
  fields.Write(out);
  WriteProvenance(out, record.version, record.derived);
  WriteVersions(out, record.versions);
}

}  // namespace

Result<Exit> GetRun(Output& out, const Store& store, Clock& clock, const GetOptions& options) {
  ETL_TRY(const Digest digest, ResolveObject(store, options.id, Kind::kBenchmarkRun));
  if (out.format() == Format::kManifest) {
    ETL_TRY(const std::string manifest, store.ManifestOf(digest));
    out.DataLine(manifest);
    return Exit::kDone;
  }
  ETL_TRY(const RunRecord record, LoadRun(store, digest));
  if (out.json()) {
    out.DataLine(RunJson(record));
  } else if (out.format() == Format::kPage) {
    out.Data(RenderPage(record, clock.Now()));
  } else {
    WriteTable(out, record);
  }
  return Exit::kDone;
}

}  // namespace etl::ctl
