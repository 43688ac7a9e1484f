#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/canonical_json.h"
#include "model/manifest_fields.h"

// Structs into canonical JSON, in one pass and without a tree. Private to the model.
namespace etl::manifest {

// Appends to a string through a small buffer on the stack: most pieces are a few bytes long, and their copies
// are then of fixed size and inline. What is written is in the string once the buffer is gone.
class Bytes {
 public:
  explicit Bytes(std::string& out) : out_(out) {}
  ~Bytes() { Flush(); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  void Put(char c) {
    Reserve(1);
    *end_++ = c;
  }
  void Put(std::string_view text) {
    if (text.size() > kPieceMax) return PutLong(text);
    Reserve(text.size());
    std::memcpy(end_, text.data(), text.size());
    end_ += text.size();
  }
  // "name": for a member name without characters to escape.
  template <std::size_t N>
  void PutName(const char (&name)[N]) {
    Reserve(N + 2);
    *end_ = '"';
    std::memcpy(end_ + 1, name, N - 1);
    std::memcpy(end_ + N, "\":", 2);
    end_ += N + 2;
  }
  void PutName(std::string_view name);
  // A comma follows every member and element; the closing bracket takes the place of the last. Comes right
  // after that comma or the opening bracket, so the buffer is not empty.
  void Close(char bracket) {
    if (end_[-1] == ',') --end_;
    Put(bracket);
  }
  void PutText(std::string_view text);
  void PutWhole(std::int64_t value);
  void PutNumber(double value);
  void PutHash(const Digest& digest);

 private:
  static constexpr std::size_t kPieceMax = 256;
  static constexpr std::size_t kBufferBytes = 2048;

  void Reserve(std::size_t bytes) {
    if (static_cast<std::size_t>(buffer_ + kBufferBytes - end_) < bytes) Flush();
  }
  void PutLong(std::string_view text);
  void Flush();

  std::string& out_;
  char buffer_[kBufferBytes];
  char* end_ = buffer_;
};

// Writes the members of one object; a visitor of Fields.
class Writer {
 public:
  template <class S>
  using Ref = const S&;

  explicit Writer(Bytes& out) : out_(out) {}

  template <std::size_t N>
  void Constant(const char (&name)[N], std::string_view word) {
    out_.PutName(name);
    out_.PutText(word);
    out_.Put(',');
  }
  template <std::size_t N, class T, class R>
  void Required(const char (&name)[N], const T& member, const R& rule) {
    out_.PutName(name);
    Write(member, rule);
    out_.Put(',');
  }
  template <std::size_t N, class T, class R>
  void Optional(const char (&name)[N], const std::optional<T>& member, const R& rule) {
    if (member) Required(name, *member, rule);
  }
  template <class A, class B>
  void ExactlyOne(std::string_view, const A&, std::string_view, const B&) {}

  template <class S>
  void Write(const S& value, const Object&) {
    out_.Put('{');
    Fields(*this, value);
    out_.Close('}');
  }

 private:
  void Write(const std::string& value, const Text&) { out_.PutText(value); }
  void Write(const std::string& value, const OneOf&) { out_.PutText(value); }
  void Write(std::int64_t value, const Whole&) { out_.PutWhole(value); }
  void Write(double value, const Number&) { out_.PutNumber(value); }
  void Write(bool value, const Flag&) {
    out_.Put(value ? std::string_view("true") : std::string_view("false"));
  }
  void Write(const Digest& value, const Hash&) { out_.PutHash(value); }
  void Write(const Instant& value, const Moment&) { out_.PutText(value.Text()); }
  void Write(const Dimension& value, const DimensionOf&) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      out_.PutWhole(*number);
    } else {
      out_.PutText(*std::get_if<std::string>(&value));
    }
  }
  template <class T, class Each>
  void Write(const std::vector<T>& values, const List<Each>& rule) {
    out_.Put('[');
    for (const T& value : values) {
      Write(value, rule.each);
      out_.Put(',');
    }
    out_.Close(']');
  }
  template <class T, class Each>
  void Write(const MapOf<T>& values, const Keyed<Each>& rule) {
    out_.Put('{');
    if (rule.key.pattern != nullptr) {
      // Every key pattern is ASCII, where byte order is UTF-16 order.
      for (const auto& entry : values) WriteEntry(entry, rule.each);
    } else {
      for (const auto* entry : InUtf16Order(values)) WriteEntry(*entry, rule.each);
    }
    out_.Close('}');
  }
  template <class T, class Inner>
  void Write(const T& value, const Wrapped<Inner>& rule) {
    out_.Put('{');
    out_.PutName(rule.member);
    Write(value, rule.inner);
    out_.Put('}');
  }

  template <class Entry, class Each>
  void WriteEntry(const Entry& entry, const Each& rule) {
    out_.PutText(entry.first);
    out_.Put(':');
    Write(entry.second, rule);
    out_.Put(',');
  }
  template <class T>
  static std::vector<const typename MapOf<T>::value_type*> InUtf16Order(const MapOf<T>& values) {
    std::vector<const typename MapOf<T>::value_type*> entries;
    entries.reserve(values.size());
    for (const auto& entry : values) entries.push_back(&entry);
    std::sort(entries.begin(), entries.end(),
              [](const auto* a, const auto* b) { return json::Utf16Less(a->first, b->first); });
    return entries;
  }

  Bytes& out_;
};

// The value, a struct with Fields, appended to `out`.
template <class S>
void AppendObject(std::string& out, const S& value) {
  Bytes bytes(out);
  Writer(bytes).Write(value, kObject);
}

}  // namespace etl::manifest
