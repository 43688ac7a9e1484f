#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"

namespace etl::json {

enum class Type : std::uint8_t { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };

// What a document may be at most. Sizes are in bytes of the text, depth in open brackets.
struct Limits {
  std::size_t bytes_max = std::size_t{256} << 20;  // never above 4 GiB - 1: offsets are 32 bits
  std::size_t depth_max = 128;
};

namespace internal {
// One node of the tape: a value, or (in an object) a member name, which precedes its value. Children follow
// their container in document order, so a document is one allocation and a walk is linear.
struct Node {
  const char* text = nullptr;  // decoded string, member name or number text; null for containers and literals
  std::uint32_t text_bytes = 0;
  std::uint32_t count = 0;  // elements of an array, members of an object
  std::uint32_t begin = 0;  // byte range of the value in the source text
  std::uint32_t end = 0;
  std::uint32_t span = 1;  // nodes from this one to the one after its last descendant
  Type type = Type::kNull;
};
}  // namespace internal

class Value;
class ArrayRange;
class ObjectRange;

// A parsed document. Movable; owns its text and nodes, and every Value is a view into it that dies with it.
//
// Follows RFC 8259, stricter: refuses duplicate member names (compared after unescaping, so "a" and "\u0061"
// are the same), lone surrogates, invalid UTF-8, NaN and Infinity, numbers beyond the range of a double
// (1e400), trailing data, and whatever is over the limits. A leading byte order mark is dropped and noted in
// had_bom(). Numbers keep their exact text, members their order.
//
// Errors (all kInvalid, `where` "byte N" counted in the given text): JSON_SYNTAX, JSON_DUPLICATE_MEMBER,
// JSON_LONE_SURROGATE, JSON_INVALID_UTF8, JSON_NOT_A_NUMBER (NaN, Infinity), JSON_NUMBER_RANGE,
// JSON_TRAILING_DATA, JSON_TOO_DEEP, JSON_TOO_LARGE, JSON_EMPTY.
//
// Cost: about 2 us per KiB and two allocations; nothing recurses, so depth costs no stack.
class Document {
 public:
  static Result<Document> Parse(std::string_view text, const Limits& limits = {});

  Document(Document&&) noexcept = default;
  Document& operator=(Document&&) noexcept = default;

  Value root() const;
  bool had_bom() const { return had_bom_; }

 private:
  Document() = default;
  std::unique_ptr<char[]> buffer_;  // the text, strings unescaped in place
  std::vector<internal::Node> nodes_;
  bool had_bom_ = false;
};

// A view of one value. Cheap to copy. A default-made Value, and what Find returns for an absent member, is
// "missing": exists() is false, and every typed question answers no.
class Value {
 public:
  Value() = default;
  explicit Value(const internal::Node* node) : node_(node) {}

  bool exists() const { return node_ != nullptr; }
  explicit operator bool() const { return exists(); }
  // Type of an existing value.
  Type type() const { return node_->type; }
  bool IsNull() const { return node_ != nullptr && node_->type == Type::kNull; }
  // Missing or null: what an upstream writes for "not stated".
  bool IsAbsent() const { return node_ == nullptr || node_->type == Type::kNull; }
  bool IsBool() const {
    return node_ != nullptr && (node_->type == Type::kTrue || node_->type == Type::kFalse);
  }
  bool IsTrue() const { return node_ != nullptr && node_->type == Type::kTrue; }
  bool IsNumber() const { return node_ != nullptr && node_->type == Type::kNumber; }
  bool IsString() const { return node_ != nullptr && node_->type == Type::kString; }
  bool IsArray() const { return node_ != nullptr && node_->type == Type::kArray; }
  bool IsObject() const { return node_ != nullptr && node_->type == Type::kObject; }

  // The decoded UTF-8 of a string; empty for anything else.
  std::string_view AsString() const;
  // The number exactly as written ("1.50", "1e-7"); empty for anything else.
  std::string_view NumberText() const;
  // The number as a double, correctly rounded; nothing for anything else. Never NaN or infinite.
  std::optional<double> AsDouble() const;
  // The number when its text is an integer (no fraction, no exponent) within int64; nothing otherwise.
  std::optional<std::int64_t> AsInt64() const;

  // Elements or members; 0 for anything else.
  std::size_t size() const { return IsArray() || IsObject() ? node_->count : 0; }
  ArrayRange elements() const;  // empty unless an array
  ObjectRange members() const;  // empty unless an object
  // The member of an object by its decoded name (linear, members in document order), or missing.
  Value Find(std::string_view name) const;
  // Nested Find: root.At({"data", "kernels"}).
  Value At(std::initializer_list<std::string_view> path) const;

  // The value's byte range in the text given to Parse (after a dropped BOM, counted without it).
  std::size_t begin_offset() const { return node_->begin; }
  std::size_t end_offset() const { return node_->end; }

  const internal::Node* node() const { return node_; }

 private:
  const internal::Node* node_ = nullptr;
};

struct Member {
  std::string_view name;  // decoded
  Value value;
};

class ArrayRange {
 public:
  class Iterator {
   public:
    Iterator(const internal::Node* node, std::uint32_t left) : node_(node), left_(left) {}
    Value operator*() const { return Value(node_); }
    Iterator& operator++() {
      node_ += node_->span;
      --left_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return left_ != other.left_; }

   private:
    const internal::Node* node_;
    std::uint32_t left_;
  };
  ArrayRange() = default;
  ArrayRange(const internal::Node* first, std::uint32_t count) : first_(first), count_(count) {}
  Iterator begin() const { return {first_, count_}; }
  Iterator end() const { return {nullptr, 0}; }

 private:
  const internal::Node* first_ = nullptr;
  std::uint32_t count_ = 0;
};

class ObjectRange {
 public:
  class Iterator {
   public:
    Iterator(const internal::Node* name, std::uint32_t left) : name_(name), left_(left) {}
    Member operator*() const { return {{name_->text, name_->text_bytes}, Value(name_ + 1)}; }
    Iterator& operator++() {
      name_ += 1 + (name_ + 1)->span;
      --left_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return left_ != other.left_; }

   private:
    const internal::Node* name_;
    std::uint32_t left_;
  };
  ObjectRange() = default;
  ObjectRange(const internal::Node* first, std::uint32_t count) : first_(first), count_(count) {}
  Iterator begin() const { return {first_, count_}; }
  Iterator end() const { return {nullptr, 0}; }

 private:
  const internal::Node* first_ = nullptr;
  std::uint32_t count_ = 0;
};

// The byte range of one element of an array, found without believing that the text is valid.
struct ElementRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Finds the elements of the array that `path` names from the root object ({"data", "submissions"}), by
// brackets and quotes alone, so that one element a strict reader refuses can be set aside and the rest still
// read. Looks at names without unescaping them; takes the first match. Nothing if there is no such array or
// the text ends inside it. At most `elements_max` elements.
std::optional<std::vector<ElementRange>> FindElements(std::string_view text,
                                                      std::initializer_list<std::string_view> path,
                                                      std::size_t elements_max = 1'000'000);

}  // namespace etl::json
