// make_leaderboard DIR [options]: writes a generated leaderboard, for measuring and for trying things by
// hand.

#include <exception>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "tests/support/generated_leaderboard.h"

namespace {

int Run(int argc, char** argv) {
  etl::test::LeaderboardShape shape;
  std::string dir;
  CLI::App app(
      "Writes a generated leaderboard as a folder of saved responses.\n"
      "Example: make_leaderboard /tmp/leaderboard --kernels 235 --rows 250");
  app.add_option("dir", dir, "folder to write, made if it is not there")->required();
  app.add_option("--kernels", shape.kernels, "kernels")->capture_default_str();
  app.add_option("--rows", shape.rows_per_kernel, "rows of each kernel")->capture_default_str();
  app.add_option("--cases", shape.cases_per_kernel, "workloads of each kernel")->capture_default_str();
  app.add_option("--extra", shape.extra_rows, "newer rows on top, in the first kernel")
      ->capture_default_str();
  app.add_option("--seed", shape.seed, "seed: equal options and seeds give equal bytes")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  etl::test::WriteLeaderboard(dir, shape);
  std::cout << "wrote " << shape.kernels << " kernels to " << dir << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "make_leaderboard: " << e.what() << '\n';
    return 1;
  }
}
