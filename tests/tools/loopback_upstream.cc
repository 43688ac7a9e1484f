// loopback_upstream DIR [options]: serves a folder of saved responses on 127.0.0.1, for measuring and for
// trying things by hand. Says where on the first line of its output, and ends with its input or on SIGINT
// and SIGTERM, telling what it served.

#include "tests/support/loopback_upstream.h"

#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>
#include <poll.h>
#include <unistd.h>

#include "tests/support/loopback_actions.h"

namespace {

void Nothing(int /*signal*/) {}

// Waits for the end of the input, unless `ignore_input`, or for a signal.
void WaitForTheEnd(bool ignore_input) {
  struct sigaction action {};
  action.sa_handler = Nothing;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  for (;;) {
    pollfd input{ignore_input ? -1 : STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, -1) < 0) return;
    char ignored[256];
    if (read(STDIN_FILENO, ignored, sizeof ignored) <= 0) return;
  }
}

int Run(int argc, char** argv) {
  using etl::test::LoopbackOptions;
  LoopbackOptions options;
  bool strong = false, weak = false, ignore_input = false;
  int busy_first = 0;
  CLI::App app(
      "Serves a folder of saved responses on 127.0.0.1.\n"
      "Example: loopback_upstream /tmp/leaderboard --port 8080 --etag");
  app.add_option("dir", options.folder, "folder of saved responses")->required();
  app.add_option("--port", options.port, "0 takes a free one")->capture_default_str();
  app.add_option("--prefix", options.prefix, "before every path, such as /benchmarks/api");
  app.add_flag("--tls", options.tls, "HTTPS, with a certificate made now");
  app.add_flag("--etag", strong, "give ETags and answer 304");
  app.add_flag("--weak-etag", weak, "the same with weak ones");
  app.add_flag("--last-modified", options.last_modified, "give Last-Modified and answer 304");
  app.add_flag("--gzip", options.gzip, "compress for who accepts it");
  app.add_option("--delay-ms", options.delay_ms, "before every answer")->capture_default_str();
  app.add_option("--window", options.window_rows, "rows of a kernel that are served, 0 for all")
      ->capture_default_str();
  app.add_option("--limit-max", options.limit_max, "rows of a page at most, 0 for any")
      ->capture_default_str();
  app.add_option("--busy-first", busy_first, "answer the first so many requests with 503")
      ->capture_default_str();
  app.add_flag("--ignore-input", ignore_input, "go on when the input ends");
  CLI11_PARSE(app, argc, argv);
  if (strong) options.etag = LoopbackOptions::Etag::kStrong;
  if (weak) options.etag = LoopbackOptions::Etag::kWeak;
  options.log_max = 0;
  etl::test::LoopbackUpstream upstream(options);
  if (busy_first > 0) upstream.Script({"", true, 1, busy_first, etl::test::Reply(503)});
  std::cout << upstream.base_url() << std::endl;
  if (options.tls) std::cout << "authority " << upstream.ca_file() << std::endl;
  WaitForTheEnd(ignore_input);
  std::cout << "requests " << upstream.count() << ", connections " << upstream.connections()
            << ", bytes sent " << upstream.bytes_sent() << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "loopback_upstream: " << e.what() << '\n';
    return 1;
  }
}
