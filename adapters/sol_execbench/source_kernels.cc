// The list of kernels, and a kernel's detail.

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "adapters/sol_execbench/context.h"
#include "adapters/sol_execbench/source.h"
#include "adapters/sol_execbench/vocabulary.h"
#include "model/comparison.h"
#include "model/json_writer.h"

namespace etl::sol_execbench {
namespace {

// The bound that no honest latency is under: the smallest sol_ms, if each case has one and it is meant.
std::optional<double> SolMsMin(json::Value data, bool all_readable) {
  const json::Value dummy = data.Find("sol_is_dummy");
  if (!all_readable || !dummy.IsBool() || dummy.IsTrue()) return std::nullopt;
  std::optional<double> smallest;
  for (const json::Value row : data.Find("workloads").elements()) {
    const auto bound = row.Find("sol_ms").AsDouble();
    if (!bound || *bound <= 0) return std::nullopt;
    smallest = std::min(smallest.value_or(*bound), *bound);
  }
  return smallest;
}

// Whether what the bound is made of cannot be read, so that it is off without anybody having said so.
bool IsBoundDamaged(json::Value data) {
  bool bounded = false;
  for (const json::Value row : data.Find("workloads").elements()) {
    const json::Value bound = row.Find("sol_ms");
    if (!bound.IsAbsent() && !bound.IsNumber()) return true;
    bounded = bounded || !bound.IsAbsent();
  }
  return bounded && !data.Find("sol_is_dummy").IsBool();
}

// Cursor: a whole definition of the kernel has been taken once.
std::string WholeKey(std::int64_t kernel_id) {
  return "whole/" + std::to_string(kernel_id);
}
constexpr std::string_view kWhole = "{\"whole\":true}";

std::string ElementPath(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

}  // namespace

Result<Outcome> Source::AcceptKernels(const Call& call) {
  ETL_TRY(const Envelope envelope, ReadEnvelope(call.request.key, call.body, {"data", "kernels"}));
  const json::Value data = envelope.document.root().Find("data");
  const json::Value list = data.Find("kernels");
  if (!list.IsArray()) {
    return Fail(ShapeError(call.request.key, "$.data.kernels", "the answer holds no list of kernels"));
  }
  Outcome outcome;
  rows_ = 0;
  if (call.draft) {
    NoteEnvelopeDrift(envelope, "kernels", outcome);
    drift_.NoteUnknown(outcome.draft, data, {"kernels", "total"}, "kernels.data.", envelope.text);
  }
  const std::vector<Listed> kernels = ReadList(call, envelope, list, outcome);
  names_.clear();
  for (const Listed& kernel : kernels) names_.emplace(kernel.id, kernel.name);
  ETL_CHECK_OK(RememberList(call, envelope, list, kernels, outcome));
  if (list.size() == 0) outcome.shortfalls.push_back({"", "NO_KERNELS", "upstream lists no kernel at all"});
  const auto& wanted = call.goal.kernels;
  std::set<std::string_view> missing(wanted.begin(), wanted.end());
  std::vector<Request> rows;
  for (const Listed& kernel : kernels) {
    missing.erase(kernel.name);
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), kernel.name) == wanted.end()) continue;
    AskForKernel(call, kernel, outcome, rows);
  }
  // All details before any rows: rows are read with what the detail said, and need not wait for it one kernel
  // at a time.
  for (Request& request : rows) outcome.next.push_back(std::move(request));
  for (const std::string_view name : missing) {
    outcome.shortfalls.push_back({"", "NOT_THERE", "upstream lists no kernel " + std::string(name)});
  }
  return outcome;
}

// A poll asks only for kernels whose rows may have changed; and for the definition when everything is due.
void Source::AskForKernel(const Call& call, const Listed& kernel, Outcome& outcome,
                          std::vector<Request>& rows) const {
  const std::int64_t listed = kernel.value.Find("submission_count").AsInt64().value_or(-1);
  std::optional<KernelCursor> cursor;
  if (call.goal.poll) {
    if (const auto text = Remembered(call, PollKey(kernel.id))) cursor = ParseCursor(*text);
  }
  const bool due = !cursor || cursor->due_at <= call.at;
  const bool wants_detail = due || cursor->detail_missing;
  if (!wants_detail && cursor->listed == listed && cursor->unfinished.empty()) return;
  ++outcome.scopes;
  const std::string scope = KernelScope(kernel.id);
  Request* detail = nullptr;
  if (wants_detail) {
    detail = &outcome.next.emplace_back();
    detail->key = KernelKey(kernel.id);
    detail->scope = scope;
  }
  Request& first_rows = rows.emplace_back();
  first_rows.key = SubmissionsKey(kernel.id, kPageRows, 0);
  first_rows.scope = scope;
  first_rows.context = scope;
  if (!call.goal.poll && !call.goal.window) return;
  std::vector<std::string> gpu_types;
  for (const std::string_view gpu_type : StringsOf(kernel.value.Find("gpu_types")))
    gpu_types.emplace_back(gpu_type);
  auto walk = std::make_unique<RowsWalk>(options_.kernel_rows_max);
  walk->read = std::make_shared<KernelRead>(listed, std::move(gpu_types), std::move(cursor), due);
  walk->lists_open = std::make_shared<std::int64_t>(1);
  if (detail != nullptr) {
    walk->read->DetailAsked();
    auto detail_walk = std::make_unique<DetailWalk>();
    detail_walk->read = walk->read;
    detail->walk = std::move(detail_walk);
  }
  first_rows.walk = std::move(walk);
}

// A list that lost kernels is believed only within limits; what is gone is told, and kept.
Status Source::CheckList(const Call& call, const KernelsMemory& known,
                         const std::set<std::int64_t>& listed) const {
  if (call.goal.follow.accept_shrunken || known.listed.empty()) return {};
  const auto gone = std::count_if(known.listed.begin(), known.listed.end(),
                                  [&](const auto& kernel) { return !listed.contains(kernel.first); });
  if (gone * 100 <= static_cast<std::int64_t>(known.listed.size()) * call.goal.follow.withdraw_max_percent)
    return {};
  return Fail(Errc::kInvalid, "KERNELS_VANISHED", call.request.key + " $.data.kernels",
              std::to_string(gone) + " of " + std::to_string(known.listed.size()) +
                  " kernels are gone from the list at once",
              "if upstream really has withdrawn them, run the visit once with --accept-shrunken");
}

Status Source::RememberList(const Call& call, const Envelope& envelope, json::Value list,
                            const std::vector<Listed>& kernels, Outcome& outcome) const {
  if (call.goal.cursors == nullptr) return {};
  KernelsMemory memory;
  if (const auto text = Remembered(call, kKernelsKey)) memory = ParseKernels(*text).value_or(KernelsMemory{});
  if (memory.at >= call.at) return {};  // an older list says nothing of what is there now
  std::set<std::int64_t> listed;
  std::size_t unreadable = envelope.refused.size();
  for (const json::Value item : list.elements()) {
    const auto id = RowReader::IdOf(item);
    if (id) {
      listed.insert(*id);
    } else {
      ++unreadable;
    }
  }
  ETL_CHECK_OK(CheckList(call, memory, listed));
  KernelsMemory after = memory;
  after.at = call.at;
  const auto tell = [&](std::string_view what, std::int64_t id, const std::string& name) {
    std::string line;
    json::ObjectWriter(line)
        .Text("type", "kernel")
        .Text("what", what)
        .Integer("id", id)
        .Text("externalId", name)
        .End();
    outcome.draft.events.push_back({"kernel", std::move(line)});
  };
  for (const auto& [id, name] : memory.listed) {
    // One that cannot be read may be the one that is missed.
    if (listed.contains(id) || unreadable > 0) continue;
    tell("withdrawn", id, name);
    after.withdrawn.emplace(id, std::pair(name, call.at));
    after.listed.erase(id);
  }
  for (const Listed& kernel : kernels) {
    const std::string name(kernel.name);
    if (after.withdrawn.erase(kernel.id) > 0) tell("returned", kernel.id, name);
    const auto [place, added] = after.listed.try_emplace(kernel.id, name);
    if (added || place->second == name) continue;
    tell("renamed", kernel.id, name);
    place->second = name;
  }
  if (after.listed != memory.listed || after.withdrawn != memory.withdrawn)
    outcome.draft.cursors.push_back({std::string(kKernelsKey), KernelsText(after)});
  return {};
}

// The kernels that can be taken, by id: upstream promises no order. Of two with one name the lower id is
// kept, because entries are named by it.
std::vector<Source::Listed> Source::ReadList(const Call& call, const Envelope& envelope, json::Value list,
                                             Outcome& outcome) {
  for (const RefusedElement& refused : envelope.refused) {
    RefuseListed(call, "KERNEL_JSON", refused.index, refused.error.Message(),
                 envelope.text.substr(refused.begin, refused.end - refused.begin), outcome);
  }
  std::vector<Listed> kernels;
  std::size_t index = 0;
  for (const json::Value item : list.elements()) {
    const std::size_t at = index++;
    if (envelope.IsRefused(at)) continue;
    if (call.draft) {
      drift_.NoteUnknown(outcome.draft, item,
                         {"id", "name", "title", "gpu_types", "tags", "submission_count"}, "kernels[].",
                         envelope.text);
      drift_.NoteIfNoNames(outcome.draft, item.Find("gpu_types"), "kernels[].gpu_types", envelope.text);
    }
    const auto id = RowReader::IdOf(item);
    const json::Value name = item.Find("name");
    if (!item.IsObject()) {
      RefuseListed(call, "KERNEL_NOT_AN_OBJECT", at, "the list's item is no object", envelope.BytesOf(item),
                   outcome);
    } else if (!id) {
      RefuseListed(call, "KERNEL_ID", at, "id is missing or no positive integer", envelope.BytesOf(item),
                   outcome);
    } else if (!name.IsString() || !IsKernelName(name.AsString())) {
      RefuseListed(call, "KERNEL_NAME", at, "the name is missing, empty, too long or holds a NUL",
                   envelope.BytesOf(item), outcome);
    } else {
      kernels.push_back({*id, name.AsString(), at, item});
    }
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const Listed& a, const Listed& b) { return a.id < b.id; });
  std::set<std::string_view> names;
  std::vector<Listed> kept;
  for (const Listed& kernel : kernels) {
    if (!kept.empty() && kept.back().id == kernel.id) {
      RefuseListed(call, "KERNEL_ID_REPEATED", kernel.index, "another kernel of the list has this id",
                   envelope.BytesOf(kernel.value), outcome);
    } else if (!names.insert(kernel.name).second) {
      RefuseListed(call, "KERNEL_NAME_REPEATED", kernel.index, "a kernel with a lower id has this name",
                   envelope.BytesOf(kernel.value), outcome);
    } else {
      kept.push_back(kernel);
    }
  }
  return kept;
}

void Source::RefuseListed(const Call& call, std::string code, std::size_t index, std::string what,
                          std::string_view bytes, Outcome& outcome) {
  const std::string path = ElementPath("$.data.kernels", index);
  outcome.shortfalls.push_back({"", code, path + ": " + what});
  if (!call.draft) return;
  outcome.draft.quarantine.push_back(
      Quarantined(std::move(code), call.request.key, path, std::move(what), bytes));
}

Result<Outcome> Source::AcceptKernel(const Call& call) {
  ETL_TRY(const Envelope envelope, ReadEnvelope(call.request.key, call.body, {"data", "workloads"}));
  const json::Value data = envelope.document.root().Find("data");
  if (!data.IsObject()) return Fail(ShapeError(call.request.key, "$.data", "the answer holds no kernel"));
  Outcome outcome;
  if (call.draft) NoteEnvelopeDrift(envelope, "kernel", outcome);
  const json::Value id = data.Find("id");
  if (id.AsInt64() != call.key.kernel_id) {
    RefuseKernel(call, envelope, "$.data", {"KERNEL_ID", "id", "is not the kernel that was asked for", id},
                 outcome);
    return outcome;
  }
  // Mapped even when only the walk matters: a kernel that cannot be taken makes every visit fall short.
  DraftKernel(call, envelope, data, outcome);
  if (const auto* walk = dynamic_cast<const DetailWalk*>(call.request.walk.get()); walk != nullptr) {
    if (!outcome.draft.contexts.empty()) walk->read->DetailTaken();
    if (call.goal.leaderboards) walk->read->BoardsAsked();
  }
  if (!call.draft) {
    std::vector<CursorDraft> cursors = std::move(outcome.draft.cursors);
    outcome.draft = Draft();
    outcome.draft.cursors = std::move(cursors);
  }
  if (call.goal.leaderboards) AskForLeaderboards(call, data, outcome);
  return outcome;
}

void Source::DraftKernel(const Call& call, const Envelope& envelope, json::Value data, Outcome& outcome) {
  Fault fault;
  const auto kernel = ReadKernel(data, envelope, drift_, outcome.draft, fault);
  if (!kernel) {
    RefuseKernel(call, envelope, "$.data", fault, outcome);
    return;
  }
  if (const auto listed = names_.find(call.key.kernel_id);
      listed != names_.end() && listed->second != kernel->name) {
    RefuseKernel(call, envelope, "$.data",
                 {"KERNEL_NAME_CONFLICT", "name", "upstream's list calls this kernel " + listed->second,
                  data.Find("name")},
                 outcome);
    return;
  }
  outcome.draft.entries.push_back(OperationEntry(*kernel, data, envelope.LocatorOf(data)));
  DraftCases(call, envelope, data, *kernel, outcome);
}

void Source::DraftCases(const Call& call, const Envelope& envelope, json::Value data, const Kernel& kernel,
                        Outcome& outcome) {
  const json::Value rows = data.Find("workloads");
  if (!rows.IsArray()) {
    RefuseKernel(call, envelope, "$.data",
                 {"KERNEL_FIELD", "workloads", "workloads is missing or no list", rows}, outcome);
    return;
  }
  CaseCollector cases(kernel, call.request.key, drift_, outcome.draft);
  for (const RefusedElement& refused : envelope.refused) {
    cases.AddRefused(ElementPath("$.data.workloads", refused.index), refused.error,
                     envelope.text.substr(refused.begin, refused.end - refused.begin));
  }
  std::size_t index = 0;
  for (const json::Value row : rows.elements()) {
    if (!envelope.IsRefused(index)) {
      cases.Add(row, envelope.text, ElementPath("$.data.workloads", index), envelope.LocatorOf(row));
    }
    ++index;
  }
  const bool bound_damaged = IsBoundDamaged(data);
  if (bound_damaged && data.Find("sol_is_dummy").IsAbsent())
    drift_.Note(outcome.draft, "kernel.sol_is_dummy is missing", {});
  if (!IsWhole(call, cases.left_out() == 0 && !bound_damaged, outcome)) return;
  KernelContext context;
  if (!cases.Finish(envelope.LocatorOf(rows), context.suite)) {
    RefuseKernel(call, envelope, "$.data",
                 {"KERNEL_NO_CASES", "workloads", "no case of the kernel can be read", rows}, outcome);
    return;
  }
  context.kernel_id = call.key.kernel_id;
  context.name = kernel.name;
  context.operation = kernel.operation;
  context.correctness = CorrectnessKey(SuiteCorrectnessOf());
  context.input_dtypes = kernel.input_dtypes;
  context.sol_ms_min = SolMsMin(data, envelope.refused.empty());
  context.tags = EditorialTags(StringsOf(data.Find("tags")));
  outcome.draft.contexts.push_back({KernelScope(context.kernel_id), ContextText(context)});
}

// A definition with damaged workloads would make another suite, or another bound, and so move every run of
// the kernel. Where a whole one is known that stays, and the damage is told: by the quarantine or as drift,
// and as a shortfall. The first one is taken as far as it goes.
bool Source::IsWhole(const Call& call, bool whole, Outcome& outcome) const {
  const std::string key = WholeKey(call.key.kernel_id);
  const auto known = Remembered(call, key);
  if (whole) {
    if (call.goal.cursors != nullptr && !known) outcome.draft.cursors.push_back({key, std::string(kWhole)});
    return true;
  }
  if (!known) return true;
  outcome.shortfalls.push_back(
      {call.request.scope, "KERNEL_DAMAGED",
       call.request.key + ": workloads or their bounds cannot be read; the last whole definition stays"});
  outcome.draft.entries.clear();
  return false;
}

void Source::AskForLeaderboards(const Call& call, json::Value data, Outcome& outcome) {
  std::set<std::string_view> asked;
  for (const std::string_view gpu_type : StringsOf(data.Find("gpu_types"))) {
    if (gpu_type.empty() || asked.size() >= kLeaderboardsMax || !asked.insert(gpu_type).second) continue;
    Request& request = outcome.next.emplace_back();
    request.key = LeaderboardKey(call.key.kernel_id, gpu_type);
    request.scope = KernelScope(call.key.kernel_id);
    request.context = request.scope;
    request.optional = true;
  }
}

void Source::RefuseKernel(const Call& call, const Envelope& envelope, std::string_view root,
                          const Fault& fault, Outcome& outcome) {
  outcome.shortfalls.push_back({call.request.scope, fault.code, fault.what});
  if (!call.draft) return;
  // Never empty, which would stand for the whole answer with its source code.
  const std::string_view bytes = fault.item.exists() ? envelope.BytesOf(fault.item) : "null";
  outcome.draft.quarantine.push_back(
      Quarantined(fault.code, call.request.key, std::string(root) + "." + fault.path, fault.what, bytes));
}

}  // namespace etl::sol_execbench
