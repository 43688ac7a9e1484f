// What is asked of a parsed document, and the lenient scanner for one that cannot be parsed.

#include <charconv>
#include <cstddef>
#include <system_error>

#include "model/json.h"
#include "model/json_text.h"

namespace etl::json {

Value Document::root() const {
  return Value(nodes_.data());
}

std::string_view Value::AsString() const {
  return IsString() ? std::string_view(node_->text, node_->text_bytes) : std::string_view();
}

std::string_view Value::NumberText() const {
  return IsNumber() ? std::string_view(node_->text, node_->text_bytes) : std::string_view();
}

std::optional<double> Value::AsDouble() const {
  double value = 0;
  if (!IsNumber() || !internal::ReadDouble(NumberText(), value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> Value::AsInt64() const {
  if (!IsNumber()) return std::nullopt;
  const char* const end = node_->text + node_->text_bytes;
  std::int64_t value = 0;
  const auto r = std::from_chars(node_->text, end, value);
  if (r.ec != std::errc() || r.ptr != end) return std::nullopt;
  return value;
}

ArrayRange Value::elements() const {
  return IsArray() ? ArrayRange(node_ + 1, node_->count) : ArrayRange();
}

ObjectRange Value::members() const {
  return IsObject() ? ObjectRange(node_ + 1, node_->count) : ObjectRange();
}

Value Value::Find(std::string_view name) const {
  for (const Member member : members())
    if (member.name == name) return member.value;
  return {};
}

Value Value::At(std::initializer_list<std::string_view> path) const {
  Value value = *this;
  for (const std::string_view name : path) value = value.Find(name);
  return value;
}

namespace {

// Walks text by brackets, quotes and separators alone. Never leaves the text, never goes back.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    SkipBlanks();
  }

  std::size_t at() const { return at_; }
  bool ended() const { return at_ == text_.size(); }

  // Takes `c` and the blanks behind it, if `c` is next.
  bool Take(char c) {
    if (ended() || text_[at_] != c) return false;
    ++at_;
    SkipBlanks();
    return true;
  }

  bool Next(char c) const { return !ended() && text_[at_] == c; }

  // The raw text between quotes.
  std::optional<std::string_view> TakeString() {
    if (!Next('"')) return std::nullopt;
    const std::size_t begin = at_ + 1;
    SkipString();
    if (at_ > text_.size() || text_[at_ - 1] != '"' || at_ - 1 < begin) return std::nullopt;
    const std::string_view raw = text_.substr(begin, at_ - 1 - begin);
    SkipBlanks();
    return raw;
  }

  // Over whatever stands before the next separator or closing bracket of this level. Nothing if the text ends
  // first.
  std::optional<ElementRange> TakeValue() {
    const std::size_t begin = at_;
    std::size_t end = at_;  // behind the last byte that is no blank
    std::size_t depth = 0;
    while (!ended()) {
      const char c = text_[at_];
      if (depth == 0 && (c == ',' || c == ']' || c == '}')) return ElementRange{begin, end};
      if (c == '"') {
        SkipString();
        end = at_;
        continue;
      }
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}') --depth;
      ++at_;
      if (!IsBlank(c)) end = at_;
    }
    return std::nullopt;
  }

 private:
  static bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  void SkipBlanks() {
    while (!ended() && IsBlank(text_[at_])) ++at_;
  }

  // From an opening quote to behind the closing one, or to the end.
  void SkipString() {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '"') {
        ++at_;
        return;
      }
    }
    at_ = text_.size();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// From an object's opening bracket to the value of the member `name`; false if there is none.
bool Descend(Scanner& scanner, std::string_view name) {
  if (!scanner.Take('{')) return false;
  while (true) {
    const auto found = scanner.TakeString();
    if (!found || !scanner.Take(':')) return false;
    if (*found == name) return true;
    if (!scanner.TakeValue() || !scanner.Take(',')) return false;
  }
}

}  // namespace

std::optional<std::vector<ElementRange>> FindElements(std::string_view text,
                                                      std::initializer_list<std::string_view> path,
                                                      std::size_t elements_max) {
  Scanner scanner(text);
  for (const std::string_view name : path)
    if (!Descend(scanner, name)) return std::nullopt;
  if (!scanner.Take('[')) return std::nullopt;
  std::vector<ElementRange> elements;
  while (!scanner.Take(']')) {
    const auto element = scanner.TakeValue();
    if (!element || scanner.Next('}')) return std::nullopt;
    if (elements.size() == elements_max) return elements;
    elements.push_back(*element);
    if (!scanner.Take(',') && !scanner.Next(']')) return std::nullopt;
  }
  return elements;
}

}  // namespace etl::json
