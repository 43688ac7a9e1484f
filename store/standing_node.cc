// The bytes of a standing's node, version 1. Fixed numbers are little-endian unless said otherwise; varints
// are LEB128 of at most 64 bits in their shortest form. Nothing follows the last item.
//
//   node      = version u8 (1), level u8 (1: leaf), items u16 (at least 1), items in RanksBefore order
//   leaf item = key[49], flags u8 (1: low follows, 2: high follows), low[8]?, high[8]?, since varint,
//               source (length varint, bytes), external id (length varint, bytes)
//   inner item (115 bytes)
//             = node id u64 (not 0), members u32, different values u32, flags u8 (1: some member has an
//             interval),
//               key of the first member[49], key of the last member[49]
//   key       = value[8], 3 - evidence u8, observed[8], digest[32]
//   value     = the double's bits big-endian, all inverted if negative, else only the sign: bytes order as
//   numbers do.
//               -0 is written as 0; NaN and infinities do not occur. low and high likewise.
//   observed  = milliseconds as a signed number, sign inverted, then all inverted, big-endian: newer is
//   smaller
//
// So a key compares as bytes, and a leaf is searched without decoding any member. There is no checksum: the
// store's blocks have theirs, and a parent's summary must agree with its child.
#include "store/standing_node.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace etl::standing_node {
namespace {

constexpr char kVersion = 1;
constexpr std::size_t kHeaderBytes = 4;
constexpr std::size_t kInnerItemBytes = 8 + 4 + 4 + 1 + 2 * kKeyBytes;
constexpr std::size_t kEvidenceAt = 8, kObservedAt = 9, kDigestAt = 17;
constexpr unsigned char kHasLow = 1, kHasHigh = 2;
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
constexpr unsigned char kEvidenceMax = static_cast<unsigned char>(EvidenceLevel::kReplicated);

std::uint64_t Ordered(double number) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

double FromOrdered(std::uint64_t ordered) noexcept {
  return std::bit_cast<double>((ordered & kSign) != 0 ? ordered & ~kSign : ~ordered);
}

// What Ordered gives for a finite number. Its image of -0, kSign - 1, is never written.
bool IsOrderedFinite(std::uint64_t ordered) noexcept {
  constexpr std::uint64_t kLowest = 0x0010'0000'0000'0000, kHighest = 0xffef'ffff'ffff'ffff;
  return ordered >= kLowest && ordered <= kHighest && ordered != kSign - 1;
}

void StoreBig(std::uint64_t number, char* out) noexcept {
  if (std::endian::native == std::endian::little) number = __builtin_bswap64(number);
  std::memcpy(out, &number, sizeof(number));
}

void AppendLittle(std::string& out, std::uint64_t number, std::size_t bytes) {
  char big[8];
  StoreBig(number, big);
  std::reverse(big, big + sizeof(big));
  out.append(big, bytes);
}

void AppendOrdered(std::string& out, double number) {
  char bytes[8];
  StoreBig(Ordered(number), bytes);
  out.append(bytes, sizeof(bytes));
}

void AppendVarint(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out.push_back(static_cast<char>((number & 0x7f) | 0x80));
  out.push_back(static_cast<char>(number));
}

void AppendText(std::string& out, std::string_view text) {
  AppendVarint(out, text.size());
  out.append(text);
}

// Takes values off the front of bytes; false when they end early or are not in the form that is written.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) noexcept : p_(bytes.data()), end_(p_ + bytes.size()) {}

  const char* at() const noexcept { return p_; }
  bool done() const noexcept { return p_ == end_; }
  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - p_); }

  bool Bytes(std::size_t size, const char*& out) noexcept {
    if (left() < size) return false;
    out = p_;
    p_ += size;
    return true;
  }
  bool Byte(unsigned char& out) noexcept {
    if (done()) return false;
    out = static_cast<unsigned char>(*p_++);
    return true;
  }
  template <int kBytes>
  bool Little(std::uint64_t& out) noexcept {
    const char* from = nullptr;
    if (!Bytes(kBytes, from)) return false;
    out = 0;
    std::memcpy(&out, from, kBytes);
    if (std::endian::native != std::endian::little) out = __builtin_bswap64(out);
    return true;
  }
  bool Varint(std::uint64_t& out) noexcept {
    out = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      unsigned char byte = 0;
      if (!Byte(byte)) return false;
      const std::uint64_t part = byte & 0x7fU;
      if (shift == 63 && part > 1) return false;
      out |= part << shift;
      if (byte < 0x80) return byte != 0 || shift == 0;
    }
    return false;
  }
  bool Text(std::string_view& out) noexcept {
    std::uint64_t size = 0;
    const char* from = nullptr;
    if (!Varint(size) || size > kTextBytesMax || !Bytes(size, from)) return false;
    out = std::string_view(from, size);
    return true;
  }
  bool OrderedNumber(std::optional<double>& out) noexcept {
    const char* from = nullptr;
    if (!Bytes(8, from) || !IsOrderedFinite(ValueOf(from))) return false;
    out = FromOrdered(ValueOf(from));
    return true;
  }

 private:
  const char* p_;
  const char* end_;
};

struct Tail {
  std::optional<double> low, high;
  std::uint64_t since = 0;
  std::string_view source, external_id;
};

bool IsKey(const char* key) noexcept {
  return IsOrderedFinite(ValueOf(key)) && static_cast<unsigned char>(key[kEvidenceAt]) <= kEvidenceMax;
}

bool ReadTail(Cursor& in, Tail& tail) noexcept {
  unsigned char flags = 0;
  if (!in.Byte(flags) || flags > (kHasLow | kHasHigh)) return false;
  if ((flags & kHasLow) != 0 && !in.OrderedNumber(tail.low)) return false;
  if ((flags & kHasHigh) != 0 && !in.OrderedNumber(tail.high)) return false;
  return in.Varint(tail.since) && in.Text(tail.source) && in.Text(tail.external_id);
}

Tail TailOf(const Record& record) noexcept {
  Cursor in(std::string_view(record.data, record.size).substr(kKeyBytes));
  Tail tail;
  ReadTail(in, tail);  // cannot fail: the record was checked or made here
  return tail;
}

Contender ContenderOf(const char* key, const Tail& tail) noexcept {
  Contender out;
  out.value = FromOrdered(ValueOf(key));
  out.evidence = static_cast<EvidenceLevel>(kEvidenceMax - static_cast<unsigned char>(key[kEvidenceAt]));
  out.observed_at.ms = static_cast<std::int64_t>(~ValueOf(key + kObservedAt) ^ kSign);
  std::memcpy(out.digest.bytes.data(), key + kDigestAt, out.digest.bytes.size());
  out.low = tail.low;
  out.high = tail.high;
  return out;
}

bool ReadRecord(Cursor& in, Record& record) noexcept {
  const char* key = nullptr;
  Tail tail;
  if (!in.Bytes(kKeyBytes, key) || !IsKey(key) || !ReadTail(in, tail)) return false;
  record.data = key;
  record.size = static_cast<std::uint32_t>(in.at() - key);
  record.value = ValueOf(key);
  record.interval = tail.low || tail.high;
  return true;
}

bool ReadChild(Cursor& in, Child& child) noexcept {
  Summary& sum = child.summary;
  unsigned char flags = 0;
  const char *first = nullptr, *last = nullptr;
  if (!in.Little<8>(child.id) || !in.Little<4>(sum.count) || !in.Little<4>(sum.distinct) || !in.Byte(flags) ||
      !in.Bytes(kKeyBytes, first) || !in.Bytes(kKeyBytes, last))
    return false;
  sum.intervals = flags == 1;
  std::memcpy(sum.first.data(), first, kKeyBytes);
  std::memcpy(sum.last.data(), last, kKeyBytes);
  const int order = CompareKeys(first, last);
  return child.id != 0 && flags <= 1 && sum.distinct >= 1 && sum.distinct <= sum.count && IsKey(first) &&
         IsKey(last) && order <= 0 && (order == 0) == (sum.count == 1) &&
         (ValueOf(first) == ValueOf(last)) == (sum.distinct == 1);
}

template <class Item, class Read>
bool ReadItems(Cursor& in, std::size_t items, std::size_t item_bytes_min, std::vector<Item>& out, Read read) {
  if (items > in.left() / item_bytes_min) return false;
  out.resize(items);
  for (Item& item : out)
    if (!read(in, item)) return false;
  return in.done();
}

}  // namespace

SortKey KeyOf(const Contender& contender) noexcept {
  SortKey key;
  StoreBig(Ordered(contender.value), key.data());
  const auto evidence = static_cast<unsigned char>(contender.evidence);
  key[kEvidenceAt] = static_cast<char>(kEvidenceMax - evidence);
  StoreBig(~(static_cast<std::uint64_t>(contender.observed_at.ms) ^ kSign), key.data() + kObservedAt);
  std::memcpy(key.data() + kDigestAt, contender.digest.bytes.data(), contender.digest.bytes.size());
  return key;
}

Status CheckMember(const StandingMember& member) {
  const Contender& c = member.contender;
  const char* what = nullptr;
  if (!std::isfinite(c.value) || !std::isfinite(c.low.value_or(0)) || !std::isfinite(c.high.value_or(0)))
    what = "a value or an interval's bound is not a finite number";
  else if (static_cast<unsigned char>(c.evidence) > kEvidenceMax)
    what = "an unknown evidence level";
  else if (member.source.size() > kTextBytesMax || member.external_id.size() > kTextBytesMax)
    what = "a source or external id of more than 1024 bytes";
  if (what == nullptr) return {};
  return Fail(Errc::kInvalid, "STANDING_MEMBER", c.digest.Text(), what, "quarantine the run");
}

void EncodeMember(const StandingMember& member, std::string& out) {
  const Contender& c = member.contender;
  const SortKey key = KeyOf(c);
  out.append(key.data(), key.size());
  out.push_back(static_cast<char>((c.low ? kHasLow : 0) | (c.high ? kHasHigh : 0)));
  if (c.low) AppendOrdered(out, *c.low);
  if (c.high) AppendOrdered(out, *c.high);
  AppendVarint(out, member.since);
  AppendText(out, member.source);
  AppendText(out, member.external_id);
}

Record RecordOver(std::string_view bytes) noexcept {
  return Record{bytes.data(), ValueOf(bytes.data()), static_cast<std::uint32_t>(bytes.size()),
                bytes[kKeyBytes] != 0};
}

Contender DecodeContender(const Record& record) {
  return ContenderOf(record.data, TailOf(record));
}

StandingMember DecodeMember(const Record& record) {
  const Tail tail = TailOf(record);
  return StandingMember{ContenderOf(record.data, tail), std::string(tail.source),
                        std::string(tail.external_id), tail.since};
}

void Summarize(Node& node) noexcept {
  RankCursor cursor;
  bool intervals = false;
  Summary& sum = node.summary;
  if (node.leaf()) {
    for (const Record& record : node.records) {
      cursor.Step(record.value);
      intervals = intervals || record.interval;
    }
    std::memcpy(sum.first.data(), node.records.front().data, kKeyBytes);
    std::memcpy(sum.last.data(), node.records.back().data, kKeyBytes);
  } else {
    for (const Child& child : node.children) {
      cursor.Skip(child.summary);
      intervals = intervals || child.summary.intervals;
    }
    sum.first = node.children.front().summary.first;
    sum.last = node.children.back().summary.last;
  }
  sum.count = cursor.position;
  sum.distinct = cursor.rank;
  sum.intervals = intervals;
}

std::size_t EncodedBytes(const Node& node) noexcept {
  if (!node.leaf()) return node.children.size() * kInnerItemBytes;
  std::size_t bytes = 0;
  for (const Record& record : node.records) bytes += record.size;
  return bytes;
}

std::string EncodeNode(const Node& node) {
  std::string out;
  out.reserve(kHeaderBytes + EncodedBytes(node));
  out.push_back(kVersion);
  out.push_back(static_cast<char>(node.level));
  AppendLittle(out, node.size(), 2);
  for (const Record& record : node.records) out.append(record.data, record.size);
  for (const Child& child : node.children) {
    const Summary& sum = child.summary;
    AppendLittle(out, child.id, 8);
    AppendLittle(out, sum.count, 4);
    AppendLittle(out, sum.distinct, 4);
    out.push_back(sum.intervals ? 1 : 0);
    out.append(sum.first.data(), kKeyBytes);
    out.append(sum.last.data(), kKeyBytes);
  }
  return out;
}

Status DecodeNode(Node& node, std::uint32_t level) {
  Cursor in(node.raw);
  unsigned char version = 0, stored_level = 0;
  std::uint64_t items = 0;
  if (!in.Byte(version) || !in.Byte(stored_level) || !in.Little<2>(items))
    return Fail(Damage(node.id, "fewer bytes than a node's header"));
  if (version != kVersion) return Fail(Damage(node.id, "an unknown version of the node format"));
  if (stored_level != level)
    return Fail(Damage(node.id, "the node is of another level than its parent says"));
  if (items == 0 || items > kItemsMax) return Fail(Damage(node.id, "the number of items is out of range"));
  node.level = level;
  // A leaf item has a key, flags, since and two lengths at least.
  const bool whole = node.leaf() ? ReadItems(in, items, kKeyBytes + 4, node.records, ReadRecord)
                                 : ReadItems(in, items, kInnerItemBytes, node.children, ReadChild);
  if (!whole) return Fail(Damage(node.id, "an item is cut off, out of range, or followed by other bytes"));
  ETL_CHECK_OK(CheckOrder(node));
  Summarize(node);
  return {};
}

Status CheckOrder(const Node& node) {
  const auto records = [](const Record& a, const Record& b) { return CompareKeys(a.data, b.data) >= 0; };
  const auto children = [](const Child& a, const Child& b) {
    return CompareKeys(a.summary.last.data(), b.summary.first.data()) >= 0;
  };
  const bool ordered =
      std::adjacent_find(node.records.begin(), node.records.end(), records) == node.records.end() &&
      std::adjacent_find(node.children.begin(), node.children.end(), children) == node.children.end();
  if (ordered) return {};
  return Fail(Damage(node.id, "items are not in order"));
}

std::size_t FindRecord(const Node& leaf, const SortKey& key) noexcept {
  const std::uint64_t value = ValueOf(key.data());
  const auto before = [value](const Record& record, const SortKey& wanted) {
    return record.value != value ? record.value < value : CompareKeys(record.data, wanted.data()) < 0;
  };
  const auto it = std::lower_bound(leaf.records.begin(), leaf.records.end(), key, before);
  return static_cast<std::size_t>(it - leaf.records.begin());
}

std::size_t FindChild(const Node& inner, const SortKey& key) noexcept {
  const auto before = [](const Child& child, const SortKey& wanted) {
    return CompareKeys(child.summary.last.data(), wanted.data()) < 0;
  };
  const auto it = std::lower_bound(inner.children.begin(), inner.children.end(), key, before);
  return static_cast<std::size_t>(it - inner.children.begin());
}

bool HasRecord(const Node& leaf, std::size_t index, const SortKey& key) noexcept {
  return index < leaf.records.size() && CompareKeys(leaf.records[index].data, key.data()) == 0;
}

Error Damage(std::uint64_t node, std::string what) {
  return Error{Errc::kCorrupt, "STANDING_NODE", "node " + std::to_string(node), std::move(what),
               "rebuild the store from its snapshots, or restore a backup"};
}

}  // namespace etl::standing_node
