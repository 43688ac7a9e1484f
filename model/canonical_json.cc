#include "model/canonical_json.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "model/json_text.h"

namespace etl::json {
namespace {

using internal::Node;
using internal::Text;

constexpr std::int64_t kExactIntegerMax = std::int64_t{1} << 53;
constexpr std::size_t kNumberBytesMax = 32;  // the longest canonical double has 25
constexpr std::size_t kBlock = 8;            // bytes looked at in one step

std::uint64_t Load8(const char* p) {
  std::uint64_t word = 0;
  std::memcpy(&word, p, sizeof(word));
  return word;
}

// Whether any byte of the word is a quote, a backslash or a control character. May say yes for none (a borrow
// from a byte that is one), never no for one.
bool HasSpecial(std::uint64_t word) {
  constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101u;
  constexpr std::uint64_t kHighs = kOnes * 0x80;
  const auto has_zero = [](std::uint64_t w) { return (w - kOnes) & ~w; };
  const std::uint64_t control = (word - kOnes * 0x20) & ~word;
  return ((has_zero(word ^ (kOnes * '"')) | has_zero(word ^ (kOnes * '\\')) | control) & kHighs) != 0;
}

bool NeedsEscape(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

// Bytes at the start of `text` that stand for themselves.
std::size_t PlainBytes(std::string_view text) {
  std::size_t i = 0;
  while (i + kBlock <= text.size() && !HasSpecial(Load8(text.data() + i))) i += kBlock;
  while (i < text.size() && !NeedsEscape(text[i])) ++i;
  return i;
}

// Copies the bytes at the start of a tape's string that stand for themselves, and says how many; may write up
// to 15 more.
std::size_t CopyPlain(char* to, const char* from, std::size_t bytes) {
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i control = _mm_set1_epi8(0x1f);
  for (std::size_t i = 0;; i += 16) {
    const __m128i s = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), s);
    const __m128i special = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(s, quote), _mm_cmpeq_epi8(s, backslash)),
                                         _mm_cmpeq_epi8(_mm_max_epu8(s, control), control));
    // The zero behind the string is special, so the end needs no check of its own.
    if (const int mask = _mm_movemask_epi8(special); mask != 0)
      return std::min(bytes, i + static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(mask))));
  }
#else
  const std::size_t plain = PlainBytes({from, bytes});
  std::memcpy(to, from, plain);
  return plain;
#endif
}

// Writes the escape of a character that needs one; at most 6 bytes.
char* PutEscape(char* to, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  char letter = 0;
  switch (c) {
    case '"':
    case '\\':
      letter = c;
      break;
    case '\b':
      letter = 'b';
      break;
    case '\t':
      letter = 't';
      break;
    case '\n':
      letter = 'n';
      break;
    case '\f':
      letter = 'f';
      break;
    case '\r':
      letter = 'r';
      break;
    default:
      break;
  }
  *to++ = '\\';
  if (letter != 0) {
    *to++ = letter;
    return to;
  }
  const auto code = static_cast<unsigned char>(c);
  for (const char digit : {'u', '0', '0', kHex[code >> 4], kHex[code & 15]}) *to++ = digit;
  return to;
}

char* Put(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

char* PutZeros(char* to, int count) {
  std::memset(to, '0', static_cast<std::size_t>(count));
  return to + count;
}

// Lays out shortest digits as ECMAScript's Number::toString does: `digits` are d1 to dk, the value is
// 0.d1..dk times ten to the `point`.
char* PutDigits(char* to, std::string_view digits, int point) {
  const int count = static_cast<int>(digits.size());
  if (count <= point && point <= 21) return PutZeros(Put(to, digits), point - count);
  if (0 < point && point <= 21) {
    const auto whole = static_cast<std::size_t>(point);
    to = Put(to, digits.substr(0, whole));
    *to++ = '.';
    return Put(to, digits.substr(whole));
  }
  if (-6 < point && point <= 0) return Put(PutZeros(Put(to, "0."), -point), digits);
  *to++ = digits[0];
  if (count > 1) {
    *to++ = '.';
    to = Put(to, digits.substr(1));
  }
  *to++ = 'e';
  *to++ = point > 0 ? '+' : '-';
  return std::to_chars(to, to + 4, std::abs(point - 1)).ptr;
}

// At most kNumberBytesMax bytes.
char* PutNumber(char* to, double value) {
  assert(std::isfinite(value));
  if (std::abs(value) <= static_cast<double>(kExactIntegerMax)) {
    // Also takes -0 to 0.
    if (const auto integer = static_cast<std::int64_t>(value); static_cast<double>(integer) == value)
      return std::to_chars(to, to + kNumberBytesMax, integer).ptr;
  }
  if (std::signbit(value)) *to++ = '-';
  // "d.ddde-XX", in the fewest digits that read back to the value.
  std::array<char, kNumberBytesMax> buffer;
  const auto r = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value),
                               std::chars_format::scientific);
  char* const exponent_mark = std::find(buffer.data(), r.ptr, 'e');
  int exponent = 0;
  std::from_chars(exponent_mark + (exponent_mark[1] == '+' ? 2 : 1), r.ptr, exponent);
  char* digits = buffer.data();
  if (exponent_mark - digits > 1) {
    digits[1] = digits[0];  // over the point
    ++digits;
  }
  return PutDigits(to, {digits, static_cast<std::size_t>(exponent_mark - digits)}, exponent + 1);
}

enum class NumberForm : std::uint8_t {
  kCanonical,   // the text is what JCS writes
  kBigInteger,  // an integer of so many digits that a double may not hold it
  kOther,
};

// At most 15 significant digits name a double that no shorter text names, so such a text is canonical if its
// form is: no exponent, no zero at the end of a fraction, not -0, not below 1e-6.
NumberForm FormOf(std::string_view text) {
  constexpr std::size_t kDigitsExact = 15;
  std::size_t i = text.front() == '-' ? 1 : 0;
  const std::size_t first = i;
  while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
  if (i == text.size()) {
    if (text[first] == '0') return first == 0 ? NumberForm::kCanonical : NumberForm::kOther;
    return i - first <= kDigitsExact ? NumberForm::kCanonical : NumberForm::kBigInteger;
  }
  if (text[i] != '.' || text.size() - first > kDigitsExact + 1 || text.back() == '0')
    return NumberForm::kOther;
  const std::size_t point = i++;
  while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
  if (i != text.size()) return NumberForm::kOther;
  const bool tiny = text[first] == '0' && text.substr(point + 1).starts_with("000000");
  return tiny ? NumberForm::kOther : NumberForm::kCanonical;
}

// The rank of a byte when the first difference of two strings decides. In UTF-16 supplementary characters
// (lead f0 to f4) begin with a surrogate (d800 to dfff) and so sort before U+E000 to U+FFFF (lead ee and ef).
constexpr unsigned Utf16Rank(unsigned char byte) {
  return byte == 0xee || byte == 0xef ? byte + 7u : byte;
}

// One member of an object being sorted: its name's first bytes as a number that orders as they do, and its
// place in the document.
struct SortedMember {
  std::uint64_t prefix = 0;
  const Node* name = nullptr;
  std::uint32_t index = 0;
};

std::uint64_t SortPrefix(const Node& name) {
  const std::uint64_t word = internal::FirstBytes(name);
  if ((word & 0x8080'8080'8080'8080u) == 0) return word;
  std::uint64_t ranked = 0;
  for (unsigned shift = 0; shift < 64; shift += 8)
    ranked |= std::uint64_t{Utf16Rank(static_cast<unsigned char>(word >> shift))} << shift;
  return ranked;
}

bool MemberLess(const SortedMember& a, const SortedMember& b) {
  return a.prefix != b.prefix ? a.prefix < b.prefix : Utf16Less(Text(*a.name), Text(*b.name));
}

// Sorts the members of one object. Rows of one source have the same members in the same order, so the order
// found last is tried first, per number of members: it is right exactly if it makes the names rise, whatever
// object it came from.
void SortMembers(std::span<SortedMember> members) {
  constexpr std::size_t kRememberedMax = 64;
  thread_local std::array<std::array<std::uint8_t, kRememberedMax>, kRememberedMax + 1> remembered;
  if (members.size() > kRememberedMax) return std::sort(members.begin(), members.end(), MemberLess);
  auto& order = remembered[members.size()];
  std::array<SortedMember, kRememberedMax> tried;
  bool rising = true;
  for (std::size_t i = 0; i < members.size() && rising; ++i) {
    tried[i] = members[order[i]];
    rising = i == 0 || MemberLess(tried[i - 1], tried[i]);
  }
  if (rising) {
    std::copy_n(tried.begin(), members.size(), members.begin());
    return;
  }
  std::sort(members.begin(), members.end(), MemberLess);
  for (std::size_t i = 0; i < members.size(); ++i) order[i] = static_cast<std::uint8_t>(members[i].index);
}

// Writes into a string by pointer: room is asked for ahead of each piece, so that no piece is checked byte by
// byte.
class Output {
 public:
  Output(std::string& out, std::size_t bytes_expected) : out_(out), used_(out.size()) {
    out_.resize(used_ + bytes_expected + kNumberBytesMax);
  }
  ~Output() { out_.resize(used_); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void Char(char c) {
    *Room(1) = c;
    ++used_;
  }
  void Raw(std::string_view text) {
    Put(Room(text.size()), text);
    used_ += text.size();
  }
  // A string of the tape, which may be read to a block behind its end.
  void String(const Node& node) {
    const char* from = node.text;
    const char* const end = from + node.text_bytes;
    char* to = Room(node.text_bytes + kStringSlack);
    *to++ = '"';
    while (true) {
      const std::size_t plain = CopyPlain(to, from, static_cast<std::size_t>(end - from));
      from += plain;
      to += plain;
      if (from == end) break;
      to = PutEscape(to, *from++);
      used_ = static_cast<std::size_t>(to - out_.data());
      to = Room(static_cast<std::size_t>(end - from) + kStringSlack);
    }
    *to++ = '"';
    used_ = static_cast<std::size_t>(to - out_.data());
  }
  void Number(double value) {
    char* const begin = Room(kNumberBytesMax);
    used_ += static_cast<std::size_t>(PutNumber(begin, value) - begin);
  }

 private:
  static constexpr std::size_t kStringSlack = 32;  // quotes, an escape and a block

  char* Room(std::size_t bytes) {
    if (out_.size() - used_ < bytes) out_.resize(2 * out_.size() + bytes);
    return out_.data() + used_;
  }

  std::string& out_;
  std::size_t used_;
};

// Writes a value without recursion. `members_` is a stack of sorted objects, of which the innermost open one
// is on top.
class CanonicalWriter {
 public:
  CanonicalWriter(std::string& out, const Node& root, Integers integers)
      : out_(out, root.end - root.begin), integers_(integers) {
    frames_.reserve(8);
    members_.reserve(64);
  }

  void Write(const Node& root) {
    if (!Begin(root)) return;
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.left == 0) {
        out_.Char(frame.object ? '}' : ']');
        if (frame.object) members_.resize(frame.first);
        frames_.pop_back();
        continue;
      }
      if (!frame.fresh) out_.Char(',');
      frame.fresh = false;
      --frame.left;
      const Node* value = frame.next;
      if (frame.object) {
        const Node* name = members_[frame.position++].name;
        out_.String(*name);
        out_.Char(':');
        value = name + 1;
      } else {
        frame.next += value->span;
      }
      Begin(*value);  // may move the frames
    }
  }

 private:
  struct Frame {
    bool object = false;
    bool fresh = true;
    std::uint32_t left = 0;
    const Node* next = nullptr;           // of an array
    std::size_t first = 0, position = 0;  // of an object, in members_
  };

  // Writes a scalar, or opens a container and says so.
  bool Begin(const Node& node) {
    switch (node.type) {
      case Type::kNull:
        out_.Raw("null");
        return false;
      case Type::kFalse:
        out_.Raw("false");
        return false;
      case Type::kTrue:
        out_.Raw("true");
        return false;
      case Type::kNumber:
        Number(node);
        return false;
      case Type::kString:
        out_.String(node);
        return false;
      case Type::kArray:
        out_.Char('[');
        frames_.push_back({false, true, node.count, &node + 1, 0, 0});
        return true;
      case Type::kObject:
        out_.Char('{');
        frames_.push_back({true, true, node.count, nullptr, members_.size(), members_.size()});
        PushMembers(node);
        return true;
    }
    return false;
  }

  void Number(const Node& node) {
    const NumberForm form = FormOf(Text(node));
    if (form == NumberForm::kCanonical || (form == NumberForm::kBigInteger && integers_ == Integers::kExact))
      out_.Raw(Text(node));
    else
      out_.Number(Value(&node).AsDouble().value_or(0));  // the reader refused what no double holds
  }

  void PushMembers(const Node& object) {
    const std::size_t first = members_.size();
    const Node* name = &object + 1;
    bool sorted = true;
    for (std::uint32_t i = 0; i < object.count; ++i, name += 1 + name[1].span) {
      members_.push_back({SortPrefix(*name), name, i});
      if (i > 0 && sorted) sorted = MemberLess(members_[members_.size() - 2], members_.back());
    }
    if (!sorted) SortMembers(std::span(members_).subspan(first));
  }

  Output out_;
  Integers integers_;
  std::vector<Frame> frames_;
  std::vector<SortedMember> members_;
};

}  // namespace

void AppendString(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t plain = PlainBytes(text); plain != text.size(); plain = PlainBytes(text)) {
    std::array<char, 6> escape;
    out.append(text.substr(0, plain)).append(escape.data(), PutEscape(escape.data(), text[plain]));
    text.remove_prefix(plain + 1);
  }
  out.append(text) += '"';
}

void AppendNumber(std::string& out, double value) {
  std::array<char, kNumberBytesMax> buffer;
  out.append(buffer.data(), PutNumber(buffer.data(), value));
}

void AppendNumber(std::string& out, std::int64_t value) {
  if (value > kExactIntegerMax || value < -kExactIntegerMax)
    return AppendNumber(out, static_cast<double>(value));
  std::array<char, kNumberBytesMax> buffer;
  out.append(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr);
}

void AppendCanonical(std::string& out, Value value, Integers integers) {
  CanonicalWriter(out, *value.node(), integers).Write(*value.node());
}

std::string Canonical(Value value, Integers integers) {
  std::string out;
  AppendCanonical(out, value, integers);
  return out;
}

Result<std::string> Canonicalize(std::string_view text, const Limits& limits) {
  ETL_TRY(const Document document, Document::Parse(text, limits));
  return Canonical(document.root());
}

bool Utf16Less(std::string_view a, std::string_view b) noexcept {
  const std::size_t common = std::min(a.size(), b.size());
  std::size_t i = 0;
  while (i + kBlock <= common && Load8(a.data() + i) == Load8(b.data() + i)) i += kBlock;
  while (i < common && a[i] == b[i]) ++i;
  if (i == common) return a.size() < b.size();
  return Utf16Rank(static_cast<unsigned char>(a[i])) < Utf16Rank(static_cast<unsigned char>(b[i]));
}

}  // namespace etl::json
