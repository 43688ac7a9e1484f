#include "etlctl/run.h"

int main(int argc, char** argv) {
  return etl::ctl::Run(argc, argv, stdout, stderr);
}
