#include "etlctl/version_out.h"

#include <spdlog/fmt/fmt.h>

#include "etlctl/format.h"
#include "etlctl/json_out.h"
#include "etlctl/run_record.h"

namespace etl::ctl {
namespace {

std::string RangeText(const Locator& locator) {
  return fmt::format("{} to {} ({} bytes)", locator.offset, locator.offset + locator.bytes,
                     FormatCount(locator.bytes));
}

Style StyleOf(const Version& version) {
  switch (version.state) {
    case EntryState::kPassed:
      return Style::kGood;
    case EntryState::kPending:
      return Style::kWarning;
    case EntryState::kExcluded:
      return Style::kBad;
  }
  return Style::kPlain;
}

}  // namespace

std::string VersionJson(const Version& version) {
  JsonObject object;
  object.Count("version", version.version).Text("state", EntryStateName(version.state));
  object.Texts("reasons", version.reasons).Maybe("digest", version.digest).Raw("metadata", version.metadata);
  object.Maybe("contentDigest", version.content).Bool("late", version.late);
  object.Count("sequence", version.sequence).Count("snapshotSequence", version.from);
  object.Text("capturedAt", version.captured_at).Text("seenAt", version.seen_at);
  object.Raw(
      "locator",
      JsonObject().Count("offset", version.locator.offset).Count("bytes", version.locator.bytes).Done());
  return object.Done();
}

std::string ProvenanceJson(const Version& version, const CommitInfo& commit) {
  JsonObject object;
  object.Maybe("snapshot", commit.snapshot).Text("request", commit.request).Text("origin", commit.origin);
  object.Text("capturedAt", commit.captured_at)
      .Text("adapter", commit.adapter)
      .Text("context", commit.context);
  object.Count("offset", version.locator.offset).Count("bytes", version.locator.bytes);
  object.Text("epoch", commit.epoch)
      .Count("sequence", version.sequence)
      .Count("snapshotSequence", commit.last);
  object.Text("committedAt", commit.time);
  return object.Done();
}

void WriteProvenance(Output& out, const Version& version, const CommitInfo& commit) {
  out.DataLine("");
  out.DataLine(out.Styled("Provenance", Style::kBold));
  Fields fields;
  if (commit.snapshot) fields.Add("snapshot", commit.snapshot->Text());
  fields.Add("request", commit.request);
  fields.Add("origin", commit.origin);
  fields.Add("bytes", RangeText(version.locator));
  fields.Add("captured", commit.captured_at.Text());
  fields.Add("adapter", commit.adapter);
  fields.AddUnlessEmpty("read with", commit.context);
  fields.Add("commit", fmt::format("{}:{} at {}", commit.epoch, version.sequence, commit.time.Text()));
  fields.Write(out, "  ");
}

void WriteVersions(Output& out, const std::vector<Version>& versions) {
  out.DataLine("");
  out.DataLine(out.Styled("Versions", Style::kBold));
  Table table({{"VERSION", Align::kRight},
               {"STATE", Align::kLeft},
               {"CAPTURED", Align::kLeft},
               {"LAST SEEN", Align::kLeft},
               {"SEQUENCE", Align::kRight},
               {"DIGEST", Align::kLeft}});
  for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
    const std::string late = version->late ? " (late)" : "";
    table.Add({std::to_string(version->version), Cell(StateText(*version) + late, StyleOf(*version)),
               version->captured_at.Text(), version->seen_at.Text(), std::to_string(version->sequence),
               version->digest ? version->digest->Text() : std::string("–")});
  }
  table.Write(out);
}

}  // namespace etl::ctl
