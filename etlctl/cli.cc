#include "etlctl/cli.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/visit.h"
#include "etlctl/forward.h"
#include "etlctl/invocation.h"
#include "etlctl/run.h"
#include "etlctl/settings_file.h"
#include "etlctl/stop_signal.h"

namespace etl::ctl {
namespace {

constexpr std::string_view kExitCodes =
    "Exit status: 0 done, 1 failed, 2 usage, 3 incomplete, 4 not found, 5 store locked, 6 damage found.";

// The format that was asked for, as far as it can be told from a command line that may be wrong elsewhere.
Format FormatAskedFor(int argc, const char* const* argv) {
  std::optional<Format> format;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    std::string_view value;
    if ((arg == "-o" || arg == "--output") && i + 1 < argc) {
      value = argv[i + 1];
    } else if (arg.starts_with("--output=")) {
      value = arg.substr(9);
    } else if (arg.starts_with("-o") && arg.size() > 2) {
      value = arg.substr(2);
    }
    if (const auto parsed = ParseFormat(value)) format = parsed;
  }
  return format.value_or(Format::kTable);
}

// The command that a wrong command line got to: "get run".
std::string PathOf(const CLI::App& root) {
  std::string path;
  const CLI::App* app = &root;
  for (auto chosen = app->get_subcommands(); !chosen.empty(); chosen = app->get_subcommands()) {
    app = chosen.front();
    path.append(path.empty() ? "" : " ").append(app->get_name());
  }
  return path;
}

std::string HelpOf(const CLI::App& root) {
  std::string help = root.help();
  if (!help.ends_with('\n')) help += '\n';
  return help;
}

Error ParseFailure(const CLI::App& root, const CLI::ParseError& error) {
  const std::string path = PathOf(root);
  std::string what = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    // CLI11's own message has them backwards.
    what = "not expected here:";
    for (const std::string& extra : root.remaining(true)) what += " " + extra;
  }
  while (!what.empty() && (what.back() == '.' || what.back() == '\n')) what.pop_back();
  return UsageError(path.empty() ? "command line" : path, std::move(what),
                    "see `etlctl" + (path.empty() ? "" : " " + path) + " --help`");
}

Status CheckFormat(const Command& command, Format format) {
  const bool fits =
      (format != Format::kManifest || command.manifest) && (format != Format::kPage || command.page);
  if (fits) return {};
  return Fail(UsageError(command.app->get_name(), "this command has no such output format",
                         "-o manifest is for `get`, -o page for `get run`; use table, json or jsonl"));
}

// $ETL_STORE, else that of the settings file where there is one, as etld does it, else the usual folder. A file that is wrong is told by the
// commands that need more of it.
Result<std::string> UsualStoreDir(const Session& session) {
  SettingsFile file = SettingsFileOf(session);
  const auto settings = LoadSettingsFile(file);
  if (settings && !file.path.empty()) return settings->store.dir;
  return DefaultStoreDir();
}

Result<Exit> RunChosen(const CommandLine& line, const Command& command, const Invocation& invocation,
                       Output& out) {
  ETL_CHECK_OK(CheckFormat(command, out.format()));
  SystemClock clock;
  Session session{out,     clock,           line.store_dir,      line.settings_file,
                  nullptr, invocation.host, invocation.directory};
  if (invocation.host != nullptr) {
    if (command.needs == Needs::kChange && !invocation.host->may_change())
      return Fail(Errc::kInvalid, "CONTROL_FORBIDDEN", command.app->get_name(),
                  "the daemon lets you ask, not change",
                  "run this as root, or as a member of the group etld-admin");
    session.store_dir = invocation.host->store().dir();
    session.settings_file = invocation.host->settings_file();
    session.stop = &invocation.host->stop();
    return command.run(session);
  }
  if (session.store_dir.empty()) {
    ETL_TRY(session.store_dir, UsualStoreDir(session));
  }
  if (command.needs != Needs::kNothing) {
    if (const std::string daemon = DaemonOf(session.store_dir); !daemon.empty())
      return Forward(daemon, session.store_dir, invocation.arguments, out);
  }
  // Until all is said: who asks to stop wants to know how far it came.
  std::optional<StopSignal> signal;
  if (command.stoppable) signal.emplace();
  const std::atomic<bool> never{false};
  session.stop = signal ? signal->flag() : &never;
  ETL_TRY(const Exit exit, command.run(session));
  ETL_CHECK_OK(out.Finish());
  return exit;
}

Exit ParseAndRun(int argc, const char* const* argv, const Invocation& invocation, Output& out) {
  CommandLine line;
  try {
    line.root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    out.Data(HelpOf(line.root));
    return Exit::kDone;
  } catch (const CLI::CallForVersion&) {
    out.DataLine("etlctl " ETL_VERSION);
    return Exit::kDone;
  } catch (const CLI::ParseError& error) {
    Report(out, ParseFailure(line.root, error));
    return Exit::kUsage;
  }
  const Command* command = line.Chosen();
  if (command == nullptr) {
    out.Talk(HelpOf(line.root));
    return Exit::kUsage;
  }
  const Result<Exit> exit = RunChosen(line, *command, invocation, out);
  if (exit) return *exit;
  // What was written before the failure belongs before its report.
  out.FlushData();
  Report(out, exit.error());
  return ExitFor(exit.error());
}

}  // namespace

CLI::Validator Count() {
  return {[](const std::string& text) {
            constexpr std::size_t kDigitsMax = 18;
            const bool count = !text.empty() && text.size() <= kDigitsMax && text.front() != '0' &&
                               text.find_first_not_of("0123456789") == std::string::npos;
            return count ? std::string() : "needs a whole number from 1 on, not '" + text + "'";
          },
          "", "count"};
}

CLI::Validator Text() {
  return {[](const std::string& text) {
            return text.empty() ? "needs a value that is not empty" : std::string();
          },
          "", "text"};
}

CommandLine::CommandLine() : root("Reads and keeps a mirror of kernel leaderboards", "etlctl") {
  root.add_option("--store", store_dir,
                  "Folder of the store (default $ETL_STORE, else by the settings, else /var/lib/etld for "
                  "root, else ~/.local/state/etld)")
      ->check(Text())
      ->type_name("DIR");
  root.add_option("--config", settings_file, "Settings file (default $ETL_CONFIG, else /etc/etld/etld.toml)")
      ->check(Text())
      ->type_name("FILE");
  root.add_option("-o,--output", format, "table, json or jsonl; `get` also has manifest and page")
      ->check(CLI::IsMember({"table", "json", "jsonl", "manifest", "page"}))
      ->type_name("FORMAT");
  root.set_version_flag("--version", "etlctl " ETL_VERSION, "Show the version and exit");
  root.set_help_flag("-h,--help", "Show this help and exit");
  root.footer(
      "Example:\n  etlctl backfill --source sol-execbench --from saved/\n"
      "  etlctl get run sol-execbench:submission/37749 -o page\n\n" +
      std::string(kExitCodes));
  root.require_subcommand(0, 1);
  root.get_formatter()->label("SUBCOMMAND", "COMMAND");
  AddStoreCommands(*this);
  AddReadCommands(*this);
  AddListCommands(*this);
  AddDaemonCommands(*this);
  AddConfigCommands(*this);
  AddCompleteCommand(*this);
}

CLI::App* CommandLine::Add(CLI::App* parent, const std::string& name, const std::string& what,
                           const std::string& example) {
  CLI::App* app = parent->add_subcommand(name, what);
  app->fallthrough();
  app->footer("Example:\n  " + example + "\n\nTakes --store DIR and -o FORMAT too: see `etlctl --help`.");
  return app;
}

CLI::App* CommandLine::AddGroup(const std::string& name, const std::string& what,
                                const std::string& example) {
  CLI::App* app = Add(&root, name, what, example);
  app->require_subcommand(1);
  return app;
}

const Command* CommandLine::Chosen() const {
  for (const Command& command : commands) {
    if (command.app->parsed()) return &command;
  }
  return nullptr;
}

int RunInvocation(const Invocation& invocation, Output& out) {
  std::vector<const char*> argv{"etlctl"};
  for (const std::string& argument : invocation.arguments) argv.push_back(argument.c_str());
  const int argc = static_cast<int>(argv.size());
  out.set_format(FormatAskedFor(argc, argv.data()));
  try {
    return static_cast<int>(ParseAndRun(argc, argv.data(), invocation, out));
  } catch (const std::exception& error) {
    // Out of memory, or a fault of ours; nothing in the house throws on purpose.
    Report(out, Error{Errc::kUnavailable, "UNEXPECTED", "etlctl", error.what(),
                      "run it again; report it if it stays"});
    return static_cast<int>(Exit::kFailed);
  }
}

int Run(int argc, const char* const* argv, std::FILE* data, std::FILE* talk) {
  Output out(data, talk, Format::kTable);
  return RunInvocation({{argv + std::min(argc, 1), argv + argc}, nullptr, {}}, out);
}

}  // namespace etl::ctl
