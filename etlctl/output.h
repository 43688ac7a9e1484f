#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"

namespace etl::ctl {

enum class Format : std::uint8_t { kTable, kJson, kJsonl, kManifest, kPage };
std::optional<Format> ParseFormat(std::string_view name) noexcept;

enum class Style : std::uint8_t { kPlain, kBold, kDim, kGood, kWarning, kBad };

// What is at the other end of a command's streams.
struct Terminal {
  bool data = false, talk = false;  // whether each is a terminal
  bool color = false;               // wanted where it is one: NO_COLOR is unset or empty, TERM is not "dumb"
  std::size_t columns = 0;          // of the talk terminal; 0: to be asked for, 80 where unknown

  static Terminal Of(std::FILE* data, std::FILE* talk);
};

// Where a command writes: data to one stream, talk to the other. Data is buffered; a stream that no longer
// takes it is remembered and told by Finish. Colour only where the stream is a terminal and it is wanted. One
// thread.
class Output {
 public:
  // Both streams must outlive this.
  Output(std::FILE* data, std::FILE* talk, Format format)
      : Output(data, talk, format, Terminal::Of(data, talk)) {}
  Output(std::FILE* data, std::FILE* talk, Format format, const Terminal& terminal);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  Format format() const { return format_; }
  void set_format(Format format) { format_ = format; }
  bool json() const { return format_ == Format::kJson || format_ == Format::kJsonl; }
  const Terminal& terminal() const { return terminal_; }
  bool data_is_terminal() const { return terminal_.data; }
  bool talk_is_terminal() const { return terminal_.talk; }
  // Columns of the talk terminal; 80 where unknown.
  std::size_t talk_columns() const;

  void Data(std::string_view bytes);
  void DataLine(std::string_view line);
  void Talk(std::string_view bytes);
  void TalkLine(std::string_view line);
  // `text` in this style where the data stream shows colour, else unchanged.
  std::string Styled(std::string_view text, Style style) const {
    return Paint(text, style, terminal_.data && terminal_.color);
  }
  std::string StyledTalk(std::string_view text, Style style) const {
    return Paint(text, style, terminal_.talk && terminal_.color);
  }
  void FlushData();
  // Whether the data stream stopped taking bytes: going on is in vain.
  bool data_failed() const { return failure_ != 0; }

  // Flushes. Error: kUnavailable OUTPUT_WRITE (a full disk, a closed pipe): not all data arrived.
  Status Finish();

 private:
  static std::string Paint(std::string_view text, Style style, bool color);
  std::FILE* data_;
  std::FILE* talk_;
  Format format_;
  Terminal terminal_;
  std::string buffer_;
  int failure_ = 0;  // errno of the first write that failed
};

enum class Align : std::uint8_t { kLeft, kRight };
struct Column {
  std::string title;
  Align align = Align::kLeft;
};
struct Cell {
  Cell() = default;
  Cell(std::string t, Style s = Style::kPlain)
      : text(std::move(t)), style(s) {}  // NOLINT: a cell is its text
  Cell(const char* t) : text(t) {}       // NOLINT
  std::string text;                      // raw: escaped when shown
  Style style = Style::kPlain;
};

// Rows under aligned columns. Cells are escaped (Safe) here, so callers pass them as they are.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void Add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  std::size_t size() const { return rows_.size(); }
  void Clear() { rows_.clear(); }
  // Title line (unless `titles` is false) and rows, two spaces between columns, nothing after the last.
  void Write(Output& out, bool titles = true) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// "label   value" lines, labels padded to one width. Values are escaped.
class Fields {
 public:
  void Add(std::string label, Cell value) { fields_.emplace_back(std::move(label), std::move(value)); }
  // Only when there is something to say.
  void AddUnlessEmpty(std::string label, std::string value);
  void Write(Output& out, std::string_view indent = "") const;

 private:
  std::vector<std::pair<std::string, Cell>> fields_;
};

// A list in all three forms: a table; one JSON object {"<name>": [...], ...}; a JSON object per line. Shows
// what it has got in blocks, so that memory does not grow with the list.
class ListWriter {
 public:
  ListWriter(Output& out, std::string name, std::vector<Column> columns);
  void Add(const std::string& json, std::vector<Cell> row);
  // `more` are further members of the object, "" or "\"a\":1,\"b\":2". `empty` is what a table says when
  // there was nothing.
  void Finish(std::string_view more, std::string_view empty);
  std::uint64_t count() const { return count_; }

 private:
  void FlushTable();
  Output& out_;
  std::string name_;
  Table table_;
  std::uint64_t count_ = 0;
  bool titles_shown_ = false;
};

}  // namespace etl::ctl
