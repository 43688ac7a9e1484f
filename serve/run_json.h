#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/json_writer.h"
#include "serve/catalogue.h"
#include "serve/run_record.h"

namespace etl::serve {

// Parts of answers that several routes have, in the shapes of the catalogue's contract.

using Facts = std::vector<std::pair<std::string, std::string>>;

// The object that `fill` writes.
std::string Object(const std::function<void(json::ObjectWriter&)>& fill);

std::string NamedJson(const Named& named);                // {name, slug}
Named ImplementationNamed(const Loaded& implementation);  // whose it is
Named OperationNamed(const RunRecord& record);
std::string FactsJson(const Facts& facts);  // [{key, value}]
Facts ProtocolFacts(const BenchmarkProtocol& protocol);
Facts EnvironmentFactsOf(const ExecutionEnvironment& environment);

std::string_view EvidenceOfRun(const RunRecord& record);  // "reported"

// {metric, unit, statistic, value, sampleCount, uncertainty} of what a run is ranked by; null for none.
std::string PrimaryJson(const std::optional<PrimaryMeasurement>& primary);
// The same from a metric key "latency:mean:ns" and a contender.
std::string PrimaryJson(std::string_view metric_key, const Contender& contender);

// Joins values that are JSON already: [a,b].
std::string ListJson(const std::vector<std::string>& values);
// A string as JSON, or null where it is empty.
std::string TextOrNull(std::string_view text);

// Why a line is where it is: one place in a standing, in the contract's row shape.
struct RowPlace {
  std::uint32_t rank = 0;
  bool tied_with_previous = false;
  std::uint64_t cohort_size = 0;
};
Result<std::string> RowJson(const Store& store, const GroupFacts& group, const StandingLine& line,
                            const RowPlace& place);
// [{at, runId, implementation, value, previousValue, improvementPct}], newest first.
Result<std::string> HistoryJson(const Store& store, const GroupFacts& group,
                                const std::vector<RecordStep>& steps);

}  // namespace etl::serve
