#pragma once

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "etlctl/output.h"
#include "etlctl/run.h"

namespace etl::ctl::test {

// A stream that keeps what is written to it.
class Captured {
 public:
  Captured() : file_(::open_memstream(&data_, &size_)) {}
  ~Captured() {
    std::fclose(file_);
    std::free(data_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  std::FILE* file() const { return file_; }
  std::string Text() const {
    std::fflush(file_);
    return {data_, size_};
  }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_;
};

// An Output over two captured streams.
struct CapturedOutput {
  explicit CapturedOutput(Format format = Format::kTable) : out(data.file(), talk.file(), format) {}
  std::string Data() {
    out.FlushData();
    return data.Text();
  }
  Captured data, talk;
  Output out;
};

struct Ran {
  int exit = 0;
  std::string out, err;
};

// etlctl with these arguments, in this process.
inline Ran Ctl(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv{"etlctl"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  Captured data, talk;
  Ran ran;
  ran.exit = Run(static_cast<int>(argv.size()), argv.data(), data.file(), talk.file());
  ran.out = data.Text();
  ran.err = talk.Text();
  return ran;
}

}  // namespace etl::ctl::test
