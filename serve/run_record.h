#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/comparison.h"
#include "model/error.h"
#include "model/manifest.h"
#include "store/store.h"

namespace etl::serve {

// One manifest as it is stored: its digest, its canonical text, and what it says.
struct Loaded {
  Digest digest;
  std::string text;  // the canonical envelope
  Manifest manifest;
  std::string external_id;  // of the entry that introduced it
};

// Everything there is to say of a run, gathered from the store once and then shown as a table, as JSON or as
// a page.
struct RunRecord {
  EntryName entry;
  Version version;                // the newest state that passed with this run
  std::vector<Version> versions;  // all states, oldest first
  std::optional<Version> newest;  // the state that holds now
  Loaded run, implementation, workload, operation, protocol, environment;
  std::optional<PrimaryMeasurement> primary;
  std::optional<GroupInfo> group;
  std::optional<StandingLine> place;   // nothing: not ranked, and `reasons` says why
  std::optional<StandingLine> leader;  // of its group
  std::vector<std::string> reasons;
  std::optional<Digest> newer;  // the run that superseded it
  CommitInfo introduced;        // the commit that first brought this run
  CommitInfo derived;           // the commit that holds the snapshot it was derived from

  const BenchmarkRun& spec() const { return std::get<BenchmarkRun>(run.manifest.spec); }
  // Who made it: the author of the implementation.
  std::string Author() const;
  // The kernel's name at the source. Kernels with equal definitions share one operation, so the run's own
  // word comes first.
  std::string Kernel() const;
  bool retracted() const;
  bool superseded() const { return newer.has_value(); }
};

// Gathers it, as it was then: some twenty point reads. Errors: kNotFound; kCorrupt REFERENCE_MISSING when
// something the run refers to is not there, REFERENCE_KIND when it is another kind of thing,
// MANIFEST_UNREADABLE when a stored manifest breaks its rules.
Result<RunRecord> LoadRun(const Store& store, const Digest& digest, AsOf as_of = {});

// A stored manifest by digest. Errors as above, NotFound as the store has it.
Result<Loaded> LoadManifest(const Store& store, const Digest& digest, AsOf as_of = {});

// The author named in the metadata of an implementation; empty where none is.
std::string AuthorOf(const Metadata& metadata);

// The author of a run of this entry, by its newest implementation; empty where there is none.
Result<std::string> AuthorOfEntry(const Store& store, const EntryName& entry);

// One line: "passed", or the state and its reasons ("excluded: DISQUALIFIED").
std::string StateText(const Version& version);

}  // namespace etl::serve
