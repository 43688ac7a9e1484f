#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/digest.h"
#include "model/error.h"
#include "model/instant.h"
#include "model/json.h"

namespace etl {

// The manifest kinds, apiVersion kernelindex.dev/v1alpha1, as plain structs whose members have the manifest's
// names in snake_case. An absent optional is a member that is left out; nothing is ever written as null.
inline constexpr std::string_view kApiVersion = "kernelindex.dev/v1alpha1";

// kSubmission is not a manifest: it is the entry kind for one row of a source, whether or not a run came of
// it.
enum class Kind : std::uint8_t {
  kOperationSpec = 1,
  kWorkloadCase,
  kWorkloadSuite,
  kSoftwareProject,
  kImplementationRevision,
  kBenchmarkProtocol,
  kExecutionEnvironment,
  kBenchmarkRun,
  kSubmission,
};
std::string_view KindName(Kind kind) noexcept;  // "OperationSpec"
std::optional<Kind> ParseKind(std::string_view name) noexcept;

template <class T>
using MapOf = std::map<std::string, T, std::less<>>;

struct Author {
  std::optional<std::string> name, github;
};
struct SourceRef {
  std::string url;
};
// Editorial: never part of a digest.
struct Metadata {
  std::string name;
  std::optional<std::string> title, description;
  std::optional<MapOf<std::string>> labels;
  std::optional<std::vector<Author>> authors;
  std::optional<std::vector<SourceRef>> source_refs;
};

struct ArtifactRef {
  std::string uri;
  Digest digest;
};

struct Axis {
  std::string role;  // variable, constant, derived
  std::optional<std::int64_t> value, minimum, maximum;
  std::optional<std::string> expression;
};
using Dimension = std::variant<std::int64_t, std::string>;  // a number, or an axis name
struct TensorType {
  std::vector<Dimension> shape;
  std::string dtype;
  std::optional<std::string> layout;
};
struct Argument {  // exactly one of tensor and scalar_dtype
  std::string name;
  std::optional<TensorType> tensor;
  std::optional<std::string> scalar_dtype;
};
struct Semantics {
  std::optional<std::string> expression;
  std::string mutation, determinism;
};
struct Reference {
  std::string language;
  std::optional<ArtifactRef> artifact;
};
struct OperationSpec {
  static constexpr Kind kKind = Kind::kOperationSpec;
  std::string family;
  MapOf<Axis> axes;
  std::vector<Argument> inputs, outputs;
  Semantics semantics;
  std::optional<Reference> reference;
};

struct TensorData {
  std::string generator;
  std::optional<std::int64_t> seed;
  std::optional<MapOf<double>> parameters;
  std::optional<ArtifactRef> artifact;
};
struct CaseTensor {
  std::vector<std::int64_t> shape;
  std::string dtype;
  std::optional<std::vector<std::int64_t>> strides;
  std::optional<std::int64_t> alignment_bytes;
  std::optional<TensorData> data;
};
struct CaseScalar {
  std::string dtype;
  double value = 0;
};
struct CaseCorrectness {
  std::string comparator;
  std::optional<double> max_absolute_error, max_relative_error, required_matched_ratio;
  std::optional<std::string> nan_policy, infinity_policy;
};
struct WorkloadCase {
  static constexpr Kind kKind = Kind::kWorkloadCase;
  Digest operation_spec_digest;
  MapOf<std::int64_t> axes;
  MapOf<CaseTensor> tensors;
  std::optional<MapOf<CaseScalar>> scalars;
  CaseCorrectness correctness;
};

struct SuiteCase {
  std::string external_id;
  MapOf<std::int64_t> axes;
};
struct SuiteCorrectness {
  std::string comparator;
  std::optional<std::string> description;
};
struct Aggregation {
  std::string metric, statistic;
};
struct WorkloadSuite {
  static constexpr Kind kKind = Kind::kWorkloadSuite;
  Digest operation_spec_digest;
  std::vector<SuiteCase> cases;
  SuiteCorrectness correctness;
  Aggregation aggregation;
};

struct ProjectHost {
  std::string kind, id;
};
struct ProjectPackage {
  std::string ecosystem, name;
};
struct SoftwareProject {
  static constexpr Kind kKind = Kind::kSoftwareProject;
  std::string name;
  std::optional<std::string> kind, repository, homepage;
  std::optional<ProjectHost> host;
  std::optional<std::vector<ProjectPackage>> packages;
};

struct ProjectRevision {
  std::optional<std::string> repository, commit, version;
  std::optional<Digest> tree_digest;
};
struct Callable {
  std::string language;
  std::optional<std::string> path, symbol, interface;
};
struct Support {
  std::vector<std::string>
      hardware_architectures;  // a set: sorted, no repeats; so are the other three named sets
  std::optional<std::vector<std::string>> products_tested;
  std::optional<std::vector<std::string>> axes;  // not a set: order is kept
  std::vector<std::string> dtypes;
  std::optional<std::vector<std::string>> layouts;
};
struct ImplementationSource {
  Digest content_digest;
  std::optional<std::string> file_name;
  std::optional<std::int64_t> size_bytes;
};
struct Install {
  std::string kind;
  std::optional<std::string> repository, commit, package, version, command;
};
struct BuildVariant {
  std::string name;
  Install install;
  std::optional<MapOf<std::string>> requirements;
};
struct LicenseEvidence {
  std::string path;
  std::optional<Digest> digest;
};
struct Licensing {
  std::optional<std::string> declared, concluded;
  std::optional<LicenseEvidence> evidence;
};
struct ImplementationRevision {
  static constexpr Kind kKind = Kind::kImplementationRevision;
  ProjectRevision project_revision;
  Digest operation_spec_digest;  // spec.operation.specDigest
  Callable callable;
  Support support;
  std::optional<ImplementationSource> source;
  std::optional<std::vector<BuildVariant>> build_variants;
  Licensing licensing;
};

struct Harness {
  std::string name;
  std::optional<std::string> version, repository, commit;
};
struct Measurement {
  std::string timer;
  std::optional<std::string> synchronization;
  std::optional<bool> compile_included, setup_included;
  std::optional<std::int64_t> warmup_iterations, warmup_duration_ns, measured_iterations, samples;
  std::optional<std::string> input_regeneration, outlier_policy;
  std::string primary_statistic;
};
struct ProtocolCorrectness {
  std::string reference, comparator;
};
struct DevicePolicy {
  std::optional<bool> clocks_locked;
  std::optional<double> power_limit_watts;
  std::optional<bool> persistence_mode;
};
struct Comparability {
  std::string family;
  std::optional<std::string> notes;
};
struct BenchmarkProtocol {
  static constexpr Kind kKind = Kind::kBenchmarkProtocol;
  Harness harness;
  Measurement measurement;
  std::optional<ProtocolCorrectness> correctness;
  std::optional<DevicePolicy> device_policy;
  std::optional<Comparability> comparability;
};

struct Hardware {
  std::string vendor, product, architecture;
  std::optional<std::string> form_factor;
  std::optional<std::int64_t> memory_bytes, count;
  std::optional<std::string> interconnect;
};
struct Framework {
  std::string name, version;
};
struct Software {
  std::optional<std::string> operating_system, kernel, driver, cuda_toolkit, compiler;
  std::optional<Framework> framework;
  std::optional<MapOf<std::string>> libraries;
};
struct EnvironmentSettings {
  std::optional<bool> clocks_locked;
  std::optional<double> power_limit_watts;
  std::optional<bool> persistence_mode, ecc_enabled;
  std::optional<MapOf<std::string>> environment_variables;
};
struct ExecutionEnvironment {
  static constexpr Kind kKind = Kind::kExecutionEnvironment;
  Hardware hardware;
  Software software;
  std::optional<EnvironmentSettings> settings;
  std::optional<Digest> image_digest;
};

struct RunCorrectness {
  std::string comparator;
  std::optional<double> maximum_absolute_error, maximum_relative_error, matched_ratio;
};
struct LatencyNs {  // integer nanoseconds
  std::optional<std::int64_t> median, mean, p05, p95, minimum, maximum, mad;
  std::optional<std::vector<std::int64_t>> confidence95;  // [low, high]
};
struct Timing {
  std::string primary_statistic;
  std::optional<std::int64_t> samples;
  LatencyNs latency_ns;
  std::optional<ArtifactRef> raw_samples;
};
struct MeasurementValue {
  std::string metric, unit, statistic;
  double value = 0;
  std::optional<std::int64_t> sample_count;
};
struct SourceNative {
  std::string source;
  std::optional<std::string> benchmark, external_id;
  std::optional<MapOf<double>> metrics;
};
struct EvidenceHarness {
  std::string repository, commit;
};
struct Evidence {
  std::optional<ArtifactRef> logs, raw_samples;
  std::optional<EvidenceHarness> harness;
};
struct BenchmarkRun {
  static constexpr Kind kKind = Kind::kBenchmarkRun;
  Digest implementation_digest, workload_digest, protocol_digest, environment_digest;
  std::string status;
  std::optional<RunCorrectness> correctness;
  std::optional<Timing> timing;
  std::optional<std::vector<MeasurementValue>> measurements;
  std::optional<SourceNative> source_native;
  std::optional<Evidence> evidence;
  Instant observed_at;
};

using Spec = std::variant<OperationSpec, WorkloadCase, WorkloadSuite, SoftwareProject, ImplementationRevision,
                          BenchmarkProtocol, ExecutionEnvironment, BenchmarkRun>;
struct Manifest {
  Metadata metadata;
  Spec spec;
  Kind kind() const;
};

// The exact bytes that identity.md hashes: JCS({apiVersion, kind, spec}). The struct's values must obey the
// manifest rules (CheckSpec tells); this function only writes. `out` is appended to, so a caller can reuse
// one buffer.
template <class S>
void AppendIdentity(std::string& out, const S& spec);
void AppendIdentity(std::string& out, const Spec& spec);
template <class S>
Digest DigestOf(const S& spec);
Digest DigestOf(const Spec& spec);

// The metadata alone, and the complete envelope, both canonical; ManifestDigest is the SHA-256 of the
// envelope.
void AppendMetadata(std::string& out, const Metadata& metadata);
std::string CanonicalManifest(const Manifest& manifest);
Digest ManifestDigest(const Manifest& manifest);
// The envelope from the identity bytes of a spec and canonical metadata, without reading either.
std::string JoinManifest(std::string_view identity, std::string_view metadata);

// Strict reading. Every fault found names its path ("$.spec.axes.batch.role") in `where`; reading stops at
// the first. Errors (kInvalid): UNKNOWN_MEMBER, MISSING_MEMBER, WRONG_TYPE, WRONG_PATTERN, WRONG_VALUE (not
// one of an enumeration, wrong apiVersion, both or neither of tensor and scalar), OUT_OF_RANGE (numbers, list
// lengths), TOO_LONG, NOT_A_SET (unsorted or repeated), UNKNOWN_KIND.
Result<Manifest> ReadManifest(json::Value value);
// The same, but collects every fault (at most 100) for `etlctl validate`. Empty: the manifest is valid.
std::vector<Error> CheckManifest(json::Value value);
// A spec or metadata alone, as stored: `value` is the {apiVersion, kind, spec} object, or the metadata
// object.
Result<Spec> ReadIdentity(json::Value value);
Result<Metadata> ReadMetadata(json::Value value);

// Whether a struct that our own code filled obeys the rules; errors as above, paths from "$.spec".
template <class S>
Status CheckSpec(const S& spec);
Status CheckMetadata(const Metadata& metadata);

}  // namespace etl
