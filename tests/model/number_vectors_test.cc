// RFC 8785's own vectors, and numbers by a rule of our own.

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "model/canonical_json.h"
#include "model/digest.h"
#include "tests/support/golden.h"

namespace etl::json {
namespace {

std::string Number(double value) {
  std::string out;
  AppendNumber(out, value);
  return out;
}

// The public sequence of doubles: given ones, then 2,000 from the smallest normal upwards, then what a chain
// of SHA-256 yields.
class Sequence {
 public:
  explicit Sequence(std::vector<std::uint64_t> first) : first_(std::move(first)) {
    for (std::uint64_t i = 0; i < 2000; ++i) first_.push_back(0x0010'0000'0000'0000u + i);
  }

  std::uint64_t Next() {
    if (given_ < first_.size()) return first_[given_++];
    while (true) {
      if (word_ == 4) {
        block_ = Sha256(block_.View());
        word_ = 0;
      }
      std::uint64_t bits = 0;
      for (std::size_t i = 8; i-- > 0;) bits = bits << 8 | block_.bytes[8 * word_ + i];
      ++word_;
      const auto value = std::bit_cast<double>(bits);
      if (value != 0 && std::isfinite(value)) return bits;
    }
  }

 private:
  std::vector<std::uint64_t> first_;
  std::size_t given_ = 0;
  Digest block_;
  std::size_t word_ = 4;
};

std::vector<std::uint64_t> ReadHexLines(const std::string& text) {
  std::vector<std::uint64_t> out;
  for (const char *p = text.data(), *end = p + text.size(); p != end;) {
    std::uint64_t bits = 0;
    const auto r = std::from_chars(p, end, bits, 16);
    if (r.ec == std::errc()) out.push_back(bits);
    p = r.ptr == end ? end : r.ptr + 1;
  }
  return out;
}

void AppendLine(std::string& out, std::uint64_t bits) {
  std::array<char, 16> hex;
  out.append(hex.data(), std::to_chars(hex.data(), hex.data() + hex.size(), bits, 16).ptr);
  out += ',';
  AppendNumber(out, std::bit_cast<double>(bits));
  out += '\n';
}

// ETL_NUMBER_LINES=10000000 (CI) or 100000000 goes further than the million lines of every run.
TEST(NumberVectors, HaveThePublishedSumsOfTheDeterministicSequence) {
  ETL_GOLDEN(golden);
  const std::map<std::uint64_t, std::string> sums = {
      {1'000, "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687"},
      {10'000, "b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892"},
      {100'000, "22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7"},
      {1'000'000, "49415fee2c56c77864931bd3624faad425c3c577d6d74e89a83bc725506dad16"},
      {10'000'000, "b9f8a44a91d46813b21b9602e72f112613c91408db0b8341fb94603d9db135e0"},
      {100'000'000, "0f7dda6b0837dde083c5d6b896f7d62340c8a2415b0c7121d83145e08a755272"}};
  const char* const wanted = std::getenv("ETL_NUMBER_LINES");
  const std::uint64_t lines =
      std::max<std::uint64_t>(1'000'000, wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 0);
  Sequence sequence(ReadHexLines(test::ReadFile(golden + "/jcs/static_doubles.txt")));
  std::string text;
  std::uint64_t done = 0;
  std::vector<std::pair<std::uint64_t, Sha256Hasher>> hashers;
  for (const auto& [count, sum] : sums)
    if (count <= lines) hashers.emplace_back(count, Sha256Hasher());
  for (auto& [count, hash] : hashers) {
    while (done < count) {
      text.clear();
      for (std::uint64_t i = 0; i < 1000; ++i) AppendLine(text, sequence.Next());
      done += 1000;
      for (auto& [other_count, other_hash] : hashers)
        if (other_count >= done) other_hash.Update(text);
    }
    EXPECT_EQ(hash.Finish().Hex(), sums.at(count)) << count << " lines";
  }
}

TEST(NumberVectors, CanonicalizeEveryFileToItsOutput) {
  ETL_GOLDEN(golden);
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(golden + "/jcs/input")) {
    const auto out = Canonicalize(test::ReadFile(file.path()));
    ASSERT_TRUE(out.has_value()) << file.path() << " " << out.error().Message();
    EXPECT_EQ(*out, test::ReadFile(golden + "/jcs/output/" + file.path().filename().string())) << file.path();
    ++files;
  }
  EXPECT_EQ(files, 6u);
}

// The C library's digits, fewest first: the nearest to the value that read back.
std::pair<std::string, int> ShortestDigits(double magnitude) {
  for (int digits = 1; digits <= 17; ++digits) {
    std::array<char, 40> text;
    std::snprintf(text.data(), text.size(), "%.*e", digits - 1, magnitude);
    if (std::strtod(text.data(), nullptr) != magnitude) continue;
    const std::string written = text.data();
    std::string mantissa = written.substr(0, written.find('e'));
    std::erase(mantissa, '.');
    return {mantissa, std::atoi(written.substr(written.find('e') + 1).c_str())};
  }
  return {"", 0};
}

// Checks text against value by the wording of ECMAScript, not by our code.
void ExpectEcmaScriptForm(double value) {
  static const std::regex plain(R"(-?(0|[1-9][0-9]{0,20})(\.[0-9]*[1-9])?)");
  static const std::regex scientific(
      R"(-?[1-9](\.[0-9]*[1-9])?e(-([7-9]|[1-9][0-9]+)|\+(2[1-9]|[3-9][0-9]|[1-9][0-9]{2})))");
  const std::string text = Number(value);
  const double magnitude = std::abs(value);
  EXPECT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
  EXPECT_EQ(text.starts_with('-'), value < 0) << text;
  const bool is_plain = value == 0 || (magnitude >= 1e-6 && magnitude < 1e21);
  EXPECT_TRUE(std::regex_match(text, is_plain ? plain : scientific)) << text;
  // As few digits as any text that reads back. Whole numbers from 2^53 on are filled up with zeros, which do
  // not count.
  std::string digits = text.substr(0, text.find('e'));
  std::erase(digits, '-');
  std::erase(digits, '.');
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  digits.erase(digits.find_last_not_of('0') + 1);
  if (value == 0) return;
  auto [shortest, exponent] = ShortestDigits(magnitude);
  shortest.erase(shortest.find_last_not_of('0') + 1);
  EXPECT_LE(digits.size(), shortest.size())
      << text;  // less where a power of two makes the gap below it smaller
  if (!is_plain) {
    EXPECT_EQ(std::atoi(text.substr(text.find('e') + 1).c_str()), exponent) << text;
  }
}

TEST(NumberVectors, WriteEveryPowerOfTenAndItsNeighboursInEcmaScriptForm) {
  for (int exponent = -323; exponent <= 308; ++exponent) {
    const double power = std::strtod(("1e" + std::to_string(exponent)).c_str(), nullptr);
    for (const double value : {power, std::nextafter(power, 0.0),
                               std::nextafter(power, std::numeric_limits<double>::infinity())}) {
      ExpectEcmaScriptForm(value);
      ExpectEcmaScriptForm(-value);
    }
    const std::string zeros(static_cast<std::size_t>(std::abs(exponent)), '0');
    const std::string expected = exponent >= 21   ? "1e+" + std::to_string(exponent)
                                 : exponent >= 0  ? "1" + zeros
                                 : exponent >= -6 ? "0." + zeros.substr(1) + "1"
                                                  : "1e" + std::to_string(exponent);
    EXPECT_EQ(Number(power), expected);
  }
}

TEST(NumberVectors, WriteEveryPowerOfTwoAndItsNeighboursInEcmaScriptForm) {
  for (int exponent = -1074; exponent <= 1023; ++exponent) {
    const double power = std::ldexp(1.0, exponent);
    for (const double value :
         {power, std::nextafter(power, 0.0), std::nextafter(power, std::numeric_limits<double>::infinity())})
      ExpectEcmaScriptForm(value);
  }
}

TEST(NumberVectors, WriteTheCornersAsEcmaScriptDoes) {
  const std::vector<std::pair<double, std::string>> corners = {
      {0.0, "0"},
      {-0.0, "0"},
      {1e21, "1e+21"},
      {std::nextafter(1e21, 0), "999999999999999900000"},
      {1e-6, "0.000001"},
      {1e-7, "1e-7"},
      {std::nextafter(1e-6, 0), "9.999999999999997e-7"},
      {5e-324, "5e-324"},
      {std::numeric_limits<double>::max(), "1.7976931348623157e+308"},
      {-std::numeric_limits<double>::max(), "-1.7976931348623157e+308"},
      {std::numeric_limits<double>::min(), "2.2250738585072014e-308"},
      {9007199254740992.0, "9007199254740992"},
      {9007199254740994.0, "9007199254740994"},
      {295147905179352830000.0, "295147905179352830000"},
      {1e23, "1e+23"},
      {9.5367431640625e-7, "9.5367431640625e-7"},
      {0.000035689, "0.000035689"}};
  for (const auto& [value, text] : corners) EXPECT_EQ(Number(value), text);
}

}  // namespace
}  // namespace etl::json
