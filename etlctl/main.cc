#include <csignal>

#include "etlctl/run.h"

int main(int argc, char** argv) {
  // A file over the size limit is an error of its write, told like any other, and no reason to die.
  std::signal(SIGXFSZ, SIG_IGN);
  return etl::ctl::Run(argc, argv, stdout, stderr);
}
