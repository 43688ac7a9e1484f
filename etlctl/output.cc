#include "etlctl/output.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

#include "etlctl/escape.h"

namespace etl::ctl {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
constexpr std::size_t kTableBlockRows = 2000;

bool ColorWanted() {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  return term != nullptr && std::strcmp(term, "dumb") != 0;
}

bool IsTerminal(std::FILE* stream) {
  const int fd = ::fileno(stream);
  return fd >= 0 && ::isatty(fd) == 1;
}

std::string_view Sequence(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kBold:
      return "\x1b[1m";
    case Style::kDim:
      return "\x1b[2m";
    case Style::kGood:
      return "\x1b[32m";
    case Style::kWarning:
      return "\x1b[33m";
    case Style::kBad:
      return "\x1b[31m";
  }
  return "";
}

std::string Padded(const std::string& text, std::size_t width, Align align) {
  const std::size_t own = DisplayWidth(text);
  const std::string space(width > own ? width - own : 0, ' ');
  return align == Align::kLeft ? text + space : space + text;
}

}  // namespace

std::optional<Format> ParseFormat(std::string_view name) noexcept {
  if (name == "table") return Format::kTable;
  if (name == "json") return Format::kJson;
  if (name == "jsonl") return Format::kJsonl;
  if (name == "manifest") return Format::kManifest;
  if (name == "page") return Format::kPage;
  return std::nullopt;
}

Terminal Terminal::Of(std::FILE* data, std::FILE* talk) {
  return {IsTerminal(data), IsTerminal(talk), ColorWanted(), 0};
}

Output::Output(std::FILE* data, std::FILE* talk, Format format, const Terminal& terminal)
    : data_(data), talk_(talk), format_(format), terminal_(terminal) {}

Output::~Output() {
  FlushData();
}

std::size_t Output::talk_columns() const {
  if (terminal_.columns > 0) return terminal_.columns;
  struct winsize size {};
  const int fd = ::fileno(talk_);
  if (fd >= 0 && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) return size.ws_col;
  return 80;
}

void Output::FlushData() {
  if (failure_ == 0) {
    errno = 0;
    const bool written = std::fwrite(buffer_.data(), 1, buffer_.size(), data_) == buffer_.size();
    if (!written || std::fflush(data_) != 0) failure_ = errno != 0 ? errno : EIO;
  }
  buffer_.clear();
}

void Output::Data(std::string_view bytes) {
  buffer_.append(bytes);
  if (buffer_.size() >= kBufferBytes) FlushData();
}

void Output::DataLine(std::string_view line) {
  Data(line);
  Data("\n");
}

void Output::Talk(std::string_view bytes) {
  // What was said before must be seen before, where both streams are one terminal.
  if (terminal_.data) FlushData();
  std::fwrite(bytes.data(), 1, bytes.size(), talk_);
  std::fflush(talk_);
}

void Output::TalkLine(std::string_view line) {
  Talk(std::string(line) + "\n");
}

Status Output::Finish() {
  FlushData();
  if (failure_ == 0) return {};
  return Fail(Errc::kUnavailable, "OUTPUT_WRITE", "standard output", std::strerror(failure_),
              "free some space or keep the reader open, then run it again");
}

std::string Output::Paint(std::string_view text, Style style, bool color) {
  if (!color || style == Style::kPlain) return std::string(text);
  return std::string(Sequence(style)).append(text).append("\x1b[0m");
}

void Table::Write(Output& out, bool titles) const {
  std::vector<std::vector<std::string>> shown;
  std::vector<std::size_t> widths;
  widths.reserve(columns_.size());
  for (const Column& column : columns_) widths.push_back(DisplayWidth(column.title));
  for (const auto& row : rows_) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      cells.push_back(i < row.size() ? Safe(row[i].text) : std::string());
      widths[i] = std::max(widths[i], DisplayWidth(cells[i]));
    }
    shown.push_back(std::move(cells));
  }
  const auto pad = [&](const std::string& text, std::size_t i) {
    // Nothing trails the last column.
    const bool last_left = i + 1 == columns_.size() && columns_[i].align == Align::kLeft;
    return last_left ? text : Padded(text, widths[i], columns_[i].align);
  };
  if (titles) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      line.append(i == 0 ? "" : "  ").append(pad(columns_[i].title, i));
    out.DataLine(out.Styled(line, Style::kDim));
  }
  for (std::size_t r = 0; r < shown.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Style style = i < rows_[r].size() ? rows_[r][i].style : Style::kPlain;
      line.append(i == 0 ? "" : "  ").append(out.Styled(pad(shown[r][i], i), style));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out.DataLine(line);
  }
}

void Fields::AddUnlessEmpty(std::string label, std::string value) {
  if (!value.empty()) Add(std::move(label), std::move(value));
}

void Fields::Write(Output& out, std::string_view indent) const {
  std::size_t width = 0;
  for (const auto& [label, value] : fields_) width = std::max(width, DisplayWidth(label));
  for (const auto& [label, value] : fields_) {
    out.Data(indent);
    out.Data(out.Styled(Padded(label, width, Align::kLeft), Style::kDim));
    out.Data("  ");
    out.DataLine(out.Styled(Safe(value.text), value.style));
  }
}

ListWriter::ListWriter(Output& out, std::string name, std::vector<Column> columns)
    : out_(out), name_(std::move(name)), table_(std::move(columns)) {}

void ListWriter::Add(const std::string& json, std::vector<Cell> row) {
  switch (out_.format()) {
    case Format::kJson:
      out_.Data(count_ == 0 ? "{\"" + name_ + "\":[" : ",");
      out_.Data(json);
      break;
    case Format::kJsonl:
      out_.DataLine(json);
      break;
    case Format::kTable:
    case Format::kManifest:
    case Format::kPage:
      table_.Add(std::move(row));
      if (table_.size() >= kTableBlockRows) FlushTable();
      break;
  }
  ++count_;
}

void ListWriter::FlushTable() {
  if (table_.size() == 0) return;
  table_.Write(out_, !titles_shown_);
  titles_shown_ = true;
  table_.Clear();
}

void ListWriter::Finish(std::string_view more, std::string_view empty) {
  if (out_.format() == Format::kJson) {
    if (count_ == 0) out_.Data("{\"" + name_ + "\":[");
    out_.Data("]");
    if (!more.empty()) {
      out_.Data(",");
      out_.Data(more);
    }
    out_.DataLine("}");
  } else if (out_.format() != Format::kJsonl) {
    FlushTable();
    if (count_ == 0 && !empty.empty()) out_.TalkLine(empty);
  }
}

}  // namespace etl::ctl
