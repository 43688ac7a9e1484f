// The small records beside entries and groups: requests, contexts, visits, quarantine, drift, gaps, and
// snapshot bodies.
#include <memory>

#include <zstd.h>

#include "model/json_writer.h"
#include "store/record.h"
#include "store/record_reader.h"

namespace etl {

using json::ObjectWriter;

std::string EncodeRequest(const RequestState& q) {
  std::string out;
  ObjectWriter w(out);
  w.Text("snapshot", q.snapshot.Text()).Integer("capturedAt", q.captured_at.ms);
  w.Integer("confirmedAt", q.confirmed_at.ms).Text("adapter", q.adapter);
  if (!q.context.empty()) w.Text("context", q.context);
  if (q.context_digest) w.Text("contextDigest", q.context_digest->Text());
  w.Count("sequence", q.sequence).Count("entries", q.entries).Count("runs", q.runs);
  w.Count("readAt", q.read_at);
  if (q.refused) w.Bool("refused", true);
  if (!q.etag.empty()) w.Text("etag", q.etag);
  if (!q.last_modified.empty()) w.Text("lastModified", q.last_modified);
  if (q.not_modified != 0) w.Count("notModified", q.not_modified);
  w.End();
  return out;
}

Result<RequestState> DecodeRequest(std::string_view key, std::string_view value) {
  ETL_TRY(const auto document, ParseStored(key, value));
  RecordReader r(key, document.root());
  RequestState q;
  q.snapshot = r.Hash("snapshot");
  q.captured_at = r.Time("capturedAt");
  q.confirmed_at = r.Time("confirmedAt");
  q.adapter = r.Text("adapter");
  q.context = r.TextOr("context", "");
  q.context_digest = r.OptionalHash("contextDigest");
  q.sequence = r.Count("sequence");
  q.entries = r.Count("entries");
  q.runs = r.Count("runs");
  q.read_at = r.Count("readAt");
  q.refused = r.Bool("refused");
  q.etag = r.TextOr("etag", "");
  q.last_modified = r.TextOr("lastModified", "");
  q.not_modified = r.CountOr("notModified", 0);
  return r.Done(std::move(q));
}

std::string EncodeContext(const ContextState& context) {
  std::string out;
  ObjectWriter w(out);
  w.Integer("capturedAt", context.captured_at.ms)
      .Integer("seenAt", context.seen_at.ms)
      .Count("sequence", context.sequence);
  w.Text("value", context.value).End();
  return out;
}

Result<ContextState> DecodeContext(std::string_view key, std::string_view value) {
  ETL_TRY(const auto document, ParseStored(key, value));
  RecordReader r(key, document.root());
  ContextState context;
  context.captured_at = r.Time("capturedAt");
  context.seen_at = r.Time("seenAt");
  context.sequence = r.Count("sequence");
  context.value = r.Text("value");
  return r.Done(std::move(context));
}

std::string EncodeCursor(std::string_view value, Instant captured_at) {
  std::string out;
  ObjectWriter(out).Integer("capturedAt", captured_at.ms).Text("value", value).End();
  return out;
}

Result<std::pair<std::string, Instant>> DecodeCursor(std::string_view key, std::string_view value) {
  ETL_TRY(const auto document, ParseStored(key, value));
  RecordReader r(key, document.root());
  const Instant at = r.Time("capturedAt");
  return r.Done(std::pair<std::string, Instant>(r.Text("value"), at));
}

std::string EncodeVisit(const VisitState& visit) {
  std::string out;
  ObjectWriter w(out);
  w.Text("origin", visit.origin).Text("state", visit.state).Integer("startedAt", visit.started_at.ms);
  w.Integer("finishedAt", visit.finished_at.ms).Text("summary", visit.summary);
  if (!visit.goal.empty()) w.Text("goal", visit.goal);
  if (visit.clock_at.ms != 0) w.Integer("clockAt", visit.clock_at.ms);
  w.End();
  return out;
}

Result<VisitState> DecodeVisit(std::string_view key, std::string_view value) {
  ETL_TRY(const auto document, ParseStored(key, value));
  RecordReader r(key, document.root());
  VisitState visit;
  visit.origin = r.Text("origin");
  visit.state = r.Text("state");
  visit.started_at = r.Time("startedAt");
  visit.finished_at = r.Time("finishedAt");
  visit.summary = r.Text("summary");
  visit.goal = r.TextOr("goal", "");
  visit.clock_at = r.TimeOr("clockAt", Instant{});
  return r.Done(std::move(visit));
}

std::string EncodeQuarantine(const QuarantineItem& item) {
  std::string out;
  ObjectWriter w(out);
  w.Text("source", item.source).Text("code", item.code).Text("where", item.where).Text("what", item.what);
  w.Text("fix", item.fix).Text("bytesDigest", item.bytes_digest.Text()).Count("bytes", item.bytes);
  w.Count("sequence", item.sequence).Integer("firstSeen", item.first_seen.ms);
  w.Integer("lastSeen", item.last_seen.ms);
  if (item.decision) w.Raw("decision", DecisionText(*item.decision));
  w.End();
  return out;
}

Result<QuarantineItem> DecodeQuarantine(std::string_view key, std::string_view value) {
  if (key.size() < 34) return Fail(Unreadable(key, "key"));
  ETL_TRY(const auto document, ParseStored(key, value));
  RecordReader r(key, document.root());
  QuarantineItem item;
  item.id = Digest::FromBytes(key.substr(key.size() - 32));
  item.source = r.Text("source");
  item.code = r.Text("code");
  item.where = r.Text("where");
  item.what = r.Text("what");
  item.fix = r.Text("fix");
  item.bytes_digest = r.Hash("bytesDigest");
  item.bytes = r.Count("bytes");
  item.sequence = r.Count("sequence");
  item.first_seen = r.Time("firstSeen");
  item.last_seen = r.Time("lastSeen");
  if (const json::Value decision = r.At("decision"); decision) {
    item.decision = ReadDecision(decision);
    if (!item.decision) r.Bad("decision");
  }
  return r.Done(std::move(item));
}

std::string EncodeDrift(const DriftItem& item) {
  std::string out;
  ObjectWriter w(out);
  w.Text("source", item.source).Text("path", item.path).Text("sample", item.sample);
  w.Count("sequence", item.sequence).Integer("firstSeen", item.first_seen.ms).End();
  return out;
}

Result<DriftItem> DecodeDrift(std::string_view key, std::string_view value) {
  ETL_TRY(const auto document, ParseStored(key, value));
  RecordReader r(key, document.root());
  DriftItem item{r.Text("source"), r.Text("path"), r.Text("sample"), r.Count("sequence"),
                 r.Time("firstSeen")};
  return r.Done(std::move(item));
}

std::string EncodeGap(const GapItem& item) {
  std::string out;
  ObjectWriter w(out);
  w.Text("source", item.source).Text("scope", item.scope).Text("code", item.code).Text("detail", item.detail);
  w.Integer("missing", item.missing).Count("sequence", item.sequence).Integer("at", item.at.ms).End();
  return out;
}

Result<GapItem> DecodeGap(std::string_view key, std::string_view value) {
  ETL_TRY(const auto document, ParseStored(key, value));
  RecordReader r(key, document.root());
  GapItem item;
  item.source = r.Text("source");
  item.scope = r.Text("scope");
  item.code = r.Text("code");
  item.detail = r.Text("detail");
  item.missing = r.Integer("missing");
  item.sequence = r.Count("sequence");
  item.at = r.Time("at");
  return r.Done(std::move(item));
}

namespace {
constexpr char kBodyVersion = 1;
constexpr char kCodecZstd = 1;
constexpr std::size_t kBodyHeaderBytes = 2;
// Bodies are text that repeats itself: level 1 gets most of what higher levels get, at several times their
// speed.
constexpr int kZstdLevel = 1;
constexpr std::size_t kBodyBytesMax = std::size_t{512} << 20;
}  // namespace

std::string EncodeBody(std::string_view bytes) {
  thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                                  &ZSTD_freeCCtx);
  std::string out(kBodyHeaderBytes + ZSTD_compressBound(bytes.size()), '\0');
  out[0] = kBodyVersion;
  out[1] = kCodecZstd;
  // With room for the bound, compression of bytes in memory has no way to fail.
  const std::size_t n =
      ZSTD_compressCCtx(context.get(), out.data() + kBodyHeaderBytes, out.size() - kBodyHeaderBytes,
                        bytes.data(), bytes.size(), kZstdLevel);
  out.resize(kBodyHeaderBytes + n);
  return out;
}

Result<std::string> DecodeBody(std::string_view key, std::string_view value) {
  if (value.size() < kBodyHeaderBytes || value[0] != kBodyVersion || value[1] != kCodecZstd)
    return Fail(Unreadable(key, "body header"));
  const std::string_view frame = value.substr(kBodyHeaderBytes);
  const auto size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > kBodyBytesMax)
    return Fail(Unreadable(key, "body size"));
  std::string out(size, '\0');
  const std::size_t n = ZSTD_decompress(out.data(), out.size(), frame.data(), frame.size());
  if (ZSTD_isError(n) || n != size) return Fail(Unreadable(key, "body frame"));
  return out;
}

}  // namespace etl
