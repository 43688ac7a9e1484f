#include "store/record.h"

#include <utility>

#include "model/json_writer.h"
#include "store/printable.h"
#include "store/record_reader.h"

namespace etl {
namespace {

using json::ObjectWriter;
using json::Value;
using Reader = RecordReader;

// The text of a value that was stored as JSON inside JSON.
std::string Source(std::string_view text, Value value) {
  return std::string(text.substr(value.begin_offset(), value.end_offset() - value.begin_offset()));
}

// Where and when a version was seen: what the kinds of one row have in common.
void AppendPlace(ObjectWriter& w, const Version& v) {
  w.Count("sequence", v.sequence);
  if (v.from != v.sequence) w.Count("from", v.from);
  w.Raw("at", "[" + std::to_string(v.locator.offset) + "," + std::to_string(v.locator.bytes) + "]");
  w.Integer("capturedAt", v.captured_at.ms);
  if (v.context_at.ms != 0) w.Integer("contextAt", v.context_at.ms);
  if (v.seen_at != v.captured_at) w.Integer("seenAt", v.seen_at.ms);
}

bool SamePlace(const Version& a, const Version& b) {
  return a.sequence == b.sequence && a.from == b.from && a.locator.offset == b.locator.offset &&
         a.locator.bytes == b.locator.bytes && a.captured_at == b.captured_at &&
         a.context_at == b.context_at && a.seen_at == b.seen_at;
}

void AppendState(ObjectWriter& w, const Version& v) {
  if (v.version != 1) w.Count("version", v.version);
  if (v.state != EntryState::kPassed) w.Text("state", EntryStateName(v.state));
  if (!v.reasons.empty()) w.Raw("reasons", json::TextArray(v.reasons));
  if (v.digest) w.Text("digest", v.digest->Text());
  if (!v.metadata.empty()) w.Raw("metadata", v.metadata);
  if (v.content) w.Text("content", v.content->Text());
  if (v.late) w.Bool("late", true);
  if (v.major != 0) w.Count("major", v.major);
  if (v.ranked) {
    const Contender& c = v.ranked->contender;
    w.Count("group", v.ranked->group).Number("value", c.value).Integer("observedAt", c.observed_at.ms);
    if (c.evidence != EvidenceLevel::kReported) w.Count("evidence", static_cast<std::uint64_t>(c.evidence));
    if (c.low) w.Number("low", *c.low);
    if (c.high) w.Number("high", *c.high);
  }
}

void ReadPlace(Reader& r, Version& v) {
  v.sequence = r.Count("sequence");
  v.from = r.CountOr("from", v.sequence);
  const Value at = r.At("at");
  if (at.size() != 2) r.Bad("at");
  std::uint64_t place[2] = {0, 0};
  std::size_t i = 0;
  for (const Value n : at.elements()) {
    if (i < 2) place[i++] = static_cast<std::uint64_t>(n.AsInt64().value_or(0));
  }
  v.locator = {place[0], place[1]};
  v.captured_at = r.Time("capturedAt");
  v.context_at = r.TimeOr("contextAt", Instant{});
  v.seen_at = r.TimeOr("seenAt", v.captured_at);
}

// `shared` gives the place of a version that does not state its own.
Result<Version> ReadVersion(std::string_view key, std::string_view text, Value object,
                            const Version* shared) {
  Reader r(key, object);
  Version v;
  if (shared != nullptr) v = *shared;
  if (shared == nullptr || r.At("sequence")) ReadPlace(r, v);
  v.version = r.At("version") ? r.Count32("version") : 1;
  const auto state = ParseEntryState(r.TextOr("state", "passed"));
  if (!state) r.Bad("state");
  v.state = state.value_or(EntryState::kPassed);
  for (const Value reason : r.At("reasons").elements()) v.reasons.emplace_back(reason.AsString());
  v.digest = r.OptionalHash("digest");
  if (const Value metadata = r.At("metadata")) v.metadata = Source(text, metadata);
  v.content = r.OptionalHash("content");
  v.late = r.Bool("late");
  v.major = r.CountOr("major", 0);
  if (r.At("group")) {
    Version::Ranked ranked;
    ranked.group = r.Count32("group");
    ranked.contender.value = r.Number("value");
    ranked.contender.observed_at = r.Time("observedAt");
    ranked.contender.evidence = static_cast<EvidenceLevel>(r.CountOr("evidence", 0) & 3);
    ranked.contender.low = r.OptionalNumber("low");
    ranked.contender.high = r.OptionalNumber("high");
    if (v.digest) ranked.contender.digest = *v.digest;
    v.ranked = ranked;
  }
  return r.Done(std::move(v));
}

}  // namespace

Error Unreadable(std::string_view key, std::string_view what) {
  return {Errc::kCorrupt, "RECORD_UNREADABLE", "key " + PrintableKey(key),
          "the stored value is not as its key says: " + std::string(what),
          "run `etlctl verify`; restore a backup, or rebuild from the stored snapshots"};
}

std::string EncodeBundle(const Bundle& bundle) {
  std::string out;
  out.reserve(768);
  ObjectWriter w(out);
  const Version& first = bundle.begin()->second.newest;
  AppendPlace(w, first);
  for (const auto& [kind, state] : bundle) {
    std::string text;
    ObjectWriter k(text);
    if (!SamePlace(first, state.newest)) AppendPlace(k, state.newest);
    if (state.versions != state.newest.version) k.Count("versions", state.versions);
    AppendState(k, state.newest);
    k.End();
    w.Raw(KindName(kind), text);
  }
  w.End();
  return out;
}

Result<Bundle> DecodeBundle(std::string_view key, std::string_view value) {
  ETL_TRY(const auto document, ParseStored(key, value));
  Reader top(key, document.root());
  Version shared;
  ReadPlace(top, shared);
  ETL_TRY(shared, top.Done(std::move(shared)));
  Bundle bundle;
  for (const auto& [name, object] : document.root().members()) {
    if (!object.IsObject()) continue;  // a part of the shared place
    const auto kind = ParseKind(name);
    if (!kind) return Fail(Unreadable(key, "kind"));
    Reader r(key, object);
    KindState state;
    ETL_TRY(state.newest, ReadVersion(key, value, object, &shared));
    state.versions = object.Find("versions") ? r.Count32("versions") : state.newest.version;
    ETL_TRY(bundle[*kind], r.Done(std::move(state)));
  }
  if (bundle.empty()) return Fail(Unreadable(key, "no kinds"));
  return bundle;
}

std::string EncodeVersion(const Version& version) {
  std::string out;
  ObjectWriter w(out);
  AppendPlace(w, version);
  AppendState(w, version);
  w.End();
  return out;
}

Result<Version> DecodeVersion(std::string_view key, std::string_view value) {
  ETL_TRY(const auto document, ParseStored(key, value));
  return ReadVersion(key, value, document.root(), nullptr);
}

std::string EncodeObject(const EntryName& first, std::uint64_t sequence, std::string_view identity) {
  std::string out;
  out.reserve(identity.size() + 160);
  ObjectWriter w(out);
  w.Count("sequence", sequence).Text("source", first.source).Text("externalId", first.external_id);
  if (!first.scope.empty()) w.Text("scope", first.scope);
  w.Raw("object", identity).End();
  return out;
}

Result<ObjectRecord> DecodeObject(std::string_view key, std::string_view value) {
  ETL_TRY(const auto document, ParseStored(key, value));
  return ReadObject(key, value, document.root());
}

Result<ObjectRecord> ReadObject(std::string_view key, std::string_view value, Value root) {
  Reader r(key, root);
  ObjectRecord record;
  record.sequence = r.Count("sequence");
  record.first = {r.Text("source"), r.Text("externalId"), r.TextOr("scope", "")};
  const Value object = r.At("object");
  const auto kind = ParseKind(object.Find("kind").AsString());
  if (!object.IsObject() || !kind) return Fail(Unreadable(key, "object"));
  record.kind = *kind;
  record.identity = Source(value, object);
  return r.Done(std::move(record));
}

std::string EncodeCommit(const CommitInfo& c, const std::vector<Change>& changes) {
  std::string out;
  ObjectWriter w(out);
  w.Count("first", c.first).Count("last", c.last).Text("epoch", c.epoch).Integer("time", c.time.ms);
  w.Text("source", c.source).Text("request", c.request).Text("origin", c.origin).Text("adapter", c.adapter);
  if (!c.context.empty()) w.Text("context", c.context);
  if (c.snapshot) w.Text("snapshot", c.snapshot->Text());
  w.Integer("capturedAt", c.captured_at.ms);
  if (c.refused) w.Bool("refused", true);
  if (c.rederived_from) w.Count("rederivedFrom", *c.rederived_from);
  if (c.decided) w.Bool("decided", true);
  if (!c.confirmed.empty()) {
    std::string confirmed = "[";
    for (const ConfirmedAnswer& answer : c.confirmed) {
      if (confirmed.size() > 1) confirmed += ',';
      ObjectWriter a(confirmed);
      a.Text("request", answer.request)
          .Text("snapshot", answer.snapshot.Text())
          .Integer("at", answer.at.ms)
          .End();
    }
    w.Raw("confirmed", confirmed + "]");
  }
  std::string lines = "[";
  for (const auto& change : changes) lines.append(lines.size() > 1 ? ",\n" : "").append(change.json);
  w.Raw("changes", lines + "]").End();
  return out;
}

Result<CommitInfo> DecodeCommit(std::string_view key, std::string_view value, std::vector<Change>* changes) {
  ETL_TRY(const auto document, ParseStored(key, value));
  Reader r(key, document.root());
  CommitInfo c;
  c.first = r.Count("first");
  c.last = r.Count("last");
  c.epoch = r.Text("epoch");
  c.time = r.Time("time");
  c.source = r.Text("source");
  c.request = r.Text("request");
  c.origin = r.Text("origin");
  c.adapter = r.Text("adapter");
  c.context = r.TextOr("context", "");
  c.snapshot = r.OptionalHash("snapshot");
  c.captured_at = r.Time("capturedAt");
  c.refused = r.Bool("refused");
  if (r.At("rederivedFrom")) c.rederived_from = r.Count("rederivedFrom");
  c.decided = r.Bool("decided");
  for (const Value answer : r.At("confirmed").elements()) {
    Reader a(key, answer);
    ConfirmedAnswer confirmed{a.Text("request"), a.Hash("snapshot"), a.Time("at")};
    ETL_TRY(confirmed, a.Done(std::move(confirmed)));
    c.confirmed.push_back(std::move(confirmed));
  }
  const Value lines = r.At("changes");
  if (!lines.IsArray() || c.last < c.first || lines.size() != c.last - c.first + 1) r.Bad("changes");
  if (changes != nullptr) {
    std::uint64_t sequence = c.first;
    for (const Value line : lines.elements())
      changes->push_back({sequence++, std::string(line.Find("type").AsString()), Source(value, line)});
  }
  return r.Done(std::move(c));
}

std::string EncodeGroup(const GroupInfo& g) {
  std::string out;
  ObjectWriter w(out);
  w.Count("number", g.number).Text("profile", g.profile).Text("operation", g.operation.Text());
  w.Text("workload", g.workload.Text()).Text("protocol", g.protocol.Text());
  w.Text("environment", g.environment.Text()).Text("correctness", g.correctness.Text());
  w.Text("metric", g.metric_key).End();
  return out;
}

Result<GroupInfo> DecodeGroup(std::string_view key, std::string_view value) {
  if (key.size() != 33) return Fail(Unreadable(key, "key"));
  ETL_TRY(const auto document, ParseStored(key, value));
  Reader r(key, document.root());
  GroupInfo g;
  g.key = Digest::FromBytes(key.substr(1));
  g.number = r.Count32("number");
  g.profile = r.Text("profile");
  g.operation = r.Hash("operation");
  g.workload = r.Hash("workload");
  g.protocol = r.Hash("protocol");
  g.environment = r.Hash("environment");
  g.correctness = r.Hash("correctness");
  g.metric_key = r.Text("metric");
  return r.Done(std::move(g));
}

std::string EncodeRoot(const StandingRoot& root) {
  std::string out;
  ObjectWriter w(out);
  w.Count("root", root.root).Count("next", root.next_node).Count("height", root.height);
  w.Count("count", root.count).Count("distinct", root.distinct).End();
  return out;
}

Result<StandingRoot> DecodeRoot(std::string_view key, std::string_view value) {
  ETL_TRY(const auto document, ParseStored(key, value));
  Reader r(key, document.root());
  StandingRoot root;
  root.root = r.Count("root");
  root.next_node = r.Count("next");
  root.height = r.Count32("height");
  root.count = r.Count("count");
  root.distinct = r.Count("distinct");
  return r.Done(root);
}

std::string EncodeMember(const StandingMember& m) {
  std::string out;
  ObjectWriter w(out);
  w.Text("source", m.source).Text("externalId", m.external_id).Count("since", m.since);
  w.Number("value", m.contender.value).Integer("observedAt", m.contender.observed_at.ms);
  w.Count("evidence", static_cast<std::uint64_t>(m.contender.evidence));
  if (m.contender.low) w.Number("low", *m.contender.low);
  if (m.contender.high) w.Number("high", *m.contender.high);
  w.End();
  return out;
}

Result<StandingMember> DecodeMember(std::string_view key, std::string_view value, const Digest& digest) {
  ETL_TRY(const auto document, ParseStored(key, value));
  Reader r(key, document.root());
  StandingMember m;
  m.source = r.Text("source");
  m.external_id = r.Text("externalId");
  m.since = r.Count("since");
  m.contender.value = r.Number("value");
  m.contender.observed_at = r.Time("observedAt");
  m.contender.evidence = static_cast<EvidenceLevel>(r.Count("evidence") & 3);
  m.contender.low = r.OptionalNumber("low");
  m.contender.high = r.OptionalNumber("high");
  m.contender.digest = digest;
  return r.Done(std::move(m));
}

}  // namespace etl
