#include "tests/support/golden.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace etl::test {

std::optional<std::string> GoldenDir() {
  const char* dir = std::getenv("ETL_GOLDEN_DIR");
  if (dir == nullptr || !std::filesystem::is_directory(dir)) return std::nullopt;
  return std::string(dir);
}

bool GoldenRequired() {
  const char* required = std::getenv("ETL_REQUIRE_GOLDEN");
  return required != nullptr && std::string(required) == "1";
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace etl::test
