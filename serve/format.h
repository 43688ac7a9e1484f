#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/comparison.h"
#include "model/digest.h"
#include "model/instant.h"

namespace etl::serve {

// How values look to people: three significant digits for times, a unit on everything.

// A duration in ns: "812 ns", "45.3 µs", "1.74 ms", "2.50 s". Three significant digits from 1 µs on, where
// rounding to 1000 moves on to the next unit; below 1 µs whole and shortest decimals. Not finite: "–".
std::string FormatLatency(double nanoseconds);

// What a run is ranked by, with its unit: FormatLatency for ns, else the shortest number and the unit.
std::string FormatValue(double value, std::string_view unit);

// "1.26×", two decimals.
std::string FormatRatio(double ratio);

// "0.5749": a score, four decimals.
std::string FormatScore(double score);

// A number as canonical JSON writes it.
std::string FormatNumber(double value);

// How far `value` is behind `best`: "–" for the best itself, "+12.3 %", and "2.31×" from twice the value on.
std::string FormatGap(double value, double best);

// "12,345".
std::string FormatCount(std::uint64_t count);

// "512 B", "1.5 KiB", "3.2 GiB".
std::string FormatBytes(std::uint64_t bytes);

// "0:05", "12:31", "1:02:03" of whole seconds.
std::string FormatDuration(double seconds);

// "2026-08-18", the day of an instant.
std::string FormatDay(Instant at);

// The first `digits` hex digits: how a person names a run.
std::string ShortId(const Digest& digest, std::size_t digits = 12);

// "sha256:", the first `digits` hex digits, "…".
std::string ShortDigest(const Digest& digest, std::size_t digits);

// A kernel's name as a title: without a leading number, words apart, well-known abbreviations in capitals,
// the first letter upper-case: "028_gqa_rotary_attention" is "GQA rotary attention". A name with nothing else
// in it stays as it is.
std::string TitleOf(std::string_view kernel_name);

// The name of a source as it calls itself; an unknown slug stays as it is.
std::string SourceTitle(std::string_view slug);

// The unit of a metric key "latency:mean:ns"; empty for another shape.
std::string UnitOf(std::string_view metric_key);

}  // namespace etl::serve
