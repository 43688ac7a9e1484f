#include "model/manifest_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "model/canonical_json.h"

namespace etl::manifest {
namespace {

// The two hex digits of every byte, side by side.
constexpr std::array<char, 512> kHexPairs = [] {
  std::array<char, 512> pairs{};
  for (std::size_t i = 0; i < 256; ++i) {
    pairs[2 * i] = "0123456789abcdef"[i >> 4];
    pairs[2 * i + 1] = "0123456789abcdef"[i & 15];
  }
  return pairs;
}();

// Whether JSON writes the text as it is: no quote, backslash or control. Looks at eight bytes at a time,
// because this is most of what writing a text costs; each line sets the top bit of some byte exactly when
// some byte is what it looks for.
bool IsPlain(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kTops = kOnes * 0x80;
  std::uint64_t found = 0;
  const char* at = text.data();
  for (std::size_t left = text.size(); left > 0;) {
    const std::size_t bytes = std::min<std::size_t>(left, 8);
    std::uint64_t word = kOnes * ' ';
    if (bytes == 8) {
      std::memcpy(&word, at, 8);
    } else {
      std::memcpy(&word, at, bytes);
    }
    const std::uint64_t quote = word ^ (kOnes * '"');
    const std::uint64_t backslash = word ^ (kOnes * '\\');
    found |= (word - kOnes * 0x20) & ~word;
    found |= (quote - kOnes) & ~quote;
    found |= (backslash - kOnes) & ~backslash;
    at += bytes;
    left -= bytes;
  }
  return (found & kTops) == 0;
}

}  // namespace

void Bytes::PutName(std::string_view name) {
  PutText(name);
  Put(':');
}

void Bytes::PutText(std::string_view text) {
  if (IsPlain(text) && text.size() + 2 <= kPieceMax) {
    Reserve(text.size() + 2);
    *end_++ = '"';
    std::memcpy(end_, text.data(), text.size());
    end_ += text.size();
    *end_++ = '"';
    return;
  }
  Flush();
  json::AppendString(out_, text);
}

void Bytes::PutWhole(std::int64_t value) {
  constexpr std::size_t kDigitsMax = 20;
  Reserve(kDigitsMax);
  end_ = std::to_chars(end_, end_ + kDigitsMax, value).ptr;
}

void Bytes::PutNumber(double value) {
  // Most numbers are small whole ones, for which the shortest digits are those of the integer.
  constexpr double kWholeMax = 9007199254740992.0;  // 2^53
  if (std::abs(value) <= kWholeMax && std::trunc(value) == value)
    return PutWhole(static_cast<std::int64_t>(value));
  Flush();
  json::AppendNumber(out_, value);
}

void Bytes::PutHash(const Digest& digest) {
  constexpr std::string_view kScheme = "\"sha256:";
  constexpr std::size_t kHashBytes = kScheme.size() + 64 + 1;
  Reserve(kHashBytes);
  std::memcpy(end_, kScheme.data(), kScheme.size());
  char* at = end_ + kScheme.size();
  for (const std::uint8_t byte : digest.bytes) {
    std::memcpy(at, kHexPairs.data() + std::size_t{2} * byte, 2);
    at += 2;
  }
  *at = '"';
  end_ += kHashBytes;
}

void Bytes::PutLong(std::string_view text) {
  Flush();
  out_.append(text);
}

void Bytes::Flush() {
  out_.append(buffer_, static_cast<std::size_t>(end_ - buffer_));
  end_ = buffer_;
}

}  // namespace etl::manifest
