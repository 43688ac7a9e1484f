#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "fetch/transport.h"
#include "model/canonical_json.h"
#include "model/json.h"

namespace etl {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kFileBytesMax = std::uintmax_t{256} << 20;
constexpr std::size_t kFoldersMax = 100'000;
constexpr std::int64_t kDefaultLimit = 20;  // what upstream answers when a query has no limit
constexpr std::string_view kDefinition = "definition.json";

tl::unexpected<Error> BadKey(std::string_view key, std::string what) {
  return Fail(
      Errc::kInvalid, "FOLDER_KEY", std::string(key), std::move(what),
      "a folder answers kernels, kernels/<id>, submissions?kernel_id=, leaderboard/... and local/...");
}

Response NotThere(const fs::path& file) {
  return {404, "", file.string(), {}, {}};
}

// Whether every component of a relative path is a name: not empty, not "..", no control character. "." is one
// only where it stands for the folder itself, behind "local/".
bool AreNames(std::string_view path) {
  const bool local = path.starts_with("local/");
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view name = path.substr(begin, end - begin);
    const bool control = std::any_of(name.begin(), name.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '\\';
    });
    if (name.empty() || name == ".." || (name == "." && !(local && begin == 6)) || control) return false;
    if (end == path.size()) return true;
    begin = end + 1;
  }
}

bool IsUtf8(std::string_view text) {
  std::string quoted;
  json::AppendString(quoted, text);
  return json::Document::Parse(quoted).has_value();
}

bool TakeNumber(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

struct PageQuery {
  std::int64_t kernel_id = -1, limit = kDefaultLimit, offset = 0;
};

// Only what a folder can answer: it cannot filter rows.
std::optional<PageQuery> ParsePageQuery(std::string_view query) {
  PageQuery page;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view part = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view name = part.substr(0, equals);
    std::int64_t* const target = name == "kernel_id" ? &page.kernel_id
                                 : name == "limit"   ? &page.limit
                                 : name == "offset"  ? &page.offset
                                                     : nullptr;
    if (target == nullptr || equals == part.size() || !TakeNumber(part.substr(equals + 1), *target))
      return std::nullopt;
  }
  if (page.kernel_id < 0) return std::nullopt;
  return page;
}

// A saved list of rows: where each is.
struct SavedList {
  bool is_list = false;
  std::vector<json::ElementRange> rows;
};

SavedList FindRows(std::string_view text) {
  SavedList list;
  auto rows = json::FindElements(text, {"data", "submissions"});
  if (!rows) return list;
  list.is_list = true;
  list.rows = *std::move(rows);
  return list;
}

class FolderTransport : public Transport {
 public:
  FolderTransport(fs::path dir, bool local) : dir_(std::move(dir)), local_(local) {}

  using Transport::Fetch;
  Result<Response> Fetch(std::string_view key, const Validators& /*held*/) override {
    const std::size_t question = std::min(key.find('?'), key.size());
    const std::string_view path = key.substr(0, question);
    const std::string_view query = key.substr(std::min(question + 1, key.size()));
    if (!AreNames(path) || query.find('/') != std::string_view::npos || !AreNames("q" + std::string(query))) {
      return BadKey(key, "the key has a part that is no plain name");
    }
    if (path == "submissions") return FetchRows(key, query);
    if (path == "local" && query.empty()) return FetchIndex();
    if (path.starts_with("local/") && query.empty()) return FetchLocal(key, path.substr(6));
    if (path != "kernels" && !path.starts_with("kernels/") && !path.starts_with("leaderboard/")) {
      return BadKey(key, "a folder has no such answer");
    }
    if (!query.empty()) {
      ETL_TRY(Response exact, ReadFile(key, std::string(path) + "@" + std::string(query) + ".json"));
      if (exact.status != 404) return exact;
    }
    return ReadFile(key, std::string(path) + ".json");
  }

  std::string Describe() const override { return "folder " + dir_.string(); }
  bool local() const override { return local_; }

 private:
  // The file that a key names. Its real place must be inside the folder.
  Result<std::optional<fs::path>> Locate(std::string_view key, const std::string& name) const {
    std::error_code error;
    const fs::path file = fs::canonical(dir_ / name, error);
    if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory) {
      return std::optional<fs::path>();
    }
    if (error == std::errc::filename_too_long) return BadKey(key, "the name of the file is too long");
    if (error) return Unreadable(dir_ / name, error.message());
    const auto [end, unused] = std::mismatch(dir_.begin(), dir_.end(), file.begin(), file.end());
    if (end != dir_.end()) return BadKey(key, "a link leads out of the folder");
    return std::optional<fs::path>(file);
  }

  static tl::unexpected<Error> Unreadable(const fs::path& file, const std::string& why) {
    return Fail(Errc::kUnavailable, "FOLDER_READ", file.string(), "the file cannot be read: " + why,
                "check that it is a plain file that this user may read");
  }

  Result<Response> ReadFile(std::string_view key, const std::string& name) {
    ETL_TRY(const std::optional<fs::path> file, Locate(key, name));
    if (!file) return NotThere(dir_ / name);
    ETL_TRY(std::string bytes, ReadBytes(*file));
    return Response{200, std::move(bytes), file->string(), {}, {}};
  }

  static Result<std::string> ReadBytes(const fs::path& file) {
    std::error_code error;
    if (!fs::is_regular_file(file, error)) return Unreadable(file, "it is no plain file");
    const std::uintmax_t size = fs::file_size(file, error);
    if (error) return Unreadable(file, error.message());
    if (size > kFileBytesMax) {
      return Fail(Errc::kInvalid, "FOLDER_FILE_TOO_LARGE", file.string(),
                  "the file has " + std::to_string(size) + " bytes, over 256 MiB",
                  "split it, or leave it out");
    }
    std::ifstream stream(file, std::ios::binary);
    std::string bytes(static_cast<std::size_t>(size), '\0');
    if (stream) stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!stream) return Unreadable(file, "it could not be opened, or became shorter");
    return bytes;
  }

  Result<Response> FetchRows(std::string_view key, std::string_view query) {
    const auto page = ParsePageQuery(query);
    if (!page)
      return BadKey(key,
                    "a folder reads kernel_id, limit and offset of a submissions query, and nothing else");
    ETL_TRY(const std::optional<fs::path> file,
            Locate(key, "submissions/" + std::to_string(page->kernel_id) + ".json"));
    if (!file) return NotThere(dir_ / "submissions" / (std::to_string(page->kernel_id) + ".json"));
    ETL_CHECK_OK(Load(*file, page->offset == 0));
    const auto rows = static_cast<std::int64_t>(loaded_.list.rows.size());
    const bool whole = page->offset == 0 && (!loaded_.list.is_list || rows <= page->limit);
    return Response{200, whole ? loaded_.bytes : CutPage(*page), file->string(), {}, {}};
  }

  // Keeps the file of the last page, unless it changed since or a walk begins anew.
  Status Load(const fs::path& file, bool afresh) {
    std::error_code error;
    const auto written = fs::last_write_time(file, error);
    const std::uintmax_t size = fs::file_size(file, error);
    if (!afresh && file == loaded_.file && written == loaded_.written && size == loaded_.bytes.size())
      return {};
    loaded_ = {};
    ETL_TRY(loaded_.bytes, ReadBytes(file));
    loaded_.file = file;
    loaded_.written = written;
    loaded_.list = FindRows(loaded_.bytes);
    return {};
  }

  std::string CutPage(const PageQuery& page) const {
    const auto& rows = loaded_.list.rows;
    const auto first = static_cast<std::size_t>(
        std::min<std::uint64_t>(static_cast<std::uint64_t>(page.offset), rows.size()));
    const std::size_t count = std::min(static_cast<std::size_t>(page.limit), rows.size() - first);
    if (rows.empty()) return loaded_.bytes;
    // What stands around the rows is left as it is, so that whatever is wrong with it is seen.
    std::string out = loaded_.bytes.substr(0, rows.front().begin);
    if (count > 0) {
      const std::size_t begin = rows[first].begin;
      out.append(loaded_.bytes, begin, rows[first + count - 1].end - begin);
    }
    out.append(loaded_.bytes, rows.back().end);
    return out;
  }

  Result<Response> FetchIndex() const {
    if (!local_) return NotThere(dir_ / kDefinition);
    ETL_TRY(const std::vector<std::string> folders, DefinitionFolders(dir_));
    std::string out = "{\"kernels\":[";
    for (std::size_t i = 0; i < folders.size(); ++i) {
      if (i > 0) out += ',';
      json::AppendString(out, folders[i]);
    }
    out += "]}";
    return Response{200, std::move(out), dir_.string(), {}, {}};
  }

  Result<Response> FetchLocal(std::string_view key, std::string_view rest) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view file = rest.substr(std::min(slash + 1, rest.size()));
    if (file != kDefinition && file != "workload.jsonl")
      return BadKey(key, "a local folder has no such file");
    return ReadFile(key, std::string(rest));
  }

 public:
  // The folders that hold a definition: "." for `dir` itself, else the names of its sub-folders, sorted.
  static Result<std::vector<std::string>> DefinitionFolders(const fs::path& dir) {
    std::error_code error;
    if (fs::exists(dir / kDefinition, error)) return std::vector<std::string>{"."};
    std::vector<std::string> folders;
    fs::directory_iterator entry(dir, error);
    if (error) return Unreadable(dir, error.message());
    for (; entry != fs::directory_iterator() && folders.size() < kFoldersMax; entry.increment(error)) {
      std::error_code ignored;
      std::string name = entry->path().filename().string();
      if (AreNames(name) && IsUtf8(name) && fs::exists(entry->path() / kDefinition, ignored))
        folders.push_back(std::move(name));
      if (error) break;
    }
    if (error) return Unreadable(dir, error.message());
    std::sort(folders.begin(), folders.end());
    return folders;
  }

 private:
  struct Loaded {
    fs::path file;
    fs::file_time_type written;
    std::string bytes;
    SavedList list;
  };

  fs::path dir_;  // canonical
  bool local_;
  Loaded loaded_;
};

}  // namespace

Result<std::unique_ptr<Transport>> OpenFolder(const std::string& dir) {
  const auto missing = [&](std::string what) {
    return Fail(Errc::kNotFound, "FOLDER_MISSING", dir, std::move(what),
                "give a folder of saved responses (kernels.json) or of definition files (definition.json)");
  };
  std::error_code error;
  const fs::path place = fs::canonical(dir, error);
  if (error || !fs::is_directory(place, error)) return missing("there is no such folder");
  if (fs::exists(place / "kernels.json", error)) return std::make_unique<FolderTransport>(place, false);
  const auto folders = FolderTransport::DefinitionFolders(place);
  if (!folders) return Fail(folders.error());
  if (folders->empty()) return missing("the folder holds no kernels.json and no definition.json");
  return std::make_unique<FolderTransport>(place, true);
}

}  // namespace etl
