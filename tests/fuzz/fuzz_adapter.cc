// Accept on arbitrary bytes, for every kind of request: never crashes, and says the same of the same. The
// first byte picks the request, its top bits the context and the way of reading; the rest is the response.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "adapters/adapter.h"
#include "model/digest.h"
#include "model/draft.h"

namespace {

constexpr std::string_view kKeys[] = {
    "kernels",
    "kernels/5",
    "submissions?kernel_id=5&limit=50&offset=0",
    "submissions?kernel_id=5&limit=50&offset=49",
    "leaderboard/kernel/5/B200",
    "local",
    "local/x/definition.json",
    "local/x/workload.jsonl",
};

// What kernels/5 of the corpus would give its rows, with made-up digests.
constexpr std::string_view kRowContext =
    R"({"correctness":"sha256:1111111111111111111111111111111111111111111111111111111111111111","dtypes":["bf16"],)"
    R"("id":5,"name":"005_toy","operation":)"
    R"("sha256:2222222222222222222222222222222222222222222222222222222222222222","solMsMin":0.01,"suite":)"
    R"("sha256:3333333333333333333333333333333333333333333333333333333333333333","tags":[]})";
constexpr std::string_view kLocalContext =
    R"({"definition":{"axes":{"n":{"type":"var"},"m":{"type":"expr","expression":"n * 2"}},"inputs":{"x":{"dtype":"half",)"
    R"("shape":["n","m"]},"s":{"dtype":"int8","shape":null}},"name":"toy","outputs":{"y":{"dtype":"half","shape":["n"]}}},)"
    R"("operation":"sha256:2222222222222222222222222222222222222222222222222222222222222222"})";

void Check(bool holds) {
  if (!holds) std::abort();
}

// All of an outcome that anyone looks at, as one digest; and what must hold of it whatever came in.
etl::Digest Fingerprint(const etl::Result<etl::Outcome>& outcome) {
  etl::Sha256Hasher hasher;
  const auto add = [&](std::string_view text) {
    hasher.Update(text);
    hasher.Update("\n");
  };
  if (!outcome) {
    Check(outcome.error().errc == etl::Errc::kInvalid && !outcome.error().code.empty());
    add(outcome.error().Message());
    return hasher.Finish();
  }
  for (const etl::EntryDraft& entry : outcome->draft.entries) {
    Check(!entry.external_id.empty() && entry.external_id.size() <= 500);
    Check(entry.external_id.find('\0') == std::string::npos);
    Check((entry.state == etl::EntryState::kPassed) == entry.reasons.empty());
    Check(entry.identity.empty() || entry.digest == etl::Sha256(entry.identity));
    add(entry.external_id);
    add(entry.identity);
    add(entry.metadata);
    for (const std::string& reason : entry.reasons) add(reason);
  }
  for (const etl::QuarantineDraft& item : outcome->draft.quarantine) {
    Check(!item.code.empty() && !item.where.empty());
    add(item.code + item.where + item.what + item.bytes);
  }
  for (const etl::DriftDraft& drift : outcome->draft.drift) {
    Check(drift.sample.size() <= 200);
    add(drift.path + drift.sample);
  }
  for (const etl::ContextDraft& context : outcome->draft.contexts) add(context.key + context.value);
  for (const etl::Request& next : outcome->next) add(next.key);
  for (const etl::UpstreamRank& rank : outcome->upstream_ranks) add(rank.kernel + rank.gpu + rank.username);
  for (const etl::Shortfall& shortfall : outcome->shortfalls) add(shortfall.code + shortfall.what);
  return hasher.Finish();
}

etl::Digest AcceptOnce(std::string_view key, std::string_view body, std::string_view context,
                       etl::Reading reading) {
  const auto adapter = etl::MakeAdapter("sol-execbench");
  etl::Request request;
  request.key = key;
  etl::Snapshot snapshot;
  snapshot.source = "sol-execbench";
  snapshot.request = key;
  snapshot.bytes = body;
  return Fingerprint(adapter->Accept(request, snapshot, context, reading, etl::Goal()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  const unsigned pick = data[0];
  const std::string_view key = kKeys[pick % 8];
  std::string_view context;
  if ((pick & 0x40U) != 0) context = key.starts_with("local") ? kLocalContext : kRowContext;
  if ((pick & 0x20U) != 0) context = body;
  const auto reading = (pick & 0x80U) != 0 ? etl::Reading::kWalkOnly : etl::Reading::kFull;
  Check(AcceptOnce(key, body, context, reading) == AcceptOnce(key, body, context, reading));
  return 0;
}
