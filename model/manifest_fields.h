#pragma once

#include <string_view>
#include <type_traits>

#include "model/manifest.h"
#include "model/manifest_rules.h"

// The one description of every manifest struct. Reading, checking and writing are three visitors of it, so a
// member cannot be read and not written, or written and not checked. Private to the manifest code and its
// tests.
//
// Members stand in the order of their names by UTF-16 code unit, because that is the order in which they are
// written; a test walks all structs and checks it. A visitor has
//   Ref<S>                            S& where it fills, const S& where it looks
//   Constant(name, word)              a member whose value is always `word`
//   Required(name, member, rule)
//   Optional(name, optional_member, rule)
//   ExactlyOne(name, optional_member, name, optional_member)   a condition on two members already visited
namespace etl::manifest {

template <class V, class S>
using In = typename V::template Ref<S>;

inline constexpr std::string_view kAxisRoles[] = {"variable", "constant", "derived"};
inline constexpr std::string_view kLayouts[] = {"row_major", "col_major", "contiguous", "strided"};
inline constexpr std::string_view kMutations[] = {"none", "in_place", "destination"};
inline constexpr std::string_view kDeterminisms[] = {"deterministic", "nondeterministic", "unspecified"};
inline constexpr std::string_view kSpecialValuePolicies[] = {"reject", "exact_match", "ignore"};
inline constexpr std::string_view kProjectKinds[] = {"library", "individual", "vendor"};
inline constexpr std::string_view kHostKinds[] = {"github", "huggingface", "gitlab", "other"};
inline constexpr std::string_view kInstallKinds[] = {"git", "pip", "package", "container", "source"};
inline constexpr std::string_view kRunStatuses[] = {"passed",
                                                    "incorrect_shape",
                                                    "incorrect_dtype",
                                                    "incorrect_numerical",
                                                    "compile_error",
                                                    "runtime_error",
                                                    "timeout",
                                                    "resource_exceeded",
                                                    "invalid_reference",
                                                    "policy_violation",
                                                    "suspected_reward_hack",
                                                    "incomplete_evidence",
                                                    "revoked"};

// The complete manifest, and the part of it that carries identity. They point at their parts, so that a spec
// is written without being copied into an envelope.
template <class S>
struct Envelope {
  std::conditional_t<std::is_const_v<S>, const Metadata, Metadata>* metadata;
  S* spec;
};
template <class S>
struct Identity {
  S* spec;
};

template <class V, class S>
void Fields(V& v, const Envelope<S>& s) {
  v.Constant("apiVersion", kApiVersion);
  v.Constant("kind", KindName(S::kKind));
  v.Required("metadata", *s.metadata, kObject);
  v.Required("spec", *s.spec, kObject);
}

template <class V, class S>
void Fields(V& v, const Identity<S>& s) {
  v.Constant("apiVersion", kApiVersion);
  v.Constant("kind", KindName(S::kKind));
  v.Required("spec", *s.spec, kObject);
}

template <class V>
void Fields(V& v, In<V, Author> s) {
  v.Optional("github", s.github, TextUpTo(100));
  v.Optional("name", s.name, TextUpTo(200));
}

template <class V>
void Fields(V& v, In<V, SourceRef> s) {
  v.Required("url", s.url, kUrl);
}

template <class V>
void Fields(V& v, In<V, Metadata> s) {
  v.Optional("authors", s.authors, ListOf(kObject));
  v.Optional("description", s.description, TextUpTo(2000));
  v.Optional("labels", s.labels, KeyedBy(kToken, TextUpTo(200)));
  v.Required("name", s.name, kName);
  v.Optional("sourceRefs", s.source_refs, ListOf(kObject));
  v.Optional("title", s.title, TextUpTo(200));
}

template <class V>
void Fields(V& v, In<V, ArtifactRef> s) {
  v.Required("digest", s.digest, kHash);
  v.Required("uri", s.uri, TextUpTo(2000));
}

// OperationSpec

template <class V>
void Fields(V& v, In<V, Axis> s) {
  v.Optional("expression", s.expression, kExpression);
  v.Optional("maximum", s.maximum, kWhole);
  v.Optional("minimum", s.minimum, kWhole);
  v.Required("role", s.role, OneOf{kAxisRoles});
  v.Constant("type", "integer");
  v.Optional("value", s.value, kWhole);
}

template <class V>
void Fields(V& v, In<V, TensorType> s) {
  v.Required("dtype", s.dtype, kToken);
  v.Optional("layout", s.layout, OneOf{kLayouts});
  v.Required("shape", s.shape, ListOf(kDimension, 1));
}

template <class V>
void Fields(V& v, In<V, Argument> s) {
  v.Required("name", s.name, kToken);
  v.Optional("scalar", s.scalar_dtype, WrappedIn("dtype", kToken));
  v.Optional("tensor", s.tensor, kObject);
  v.ExactlyOne("scalar", s.scalar_dtype, "tensor", s.tensor);
}

template <class V>
void Fields(V& v, In<V, Semantics> s) {
  v.Required("determinism", s.determinism, OneOf{kDeterminisms});
  v.Optional("expression", s.expression, TextUpTo(2000));
  v.Required("mutation", s.mutation, OneOf{kMutations});
}

template <class V>
void Fields(V& v, In<V, Reference> s) {
  v.Optional("artifact", s.artifact, kObject);
  v.Required("language", s.language, kToken);
}

template <class V>
void Fields(V& v, In<V, OperationSpec> s) {
  v.Required("axes", s.axes, KeyedBy(kToken, kObject));
  v.Required("family", s.family, kSlug);
  v.Required("inputs", s.inputs, ListOf(kObject, 1));
  v.Required("outputs", s.outputs, ListOf(kObject, 1));
  v.Optional("reference", s.reference, kObject);
  v.Required("semantics", s.semantics, kObject);
}

// WorkloadCase

template <class V>
void Fields(V& v, In<V, TensorData> s) {
  v.Optional("artifact", s.artifact, kObject);
  v.Required("generator", s.generator, kToken);
  v.Optional("parameters", s.parameters, KeyedBy(kToken, kNumber));
  v.Optional("seed", s.seed, kCount);
}

template <class V>
void Fields(V& v, In<V, CaseTensor> s) {
  v.Optional("alignmentBytes", s.alignment_bytes, kPositive);
  v.Optional("data", s.data, kObject);
  v.Required("dtype", s.dtype, kToken);
  v.Required("shape", s.shape, ListOf(kCount, 1));
  v.Optional("strides", s.strides, ListOf(kWhole));
}

template <class V>
void Fields(V& v, In<V, CaseScalar> s) {
  v.Required("dtype", s.dtype, kToken);
  v.Required("value", s.value, kNumber);
}

template <class V>
void Fields(V& v, In<V, CaseCorrectness> s) {
  v.Required("comparator", s.comparator, kToken);
  v.Optional("infinityPolicy", s.infinity_policy, OneOf{kSpecialValuePolicies});
  v.Optional("maxAbsoluteError", s.max_absolute_error, kNotNegative);
  v.Optional("maxRelativeError", s.max_relative_error, kNotNegative);
  v.Optional("nanPolicy", s.nan_policy, OneOf{kSpecialValuePolicies});
  v.Optional("requiredMatchedRatio", s.required_matched_ratio, kRatio);
}

template <class V>
void Fields(V& v, In<V, WorkloadCase> s) {
  v.Required("axes", s.axes, KeyedBy(kToken, kWhole));
  v.Required("correctness", s.correctness, kObject);
  v.Required("operationSpecDigest", s.operation_spec_digest, kHash);
  v.Optional("scalars", s.scalars, KeyedBy(kToken, kObject));
  v.Required("tensors", s.tensors, KeyedBy(kToken, kObject));
}

// WorkloadSuite

template <class V>
void Fields(V& v, In<V, SuiteCase> s) {
  v.Required("axes", s.axes, KeyedBy(kToken, kWhole));
  v.Required("externalId", s.external_id, TextUpTo(200));
}

template <class V>
void Fields(V& v, In<V, SuiteCorrectness> s) {
  v.Required("comparator", s.comparator, kToken);
  v.Optional("description", s.description, TextUpTo(500));
}

template <class V>
void Fields(V& v, In<V, Aggregation> s) {
  v.Required("metric", s.metric, kToken);
  v.Required("statistic", s.statistic, kToken);
}

template <class V>
void Fields(V& v, In<V, WorkloadSuite> s) {
  v.Required("aggregation", s.aggregation, kObject);
  v.Required("cases", s.cases, ListOf(kObject, 1));
  v.Required("correctness", s.correctness, kObject);
  v.Required("operationSpecDigest", s.operation_spec_digest, kHash);
}

// SoftwareProject

template <class V>
void Fields(V& v, In<V, ProjectHost> s) {
  v.Required("id", s.id, TextUpTo(200));
  v.Required("kind", s.kind, OneOf{kHostKinds});
}

template <class V>
void Fields(V& v, In<V, ProjectPackage> s) {
  v.Required("ecosystem", s.ecosystem, kToken);
  v.Required("name", s.name, TextUpTo(200));
}

template <class V>
void Fields(V& v, In<V, SoftwareProject> s) {
  v.Optional("homepage", s.homepage, kUrl);
  v.Optional("host", s.host, kObject);
  v.Optional("kind", s.kind, OneOf{kProjectKinds});
  v.Required("name", s.name, TextUpTo(200));
  v.Optional("packages", s.packages, ListOf(kObject));
  v.Optional("repository", s.repository, kUrl);
}

// ImplementationRevision

template <class V>
void Fields(V& v, In<V, ProjectRevision> s) {
  v.Optional("commit", s.commit, kCommit);
  v.Optional("repository", s.repository, kUrl);
  v.Optional("treeDigest", s.tree_digest, kHash);
  v.Optional("version", s.version, TextUpTo(100));
}

template <class V>
void Fields(V& v, In<V, Callable> s) {
  v.Optional("interface", s.interface, kToken);
  v.Required("language", s.language, kToken);
  v.Optional("path", s.path, TextUpTo(500));
  v.Optional("symbol", s.symbol, TextUpTo(200));
}

template <class V>
void Fields(V& v, In<V, Support> s) {
  v.Optional("axes", s.axes, ListOf(TextUpTo(200)));
  v.Required("dtypes", s.dtypes, SetOf(kToken));
  v.Required("hardwareArchitectures", s.hardware_architectures, SetOf(kToken));
  v.Optional("layouts", s.layouts, SetOf(TextUpTo(50)));
  v.Optional("productsTested", s.products_tested, SetOf(TextUpTo(100)));
}

template <class V>
void Fields(V& v, In<V, ImplementationSource> s) {
  v.Required("contentDigest", s.content_digest, kHash);
  v.Optional("fileName", s.file_name, TextUpTo(200));
  v.Optional("sizeBytes", s.size_bytes, kPositive);
}

template <class V>
void Fields(V& v, In<V, Install> s) {
  v.Optional("command", s.command, TextUpTo(1000));
  v.Optional("commit", s.commit, kCommit);
  v.Required("kind", s.kind, OneOf{kInstallKinds});
  v.Optional("package", s.package, TextUpTo(200));
  v.Optional("repository", s.repository, kUrl);
  v.Optional("version", s.version, TextUpTo(100));
}

template <class V>
void Fields(V& v, In<V, BuildVariant> s) {
  v.Required("install", s.install, kObject);
  v.Required("name", s.name, kName);
  v.Optional("requirements", s.requirements, KeyedBy(kToken, TextUpTo(200)));
}

template <class V>
void Fields(V& v, In<V, LicenseEvidence> s) {
  v.Optional("digest", s.digest, kHash);
  v.Required("path", s.path, TextUpTo(500));
}

template <class V>
void Fields(V& v, In<V, Licensing> s) {
  v.Optional("concluded", s.concluded, TextUpTo(200));
  v.Optional("declared", s.declared, TextUpTo(200));
  v.Optional("evidence", s.evidence, kObject);
}

template <class V>
void Fields(V& v, In<V, ImplementationRevision> s) {
  v.Optional("buildVariants", s.build_variants, ListOf(kObject));
  v.Required("callable", s.callable, kObject);
  v.Required("licensing", s.licensing, kObject);
  v.Required("operation", s.operation_spec_digest, WrappedIn("specDigest", kHash));
  v.Required("projectRevision", s.project_revision, kObject);
  v.Optional("source", s.source, kObject);
  v.Required("support", s.support, kObject);
}

// BenchmarkProtocol

template <class V>
void Fields(V& v, In<V, Harness> s) {
  v.Optional("commit", s.commit, kCommit);
  v.Required("name", s.name, TextUpTo(200));
  v.Optional("repository", s.repository, kUrl);
  v.Optional("version", s.version, TextUpTo(100));
}

template <class V>
void Fields(V& v, In<V, Measurement> s) {
  v.Optional("compileIncluded", s.compile_included, kFlag);
  v.Optional("inputRegeneration", s.input_regeneration, kToken);
  v.Optional("measuredIterations", s.measured_iterations, kPositive);
  v.Optional("outlierPolicy", s.outlier_policy, TextUpTo(500));
  v.Required("primaryStatistic", s.primary_statistic, kToken);
  v.Optional("samples", s.samples, kPositive);
  v.Optional("setupIncluded", s.setup_included, kFlag);
  v.Optional("synchronization", s.synchronization, kToken);
  v.Required("timer", s.timer, kToken);
  v.Optional("warmupDuration", s.warmup_duration_ns, kNanoseconds);
  v.Optional("warmupIterations", s.warmup_iterations, kCount);
}

template <class V>
void Fields(V& v, In<V, ProtocolCorrectness> s) {
  v.Required("comparator", s.comparator, kToken);
  v.Required("reference", s.reference, TextUpTo(500));
}

template <class V>
void Fields(V& v, In<V, DevicePolicy> s) {
  v.Optional("clocksLocked", s.clocks_locked, kFlag);
  v.Optional("persistenceMode", s.persistence_mode, kFlag);
  v.Optional("powerLimitWatts", s.power_limit_watts, kAboveZero);
}

template <class V>
void Fields(V& v, In<V, Comparability> s) {
  v.Required("family", s.family, kToken);
  v.Optional("notes", s.notes, TextUpTo(1000));
}

template <class V>
void Fields(V& v, In<V, BenchmarkProtocol> s) {
  v.Optional("comparability", s.comparability, kObject);
  v.Optional("correctness", s.correctness, kObject);
  v.Optional("devicePolicy", s.device_policy, kObject);
  v.Required("harness", s.harness, kObject);
  v.Required("measurement", s.measurement, kObject);
}

// ExecutionEnvironment

template <class V>
void Fields(V& v, In<V, Hardware> s) {
  v.Required("architecture", s.architecture, kToken);
  v.Optional("count", s.count, kPositive);
  v.Optional("formFactor", s.form_factor, TextUpTo(100));
  v.Optional("interconnect", s.interconnect, TextUpTo(200));
  v.Optional("memoryBytes", s.memory_bytes, kPositive);
  v.Required("product", s.product, TextUpTo(200));
  v.Required("vendor", s.vendor, kToken);
}

template <class V>
void Fields(V& v, In<V, Framework> s) {
  v.Required("name", s.name, kToken);
  v.Required("version", s.version, TextUpTo(100));
}

template <class V>
void Fields(V& v, In<V, Software> s) {
  v.Optional("compiler", s.compiler, TextUpTo(200));
  v.Optional("cudaToolkit", s.cuda_toolkit, TextUpTo(100));
  v.Optional("driver", s.driver, TextUpTo(100));
  v.Optional("framework", s.framework, kObject);
  v.Optional("kernel", s.kernel, TextUpTo(200));
  v.Optional("libraries", s.libraries, KeyedBy(kToken, TextUpTo(100)));
  v.Optional("operatingSystem", s.operating_system, TextUpTo(200));
}

template <class V>
void Fields(V& v, In<V, EnvironmentSettings> s) {
  v.Optional("clocksLocked", s.clocks_locked, kFlag);
  v.Optional("eccEnabled", s.ecc_enabled, kFlag);
  v.Optional("environmentVariables", s.environment_variables, KeyedBy(TextUpTo(200), TextUpTo(500)));
  v.Optional("persistenceMode", s.persistence_mode, kFlag);
  v.Optional("powerLimitWatts", s.power_limit_watts, kAboveZero);
}

template <class V>
void Fields(V& v, In<V, ExecutionEnvironment> s) {
  v.Required("hardware", s.hardware, kObject);
  v.Optional("imageDigest", s.image_digest, kHash);
  v.Optional("settings", s.settings, kObject);
  v.Required("software", s.software, kObject);
}

// BenchmarkRun

template <class V>
void Fields(V& v, In<V, RunCorrectness> s) {
  v.Required("comparator", s.comparator, kToken);
  v.Optional("matchedRatio", s.matched_ratio, kRatio);
  v.Optional("maximumAbsoluteError", s.maximum_absolute_error, kNotNegative);
  v.Optional("maximumRelativeError", s.maximum_relative_error, kNotNegative);
}

template <class V>
void Fields(V& v, In<V, LatencyNs> s) {
  v.Optional("confidence95", s.confidence95, ListOf(kNanoseconds, 2, 2));
  v.Optional("mad", s.mad, kNanoseconds);
  v.Optional("maximum", s.maximum, kNanoseconds);
  v.Optional("mean", s.mean, kNanoseconds);
  v.Optional("median", s.median, kNanoseconds);
  v.Optional("minimum", s.minimum, kNanoseconds);
  v.Optional("p05", s.p05, kNanoseconds);
  v.Optional("p95", s.p95, kNanoseconds);
}

template <class V>
void Fields(V& v, In<V, Timing> s) {
  v.Required("latencyNs", s.latency_ns, kObject);
  v.Required("primaryStatistic", s.primary_statistic, kToken);
  v.Optional("rawSamples", s.raw_samples, kObject);
  v.Optional("samples", s.samples, kPositive);
}

template <class V>
void Fields(V& v, In<V, MeasurementValue> s) {
  v.Required("metric", s.metric, kToken);
  v.Optional("sampleCount", s.sample_count, kPositive);
  v.Required("statistic", s.statistic, kToken);
  v.Required("unit", s.unit, kToken);
  v.Required("value", s.value, kNumber);
}

template <class V>
void Fields(V& v, In<V, SourceNative> s) {
  v.Optional("benchmark", s.benchmark, TextUpTo(200));
  v.Optional("externalId", s.external_id, TextUpTo(500));
  v.Optional("metrics", s.metrics, KeyedBy(kToken, kNumber));
  v.Required("source", s.source, kSlug);
}

template <class V>
void Fields(V& v, In<V, EvidenceHarness> s) {
  v.Required("commit", s.commit, kCommit);
  v.Required("repository", s.repository, kUrl);
}

template <class V>
void Fields(V& v, In<V, Evidence> s) {
  v.Optional("harness", s.harness, kObject);
  v.Optional("logs", s.logs, kObject);
  v.Optional("rawSamples", s.raw_samples, kObject);
}

template <class V>
void Fields(V& v, In<V, BenchmarkRun> s) {
  v.Optional("correctness", s.correctness, kObject);
  v.Required("environmentDigest", s.environment_digest, kHash);
  v.Optional("evidence", s.evidence, kObject);
  v.Required("implementationDigest", s.implementation_digest, kHash);
  v.Optional("measurements", s.measurements, ListOf(kObject));
  v.Required("observedAt", s.observed_at, kMoment);
  v.Required("protocolDigest", s.protocol_digest, kHash);
  v.Optional("sourceNative", s.source_native, kObject);
  v.Required("status", s.status, OneOf{kRunStatuses});
  v.Optional("timing", s.timing, kObject);
  v.Required("workloadDigest", s.workload_digest, kHash);
}

}  // namespace etl::manifest
