#include "store/verifier.h"

namespace etl {

Status Verifier::Run() {
  if (const auto files = kv_.VerifyFiles(); !files) Fault(files.error());
  ETL_CHECK_OK(CheckUnknownKeys());
  ETL_CHECK_OK(CheckCommits());
  ETL_CHECK_OK(CheckGroups());
  ETL_CHECK_OK(CheckMeta());
  ETL_CHECK_OK(ReadEntryNames());
  ETL_CHECK_OK(CheckObjects());
  ETL_CHECK_OK(CheckEntries());
  ETL_CHECK_OK(CheckLines());
  ETL_CHECK_OK(CheckHolders());
  ETL_CHECK_OK(CheckStandings());
  ETL_CHECK_OK(CheckFormer());
  ETL_CHECK_OK(CheckRequests());
  ETL_CHECK_OK(CheckAnswers());
  ETL_CHECK_OK(CheckContexts());
  ETL_CHECK_OK(CheckContextRows());
  ETL_CHECK_OK(CheckRowChanges());
  ETL_CHECK_OK(CheckQuarantine());
  ETL_CHECK_OK(CheckDrift());
  ETL_CHECK_OK(CheckGaps());
  ETL_CHECK_OK(CheckVisits());
  CheckUntold();
  return CheckSnapshots();
}

void Verifier::Fault(Error error) {
  ++report_.fault_count;
  if (report_.faults.size() < kVerifyFaultsKept) report_.faults.push_back(std::move(error));
}

void Verifier::Fault(std::string code, std::string where, std::string what) {
  Fault({Errc::kCorrupt, std::move(code), std::move(where), std::move(what),
         "restore a backup, or rebuild from the stored snapshots"});
}

void Verifier::CheckSpelling(std::string_view key, std::string_view stored, std::string_view written) {
  if (stored != written) Fault(Unreadable(key, "not as this program writes it"));
}

const Verifier::CommitFacts* Verifier::CommitAt(std::uint64_t first) const {
  const auto it = commits_.find(first);
  return it == commits_.end() ? nullptr : &it->second;
}

// Keys that no value of the format has: whatever stands there, nobody reads it.
Status Verifier::CheckUnknownKeys() {
  constexpr std::string_view kKnown = "bcdefghijklmnopqrstuvwxyz";
  std::string lower;
  for (std::size_t i = 0; i <= kKnown.size(); ++i) {
    const bool last = i == kKnown.size();
    auto it = kv_.Scan(lower, last ? std::string() : std::string(1, kKnown[i]));
    for (; it->Valid(); it->Next()) KeyFault("KEY", it->key(), "the format has no such key");
    if (const auto status = it->status(); !status) Fault(status.error());
    if (!last) lower = PrefixEnd(std::string(1, kKnown[i]));
  }
  return {};
}

Result<VerifyReport> StoreImpl::Verify() const {
  VerifyReport report;
  // A store that opened for reading may have done so without it.
  if (const auto head = HeadIsSound(); !head) {
    ++report.fault_count;
    report.faults.push_back(head.error());
  }
  ETL_CHECK_OK(Verifier(*this, report).Run());
  Sha256Hasher hasher;
  const auto exported = Export({}, [&](std::string_view line) {
    hasher.Update(line);
    return Status();
  });
  if (!exported) {
    ++report.fault_count;
    report.faults.push_back(exported.error());
  }
  report.root = hasher.Finish();
  return report;
}

}  // namespace etl
