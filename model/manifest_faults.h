#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/digest.h"
#include "model/error.h"
#include "model/instant.h"
#include "model/manifest.h"
#include "model/manifest_rules.h"

// What the reader of JSON and the checker of filled structs share: where they are, what they found, and the
// rules for single values. Private to the manifest code.
namespace etl::manifest {

// A place in a manifest: a chain of links that live on the stack of whoever walks it, made into text only for
// a fault.
class Path {
 public:
  // The start of a chain, written as it is: "$", "$.spec".
  explicit Path(std::string_view root) : name_(root) {}
  Path(const Path& parent, std::string_view name) : parent_(&parent), name_(name) {}
  Path(const Path& parent, std::size_t index) : parent_(&parent), index_(index), is_index_(true) {}

  // "$.spec.inputs[2].tensor.dtype"; a name that is no identifier is quoted: $.metadata.labels["a b"]. A name
  // of over 100 code points is cut.
  std::string Text() const;
  // The same without indices and without "$", for speaking of a struct: "spec.inputs.tensor.dtype".
  std::string Member() const;

 private:
  void AppendTo(std::string& out, bool with_indices) const;

  const Path* parent_ = nullptr;
  std::string_view name_;
  std::size_t index_ = 0;
  bool is_index_ = false;
};

// Collects faults up to a limit. Whoever walks stops when Full(), so a hostile input costs no more than its
// limit.
class Faults {
 public:
  explicit Faults(std::size_t max) : max_(max) {}

  // The kind that faults speak of ("OperationSpec"), once known.
  void set_kind(std::string_view kind) { kind_ = kind; }
  std::string_view kind() const { return kind_; }

  bool Full() const { return list_.size() >= max_; }
  bool empty() const { return list_.empty(); }
  // Drops the fault when Full().
  void Add(std::string_view code, const Path& path, std::string what, std::string fix);
  std::vector<Error> Take() { return std::move(list_); }

 private:
  std::size_t max_;
  std::string_view kind_ = "manifest";
  std::vector<Error> list_;
};

// The value in quotes, escaped, cut to 60 code points; "text that is not UTF-8" where it is not.
std::string Quoted(std::string_view text);
bool IsUtf8(std::string_view text) noexcept;

// Each adds at most one fault. Texts must be UTF-8.
void CheckText(std::string_view text, const Text& rule, const Path& path, Faults& faults);
// The name of a member of a Keyed object, at the path of that member.
void CheckKey(std::string_view key, const Text& rule, const Path& path, Faults& faults);
void CheckWord(std::string_view text, const OneOf& rule, const Path& path, Faults& faults);
void CheckWhole(std::int64_t value, const Whole& rule, const Path& path, Faults& faults);
void CheckNumber(double value, const Number& rule, const Path& path, Faults& faults);
void CheckDimension(const Dimension& value, const Path& path, Faults& faults);
void CheckCount(std::size_t count, std::size_t min, std::size_t max, const Path& path, Faults& faults);
// Every text after its predecessor by UTF-16 code unit; the fault names the first that is not.
void CheckSet(const std::vector<std::string>& texts, const Path& path, Faults& faults);
void CheckExactlyOne(std::string_view name_a, bool has_a, std::string_view name_b, bool has_b,
                     const Path& path, Faults& faults);

// Faults of structure. `known` are the members that the object has, in order.
void AddUnknownMember(std::string_view name, const std::vector<std::string_view>& known, const Path& object,
                      Faults& faults);
void AddMissingMember(std::string_view name, const Path& object, Faults& faults);

}  // namespace etl::manifest
