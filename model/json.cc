#include "model/json.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include <rapidjson/error/error.h>
#include <rapidjson/reader.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "model/json_text.h"

namespace etl::json {
namespace {

using internal::BlankNumbers;
using internal::CheckBytes;
using internal::Fault;
using internal::FirstBytes;
using internal::kBytesBehind;
using internal::Node;
using internal::NumberBytes;
using internal::NumberRangeFault;
using internal::ReadDouble;
using internal::Text;

constexpr std::size_t kAddressableBytes = 0xffff'ffff;   // offsets are 32 bits
constexpr std::size_t kBlock = 16;                       // bytes looked at in one step
constexpr std::size_t kNodesReservedMax = 1u << 20;      // beyond, the tape grows by doubling
constexpr std::size_t kExponentSafeBytes = 100'000'000;  // above, RapidJSON's exponent could overflow an int
constexpr std::uint32_t kNoParent = 0xffff'ffff;

// The first quote, backslash or control character at or after `p`. The text ends in a NUL with a block behind
// it.
char* SkipPlain(char* p) {
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i control = _mm_set1_epi8(0x1f);
  for (;; p += kBlock) {
    const __m128i s = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i special = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(s, quote), _mm_cmpeq_epi8(s, backslash)),
                                         _mm_cmpeq_epi8(_mm_max_epu8(s, control), control));
    if (const int mask = _mm_movemask_epi8(special); mask != 0)
      return p + std::countr_zero(static_cast<unsigned>(mask));
  }
#else
  while (static_cast<unsigned char>(*p) >= 0x20 && *p != '"' && *p != '\\') ++p;
  return p;
#endif
}

// RapidJSON's in-place stream, with a faster way over the plain part of a string: RapidJSON calls PutBegin
// just behind an opening quote, when source and target are the same byte, so whatever needs no unescaping is
// skipped there. (Its own SSE2 scan lets the control characters 1a to 1f through; this one does not.) It
// calls PutBegin for numbers too, which never follow a quote; the byte in front of the text is there to be
// looked at.
class InPlaceStream {
 public:
  using Ch = char;

  explicit InPlaceStream(char* text) : source_(text), target_(text), head_(text) {}

  Ch Peek() const { return *source_; }
  Ch Take() { return *source_++; }
  std::size_t Tell() const { return static_cast<std::size_t>(source_ - head_); }
  void Put(Ch c) { *target_++ = c; }
  Ch* PutBegin() {
    Ch* begin = source_;
    if (begin[-1] == '"') source_ = SkipPlain(begin);
    target_ = source_;
    return begin;
  }
  std::size_t PutEnd(Ch* begin) const { return static_cast<std::size_t>(target_ - begin); }
  void Flush() {}
  const char* head() const { return head_; }

 private:
  Ch* source_;
  Ch* target_;
  Ch* head_;
};

}  // namespace
}  // namespace etl::json

template <>
struct rapidjson::StreamTraits<etl::json::InPlaceStream> {
  enum { copyOptimization = 1 };
};

namespace etl::json {
namespace {

// Receives RapidJSON's events and lays down the tape. `source` is the text as given; strings are unescaped in
// a copy. While a container is open, its `end` holds the index of the one around it.
class TapeBuilder {
 public:
  TapeBuilder(std::string_view source, const InPlaceStream& stream, std::vector<Node>& nodes,
              std::size_t depth_max, bool blanked)
      : source_(source), stream_(stream), nodes_(nodes), depth_max_(depth_max), blanked_(blanked) {}

  bool Null() { return Literal(Type::kNull, 4); }
  bool Bool(bool value) { return value ? Literal(Type::kTrue, 4) : Literal(Type::kFalse, 5); }
  bool Int(int) { return false; }  // numbers arrive as text
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

  bool RawNumber(const char* text, rapidjson::SizeType bytes, bool) {
    const std::uint32_t begin = Offset(text);
    if (blanked_) bytes = static_cast<rapidjson::SizeType>(NumberBytes(source_.substr(begin)));
    if (!blanked_ && MayBeHuge({text, bytes})) {
      double ignored = 0;
      if (!ReadDouble({text, bytes}, ignored)) return Refuse(NumberRangeFault(begin));
    }
    Push(Type::kNumber, text, bytes, begin, begin + bytes);
    return true;
  }

  bool String(const char* text, rapidjson::SizeType bytes, bool) {
    const std::uint32_t begin = Offset(text) - 1;
    std::uint32_t end = begin + bytes + 2;
    // Unescaping only ever shortens, so in a string with escapes the byte here is inside it: not a quote, or
    // an escaped one.
    const bool plain = source_[end - 1] == '"' && (bytes == 0 || source_[end - 2] != '\\');
    if (!plain && !WalkEscapes(begin, end)) return false;
    Push(Type::kString, text, bytes, begin, end);
    return true;
  }
  bool Key(const char* text, rapidjson::SizeType bytes, bool copied) { return String(text, bytes, copied); }

  bool StartObject() { return Open(Type::kObject); }
  bool StartArray() { return Open(Type::kArray); }
  bool EndObject(rapidjson::SizeType members) {
    if (members > 1 && !CheckNames(open_, members)) return false;
    return Close(members);
  }
  bool EndArray(rapidjson::SizeType elements) { return Close(elements); }

  std::optional<Fault>& refused() { return refused_; }

 private:
  static constexpr std::size_t kFewNames = 8;    // compared pair by pair
  static constexpr std::size_t kSomeNames = 64;  // through a table on the stack; more are sorted

  bool Refuse(Fault fault) {
    refused_ = std::move(fault);
    return false;
  }

  std::uint32_t Offset(const char* text) const { return static_cast<std::uint32_t>(text - stream_.head()); }

  void Push(Type type, const char* text, std::uint32_t bytes, std::uint32_t begin, std::uint32_t end) {
    nodes_.push_back(Node{text, bytes, 0, begin, end, 1, type});
  }

  bool Literal(Type type, std::uint32_t bytes) {
    const auto end = static_cast<std::uint32_t>(stream_.Tell());
    Push(type, nullptr, 0, end - bytes, end);
    return true;
  }

  bool Open(Type type) {
    const auto begin = static_cast<std::uint32_t>(stream_.Tell());
    if (++depth_ > depth_max_)
      return Refuse({"JSON_TOO_DEEP", begin, "more than " + std::to_string(depth_max_) + " open brackets",
                     "send a flatter document"});
    const auto index = static_cast<std::uint32_t>(nodes_.size());
    Push(type, nullptr, 0, begin, open_);
    open_ = index;
    return true;
  }

  bool Close(std::uint32_t count) {
    Node& node = nodes_[open_];
    node.span = static_cast<std::uint32_t>(nodes_.size()) - open_;
    node.count = count;
    open_ = std::exchange(node.end, static_cast<std::uint32_t>(stream_.Tell() + 1));
    --depth_;
    return true;
  }

  // No exponent and few digits, or an exponent of two digits at most, are safe without a look.
  static bool MayBeHuge(std::string_view number) {
    if (number.size() < 5) return false;
    if (number.size() > 300) return true;
    return std::any_of(number.begin(), number.end(), [](char c) { return c == 'e' || c == 'E'; });
  }

  bool WalkEscapes(std::uint32_t begin, std::uint32_t& end);
  bool CheckNames(std::uint32_t object, std::uint32_t members);
  bool CheckSomeNames(const Node* name, std::uint32_t members);
  bool CheckManyNames(const Node* name, std::uint32_t members);
  bool RefuseDuplicate(const Node& name) {
    return Refuse({"JSON_DUPLICATE_MEMBER", name.begin,
                   "the object has two members with this name (compared after unescaping)",
                   "keep one of them"});
  }

  std::string_view source_;
  const InPlaceStream& stream_;
  std::vector<Node>& nodes_;
  std::size_t depth_max_;
  std::size_t depth_ = 0;
  std::uint32_t open_ = kNoParent;
  bool blanked_;
  std::optional<Fault> refused_;
};

// Finds the end of a string with escapes, and a low surrogate without its high one, which RapidJSON takes.
bool TapeBuilder::WalkEscapes(std::uint32_t begin, std::uint32_t& end) {
  std::uint32_t i = begin + 1;
  while (source_[i] != '"') {
    if (source_[i] != '\\') {
      ++i;
      continue;
    }
    if (source_[i + 1] != 'u') {
      i += 2;
      continue;
    }
    const char high = source_[i + 2];
    if (high != 'd' && high != 'D') {
      i += 6;
      continue;
    }
    const char low = source_[i + 3];
    if (low >= '0' && low <= '7') {
      i += 6;  // d000 to d7ff are characters
    } else if (low == '8' || low == '9' || low == 'a' || low == 'A' || low == 'b' || low == 'B') {
      i += 12;  // RapidJSON has seen the low half
    } else {
      return Refuse({"JSON_LONE_SURROGATE", i, "an escaped low surrogate without a high one before it",
                     "write the character itself, or both halves"});
    }
  }
  end = i + 1;
  return true;
}

const Node* NextName(const Node* name) {
  return name + 1 + name[1].span;
}

// Mixes length, first and last bytes. Cheap, and good enough to tell an object's names apart; whatever has
// equal hashes is compared in full. Reads up to 8 bytes from the name's start, which the block behind the
// text allows.
std::uint64_t NameHash(const Node& name) {
  const std::uint64_t first = FirstBytes(name);
  std::uint64_t last = 0;
  if (name.text_bytes > sizeof(last))
    std::memcpy(&last, name.text + name.text_bytes - sizeof(last), sizeof(last));
  std::uint64_t h = (first + name.text_bytes) * 0x9e3779b97f4a7c15u;
  h = (h ^ (h >> 32) ^ last) * 0xd6e8feb86659fd93u;
  return h ^ (h >> 32);
}

bool TapeBuilder::CheckNames(std::uint32_t object, std::uint32_t members) {
  const Node* const first = &nodes_[object] + 1;
  if (members > kSomeNames) return CheckManyNames(first, members);
  if (members > kFewNames) return CheckSomeNames(first, members);
  const Node* name = NextName(first);
  for (std::uint32_t i = 1; i < members; ++i, name = NextName(name)) {
    const Node* other = first;
    for (std::uint32_t k = 0; k < i; ++k, other = NextName(other))
      if (Text(*other) == Text(*name)) return RefuseDuplicate(*name);
  }
  return true;
}

bool TapeBuilder::CheckSomeNames(const Node* name, std::uint32_t members) {
  std::array<std::uint8_t, 2 * kSomeNames> slots{};  // 1 + index of a name
  std::array<const Node*, kSomeNames> names;
  for (std::uint32_t i = 0; i < members; ++i, name = NextName(name)) {
    names[i] = name;
    std::size_t slot = NameHash(*name) % slots.size();
    for (; slots[slot] != 0; slot = (slot + 1) % slots.size())
      if (Text(*names[slots[slot] - 1u]) == Text(*name)) return RefuseDuplicate(*name);
    slots[slot] = static_cast<std::uint8_t>(i + 1);
  }
  return true;
}

// Sorted by hash, then in full, so that no choice of names makes it quadratic.
bool TapeBuilder::CheckManyNames(const Node* name, std::uint32_t members) {
  std::vector<std::pair<std::uint64_t, const Node*>> names;
  names.reserve(members);
  for (std::uint32_t i = 0; i < members; ++i, name = NextName(name))
    names.emplace_back(NameHash(*name), name);
  std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    if (const int order = Text(*a.second).compare(Text(*b.second)); order != 0) return order < 0;
    return a.second < b.second;
  });
  const Node* duplicate = nullptr;  // the first in the document
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (names[i - 1].first != names[i].first || Text(*names[i - 1].second) != Text(*names[i].second))
      continue;
    if (duplicate == nullptr || names[i].second < duplicate) duplicate = names[i].second;
  }
  return duplicate == nullptr || RefuseDuplicate(*duplicate);
}

// "NaN" or "Infinity" where RapidJSON found no value; `at` becomes its start.
bool IsNotANumber(std::string_view text, std::size_t& at) {
  std::size_t start = at;
  if (start > 0 && text[start - 1] == '-') --start;
  std::string_view rest = text.substr(start);
  if (rest.starts_with('-')) rest.remove_prefix(1);
  if (!rest.starts_with("NaN") && !rest.starts_with("Infinity")) return false;
  at = start;
  return true;
}

Fault SyntaxError(const rapidjson::ParseResult& result, std::string_view text) {
  std::size_t at = std::min(result.Offset(), text.size());
  const auto syntax = [&](std::string what) {
    if (at == text.size()) what += "; the text ends here";
    return Fault{"JSON_SYNTAX", at, std::move(what), "correct the document; RFC 8259 is the grammar"};
  };
  switch (result.Code()) {
    case rapidjson::kParseErrorDocumentEmpty:
      if (at == text.size()) return Fault{"JSON_EMPTY", at, "there is no value", "send one JSON value"};
      return syntax("a value was expected");
    case rapidjson::kParseErrorDocumentRootNotSingular:
      return Fault{"JSON_TRAILING_DATA", at, "something follows the value",
                   "send one JSON value and nothing after it"};
    case rapidjson::kParseErrorValueInvalid:
      if (IsNotANumber(text, at))
        return Fault{"JSON_NOT_A_NUMBER", at, "NaN and Infinity are not JSON",
                     "leave the member out, or send null"};
      return syntax("this is no JSON value");
    case rapidjson::kParseErrorObjectMissName:
      return syntax("a member name in quotes was expected");
    case rapidjson::kParseErrorObjectMissColon:
      return syntax("a colon was expected after the member name");
    case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
      return syntax("a comma or '}' was expected after the member");
    case rapidjson::kParseErrorArrayMissCommaOrSquareBracket:
      return syntax("a comma or ']' was expected after the element");
    case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex:
      return syntax("a \\u escape needs four hex digits");
    case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
      return Fault{"JSON_LONE_SURROGATE", at, "an escaped high surrogate without a low one after it",
                   "write the character itself, or both halves"};
    case rapidjson::kParseErrorStringEscapeInvalid:
    case rapidjson::kParseErrorStringInvalidEncoding:
      return syntax(text.substr(at).starts_with('\\') ? "unknown escape"
                                                      : "a raw control character in a string");
    case rapidjson::kParseErrorStringMissQuotationMark:
      return syntax("the string has no closing quote");
    case rapidjson::kParseErrorNumberTooBig:
      return NumberRangeFault(at);
    case rapidjson::kParseErrorNumberMissFraction:
      return syntax("digits were expected after the decimal point");
    case rapidjson::kParseErrorNumberMissExponent:
      return syntax("digits were expected in the exponent");
    case rapidjson::kParseErrorNone:
    case rapidjson::kParseErrorTermination:
    case rapidjson::kParseErrorUnspecificSyntaxError:
      break;
  }
  return syntax("not JSON");
}

// Reads `text`, of which `buffer` holds a copy, into `nodes`. `retry` is set when only a number that
// RapidJSON judges wrongly may be at fault: then blank the numbers and come again.
std::optional<Fault> Read(std::string_view text, char* buffer, const Limits& limits, bool blanked,
                          std::vector<Node>& nodes, bool& retry) {
  constexpr unsigned kFlags =
      rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
  nodes.clear();
  InPlaceStream stream(buffer);
  TapeBuilder builder(text, stream, nodes, limits.depth_max, blanked);
  rapidjson::CrtAllocator allocator;
  rapidjson::Reader reader(&allocator);
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (!result.IsError()) return std::nullopt;
  if (builder.refused()) return std::move(builder.refused());
  retry = !blanked && result.Code() == rapidjson::kParseErrorNumberTooBig;
  return SyntaxError(result, text);
}

// As Read, with the second attempt where it takes one.
std::optional<Fault> ReadTape(std::string_view text, char* buffer, const Limits& limits,
                              std::vector<Node>& nodes) {
  if (auto bad = CheckBytes(text)) return bad;
  bool blank = text.size() > kExponentSafeBytes;
  if (!blank) {
    auto bad = Read(text, buffer, limits, false, nodes, blank);
    if (!blank) return bad;
    text.copy(buffer, text.size());
  }
  if (auto bad = BlankNumbers(text, buffer)) return bad;
  if (auto bad = Read(text, buffer, limits, true, nodes, blank)) return bad;
  for (const Node& node : nodes)
    if (node.type == Type::kNumber)
      std::memcpy(buffer + node.begin, text.data() + node.begin, node.end - node.begin);
  return std::nullopt;
}

}  // namespace

Result<Document> Document::Parse(std::string_view text, const Limits& limits) {
  constexpr std::string_view kBom = "\xef\xbb\xbf";
  const std::size_t bytes_max = std::min(limits.bytes_max, kAddressableBytes);
  if (text.size() > bytes_max)
    return Fail(
        Errc::kInvalid, "JSON_TOO_LARGE", "byte " + std::to_string(bytes_max),
        "the document has " + std::to_string(text.size()) + " bytes, of at most " + std::to_string(bytes_max),
        "send it in smaller parts");
  Document document;
  document.had_bom_ = text.starts_with(kBom);
  if (document.had_bom_) text.remove_prefix(kBom.size());
  // One byte in front for PutBegin to look at, a NUL and a block behind for the scans to run into.
  document.buffer_ = std::make_unique_for_overwrite<char[]>(1 + text.size() + kBytesBehind);
  char* const buffer = document.buffer_.get() + 1;
  buffer[-1] = '\0';
  text.copy(buffer, text.size());
  std::memset(buffer + text.size(), 0, kBytesBehind);
  document.nodes_.reserve(std::min(text.size() / 12 + 8, kNodesReservedMax));
  if (const auto bad = ReadTape(text, buffer, limits, document.nodes_))
    return Fail(bad->ToError(document.had_bom_ ? kBom.size() : 0));
  return document;
}

}  // namespace etl::json
