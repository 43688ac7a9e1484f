// What the store itself keeps: changes, objects, entries, and what was refused, missed or not understood.
#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include "model/json.h"
#include "model/json_writer.h"
#include "serve/api.h"
#include "serve/coding.h"
#include "serve/run_json.h"

namespace etl::serve {
namespace {

using json::ObjectWriter;

constexpr std::uint64_t kChangesPreset = 100, kChangesMax = 1000;
constexpr std::size_t kChangesScannedMax = 20'000;  // for one page; a page may end early
constexpr std::int64_t kWaitMaxS = 60;

// The sequence behind "SEQ" or "EPOCH:SEQ"; none is the beginning.
Result<std::uint64_t> SinceOf(const Ask& ask) {
  const auto text = ask.request.Param("since");
  if (!text || text->empty()) return std::uint64_t{0};
  auto as_of = ask.store.ResolveAsOf(*text);
  const bool instant = text->find('T') != std::string_view::npos;
  if (as_of && !instant) return as_of->sequence;
  if (as_of || as_of.error().errc == Errc::kInvalid)
    return Fail(Errc::kInvalid, "SINCE", "since", "this is no sequence",
                "give EPOCH:SEQUENCE, as `next` has it");
  return Fail(Errc::kConflict, "FEED_RESET", "since",
              "this sequence is unknown here: of another epoch, or ahead of the store",
              "read everything again, from /api/v1/changes without `since`");
}

Result<std::int64_t> WaitOf(const Request& request) {
  const auto text = request.Param("wait");
  if (!text) return std::int64_t{0};
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (error != std::errc() || end != text->data() + text->size() || seconds < 0 || seconds > kWaitMaxS)
    return Fail(Errc::kInvalid, "WAIT", "wait", "no whole number of seconds from 0 to 60", "");
  return seconds * 1000;
}

// One line of the log: what every line has, and what is its own as `detail`.
std::string ChangeJson(const CommitInfo& commit, const Change& change) {
  return Object([&](ObjectWriter& o) {
    o.Text("id", commit.epoch + ":" + std::to_string(change.sequence)).Count("sequence", change.sequence);
    o.Text("at", commit.time.Text()).Text("source", commit.source).Text("type", change.type);
    o.Raw("detail", change.json);
  });
}

std::string EntryJson(const EntryName& name) {
  return Object([&](ObjectWriter& o) {
    o.Text("source", name.source).Text("externalId", name.external_id).Text("scope", name.scope);
  });
}

Result<std::string> VersionJson(const Store& store, const Version& version) {
  ETL_TRY(const CommitInfo commit, store.GetCommit(version.sequence));
  ETL_TRY(const CommitInfo from, store.GetCommit(version.from));
  return Object([&](ObjectWriter& o) {
    o.Count("version", version.version).Text("epoch", commit.epoch).Count("sequence", version.sequence);
    o.Text("state", EntryStateName(version.state)).Raw("reasons", json::TextArray(version.reasons));
    o.Raw("digest", version.digest ? TextOrNull(version.digest->Text()) : "null").Bool("late", version.late);
    o.Text("committedAt", commit.time.Text()).Text("capturedAt", version.captured_at.Text());
    o.Text("seenAt", version.seen_at.Text()).Text("request", from.request).Text("origin", from.origin);
    o.Raw("snapshot", from.snapshot ? TextOrNull(from.snapshot->Text()) : "null");
    o.Count("offset", version.locator.offset).Count("bytes", version.locator.bytes);
    o.Text("adapter", commit.adapter);
    o.Raw("metadata", version.metadata.empty() ? "null" : version.metadata);
  });
}

std::string SourceOf(const Ask& ask) {
  return std::string(ask.request.Param("source").value_or(""));
}

Response Listed(const Ask& ask, std::string_view name, const std::vector<std::string>& values) {
  return JsonAnswer(
      Object([&](ObjectWriter& o) { o.Raw(name, ListJson(values)).Text("generatedAt", ask.at().Text()); }));
}

}  // namespace

Result<Response> ListChanges(const Ask& ask) {
  ETL_TRY(const std::uint64_t limit, LimitOf(ask.request, kChangesPreset, kChangesMax));
  ETL_TRY(const std::uint64_t since, SinceOf(ask));
  ETL_TRY(const std::int64_t wait_ms, WaitOf(ask.request));
  const auto source = ask.request.Param("source"), type = ask.request.Param("type");
  std::vector<std::string> values;
  std::uint64_t last = since;
  std::size_t scanned = 0;
  ETL_CHECK_OK(ask.store.ForEachChange(since, [&](const CommitInfo& commit, const Change& change) {
    if (values.size() == limit || scanned++ == kChangesScannedMax) return false;
    last = change.sequence;
    if ((!source || *source == commit.source) && (!type || *type == change.type))
      values.push_back(ChangeJson(commit, change));
    return true;
  }));
  if (values.empty() && wait_ms > 0 && last == ask.store.sequence() && ask.request.may_wait) {
    Response response;
    response.wait_ms = wait_ms;
    return response;
  }
  Response response = JsonAnswer(Object([&](ObjectWriter& o) {
    o.Text("epoch", ask.store.epoch()).Raw("changes", ListJson(values));
    o.Text("next", ask.store.epoch() + ":" + std::to_string(last)).Bool("more", last < ask.store.sequence());
  }));
  response.Header("Cache-Control", "no-store");
  return response;
}

Result<Response> GetObjectBytes(const Ask& ask) {
  const std::string& text = ask.rest.front();
  const auto digest = ParseDigest(text.starts_with("sha256:") ? text : "sha256:" + text);
  if (!digest)
    return Fail(Errc::kInvalid, "DIGEST_PATTERN", text.substr(0, 80), "this is no digest",
                "give \"sha256:\" and 64 lower-case hex digits");
  const auto object = ask.store.GetObject(*digest);
  if (!object && object.error().errc == Errc::kNotFound)
    return Fail(Errc::kNotFound, "OBJECT_NOT_FOUND", digest->Text(), "no object has this digest", "");
  if (!object) return Fail(object.error());
  const std::string tag = "\"" + digest->Text() + "\"";
  Response response = JsonAnswer(object->identity);
  if (TagMatches(ask.request.if_none_match, tag)) {
    response = Response();
    response.status = 304;
  }
  if (response.status == 200) response.holds_at = ask.store.sequence();
  response.Header("ETag", tag);
  response.Header("Cache-Control", "public, max-age=31536000, immutable");
  return response;
}

Result<Response> GetEntryVersions(const Ask& ask) {
  const EntryName name{ask.rest[0], ask.rest[1], std::string(ask.request.Param("scope").value_or(""))};
  const auto states = ask.store.GetEntry(name, ask.as_of);
  if (!states && states.error().errc == Errc::kNotFound)
    return Fail(Errc::kNotFound, "ENTRY_NOT_FOUND", name.Text().substr(0, 200), "there is no such entry",
                "a case key needs its scope");
  if (!states) return Fail(states.error());
  std::vector<std::string> kinds;
  for (const auto& [kind, newest] : *states) {
    ETL_TRY(const std::vector<Version> versions, ask.store.GetVersions(name, kind));
    std::vector<std::string> values;
    for (const Version& version : versions) {
      if (version.sequence > ask.as_of.sequence) continue;
      ETL_TRY(std::string json, VersionJson(ask.store, version));
      values.push_back(std::move(json));
    }
    kinds.push_back(Object([&, &kind = kind](ObjectWriter& o) {
      o.Text("kind", KindName(kind)).Raw("versions", ListJson(values));
    }));
  }
  return JsonAnswer(Object([&](ObjectWriter& o) {
    o.Raw("entry", EntryJson(name)).Raw("kinds", ListJson(kinds)).Text("generatedAt", ask.at().Text());
  }));
}

Result<Response> ListQuarantine(const Ask& ask) {
  ETL_TRY(const std::vector<QuarantineItem> items, ask.store.Quarantine(SourceOf(ask)));
  std::vector<std::string> values;
  for (const QuarantineItem& item : items) {
    values.push_back(Object([&](ObjectWriter& o) {
      o.Text("id", item.id.Text()).Text("source", item.source).Text("code", item.code);
      o.Text("where", item.where).Text("what", item.what).Text("fix", item.fix).Count("bytes", item.bytes);
      o.Text("bytesDigest", item.bytes_digest.Text()).Count("sequence", item.sequence);
      o.Text("firstSeen", item.first_seen.Text()).Text("lastSeen", item.last_seen.Text());
      o.Bool("open", !item.decision.has_value());
    }));
  }
  return Listed(ask, "quarantine", values);
}

Result<Response> ListGaps(const Ask& ask) {
  ETL_TRY(const std::vector<GapItem> items, ask.store.Gaps(SourceOf(ask)));
  std::vector<std::string> values;
  for (const GapItem& item : items) {
    values.push_back(Object([&](ObjectWriter& o) {
      o.Text("source", item.source).Text("scope", item.scope).Text("code", item.code);
      o.Integer("missing", item.missing).Text("detail", item.detail).Text("at", item.at.Text());
      o.Count("sequence", item.sequence);
    }));
  }
  return Listed(ask, "gaps", values);
}

Result<Response> ListDrift(const Ask& ask) {
  ETL_TRY(const std::vector<DriftItem> items, ask.store.Drift(SourceOf(ask)));
  std::vector<std::string> values;
  for (const DriftItem& item : items) {
    values.push_back(Object([&](ObjectWriter& o) {
      o.Text("source", item.source).Text("path", item.path).Text("sample", item.sample);
      o.Text("firstSeen", item.first_seen.Text()).Count("sequence", item.sequence);
    }));
  }
  return Listed(ask, "drift", values);
}

Result<Response> GetDescription(const Ask& /*ask*/) {
  static const std::string kDescription = [] {
    std::string paths;
    ObjectWriter all(paths);
    for (const Route& route : Routes()) {
      std::vector<std::string> params;
      const auto add = [&](std::string_view name, const char* in, std::string_view about) {
        params.push_back(Object([&](ObjectWriter& o) {
          o.Text("name", name).Text("in", in).Bool("required", in == std::string_view("path"));
          o.Text("description", about).Raw("schema", R"({"type":"string"})");
        }));
      };
      for (std::string_view left = route.path; left.find('{') != std::string_view::npos;) {
        left.remove_prefix(left.find('{') + 1);
        add(left.substr(0, left.find('}')), "path", "");
      }
      for (const Param& param : route.params) add(param.name, "query", param.about);
      if (route.as_of) add("asOf", "query", "The state after this sequence, EPOCH:SEQUENCE or instant");
      all.Raw(route.path, Object([&](ObjectWriter& methods) {
                methods.Raw("get", Object([&](ObjectWriter& o) {
                              o.Text("summary", route.summary).Raw("parameters", ListJson(params));
                              o.Raw("responses", R"({"200":{"description":"The answer"},)"
                                                 R"("default":{"description":"Problem details, RFC 9457"}})");
                            }));
              }));
    }
    all.End();
    return Object([&](ObjectWriter& o) {
      o.Text("openapi", "3.1.0");
      o.Raw("info", Object([](ObjectWriter& i) {
              i.Text("title", "etld").Text("version", "v1");
              i.Text("description", "A mirror of kernel leaderboards: read-only, every answer of one state.");
            }));
      o.Raw("servers", R"([{"url":"/api/v1"}])").Raw("paths", paths);
    });
  }();
  return JsonAnswer(kDescription);
}

}  // namespace etl::serve
