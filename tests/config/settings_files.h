#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace etl::test {

inline std::string ReadSource(std::string_view name) {
  std::ifstream in(std::string(ETL_SOURCE_DIR "/").append(name), std::ios::binary);
  EXPECT_TRUE(in) << name;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Compares a file of the tree with what it is made from; ETL_REGENERATE=1 writes it instead.
inline void ExpectSource(std::string_view name, const std::string& made) {
  if (std::getenv("ETL_REGENERATE") != nullptr)
    std::ofstream(std::string(ETL_SOURCE_DIR "/").append(name), std::ios::binary) << made;
  EXPECT_EQ(ReadSource(name), made) << "run config_tests once with ETL_REGENERATE=1 and look at what changes";
}

// Every key of the shipped file set: "#name = value" and "#[section]" without their "#". Prose has a space
// there.
inline std::string Uncommented(const std::string& file) {
  std::istringstream lines(file);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    const bool key = line.size() > 1 && line[0] == '#' && line[1] != ' ';
    out.append(key ? line.substr(1) : line).append("\n");
  }
  return out;
}

}  // namespace etl::test
