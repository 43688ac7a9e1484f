#include "config/settings.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace etl {
namespace {

Error ReadFault(const std::string& path, std::string what) {
  return Error{Errc::kUnavailable, "CONFIG_READ", path, std::move(what),
               "make it an ordinary file that the user of this program may read"};
}

Error ReadFault(const std::string& path, int error) {
  return ReadFault(path, std::generic_category().message(error));
}

// Owns a descriptor.
class File {
 public:
  // Without O_NONBLOCK a named pipe would wait for its other end.
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

// At most one byte more than allowed, so that the parser sees that it is too much.
Result<std::string> ReadSettingsFile(const std::string& path) {
  const File file(path);
  if (file.fd() < 0 && (errno == ENOENT || errno == ENOTDIR)) {
    return Fail(Errc::kNotFound, "CONFIG_MISSING", path, "there is no such file",
                "write one, an empty one will do, or name another");
  }
  if (file.fd() < 0) return Fail(ReadFault(path, errno));
  struct stat about = {};
  if (fstat(file.fd(), &about) != 0) return Fail(ReadFault(path, errno));
  if (!S_ISREG(about.st_mode)) return Fail(ReadFault(path, "it is no ordinary file"));
  std::string text(kSettingsBytesMax + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(file.fd(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Fail(ReadFault(path, errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace

SourceSettings Settings::Source(std::string_view slug) const {
  if (const auto found = sources.find(slug); found != sources.end()) return found->second;
  SourceSettings source;
  source.fetch = fetch;
  source.poll = poll;
  return source;
}

bool operator==(const Settings& a, const Settings& b) {
  return a.store == b.store && a.fetch == b.fetch && a.poll == b.poll && a.sources == b.sources &&
         a.serve == b.serve && a.control == b.control && a.log == b.log && a.generations == b.generations &&
         a.disk == b.disk;
}

Environment ProcessEnvironment() {
  return [](std::string_view name) -> std::optional<std::string> {
    const char* const value = std::getenv(std::string(name).c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

Result<Settings> LoadSettings(const std::string& path, const Environment& environment,
                              std::vector<Error>* faults, const std::vector<std::string>& known_sources) {
  Result<std::string> text = ReadSettingsFile(path);
  if (!text) {
    if (faults != nullptr) *faults = {text.error()};
    return Fail(std::move(text).error());
  }
  return ParseSettings(*text, path, environment, faults, known_sources);
}

}  // namespace etl
