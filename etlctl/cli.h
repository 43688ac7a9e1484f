#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "etlctl/commands.h"

namespace etl::ctl {

// What a command needs of the store, and so who may run it where a daemon holds it.
enum class Needs : std::uint8_t {
  kNothing,  // runs in etlctl itself, always
  kRead,
  kChange,
};

// One command as the command line knows it.
struct Command {
  CLI::App* app = nullptr;
  std::function<Result<Exit>(const Session&)> run;
  Needs needs = Needs::kRead;
  bool manifest = false, page = false;  // which of the further output formats it has
  bool stoppable = false;               // SIGINT and SIGTERM let it come to an end of its own
};

// The command line: options that every command takes, and the commands. Lives as long as the parse.
struct CommandLine {
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // A command below `parent`, with an example for its help.
  CLI::App* Add(CLI::App* parent, const std::string& name, const std::string& what,
                const std::string& example);
  // A command that has commands of its own.
  CLI::App* AddGroup(const std::string& name, const std::string& what, const std::string& example);
  // What the command line asks for; null when it asks for nothing.
  const Command* Chosen() const;

  CLI::App root;
  std::string store_dir, settings_file, format = "table";
  std::vector<Command> commands;
};

// Checks of option values; what they refuse is a usage error. A count: digits of a whole number from 1 on,
// that fits 63 bits. A text: anything but nothing, which an unset variable of a script may have become.
CLI::Validator Count();
CLI::Validator Text();

void AddReadCommands(CommandLine& line);
void AddListCommands(CommandLine& line);
void AddStoreCommands(CommandLine& line);
void AddDaemonCommands(CommandLine& line);
void AddConfigCommands(CommandLine& line);
void AddCompleteCommand(CommandLine& line);

// A command that reads a store: opens it, and hands it on.
template <class Read>
std::function<Result<Exit>(const Session&)> OnStore(Read read) {
  return [read](const Session& session) -> Result<Exit> {
    ETL_TRY(const std::shared_ptr<Store> store, session.Open(Store::Mode::kRead));
    return read(session, *store);
  };
}

}  // namespace etl::ctl
