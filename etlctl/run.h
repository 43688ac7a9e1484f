#pragma once

#include <cstdio>

namespace etl::ctl {

// The whole of etlctl: reads the command line, runs the command, reports what went wrong, and returns the
// exit status (exit_code.h). Data goes to `data`, talk to `talk`. Never throws.
int Run(int argc, const char* const* argv, std::FILE* data, std::FILE* talk);

}  // namespace etl::ctl
