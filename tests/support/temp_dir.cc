#include "tests/support/temp_dir.h"

#include <cerrno>
#include <cstdlib>  // and mkdtemp, which POSIX puts there
#include <iostream>
#include <stdexcept>
#include <system_error>

namespace etl::test {

TempDir::TempDir(std::string_view name) {
  const char* root = std::getenv("TMPDIR");
  path_ = root != nullptr && *root != '\0' ? root : "/tmp";
  path_.append("/etl-").append(name).append("-XXXXXX");
  if (mkdtemp(path_.data()) == nullptr) {
    throw std::runtime_error("cannot make " + path_ + ": " + std::generic_category().message(errno));
  }
}

TempDir::~TempDir() {
  const char* keep = std::getenv("ETL_KEEP_TEMP");
  if (keep != nullptr && std::string_view(keep) == "1") {
    std::cerr << "kept " << path_ << '\n';
    return;
  }
  std::error_code ignored;  // a test may have made a part of it unreadable on purpose
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::File(std::string_view name) const {
  return (path_ + "/").append(name);
}

}  // namespace etl::test
