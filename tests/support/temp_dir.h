#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace etl::test {

// A new empty folder, gone with everything in it when the object goes. It lies under $TMPDIR, else /tmp, and
// its name starts with "etl-<name>-". The constructor throws std::runtime_error when the folder cannot be
// made. Setting ETL_KEEP_TEMP=1 keeps the folder and says on stderr where it is.
class TempDir {
 public:
  explicit TempDir(std::string_view name = "test");
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  // path() + "/" + name.
  std::string File(std::string_view name) const;

 private:
  std::string path_;
};

}  // namespace etl::test
