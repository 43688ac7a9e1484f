#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "etlctl/cli.h"
#include "etlctl/complete.h"

// `etlctl complete -- WORD...` is what the completions of the shells ask. It walks the same tree of commands
// that the command line is parsed with, so that no command or option can be missing from them.
namespace etl::ctl {
namespace {

constexpr std::string_view kFiles = "@files", kFolders = "@folders";  // the shell knows better

// Where in the tree the words before the last one lead.
struct Place {
  const CLI::App* app = nullptr;
  const CLI::Option* waiting = nullptr;  // an option whose value comes next
  int positionals = 0;                   // taken so far
  bool options_ended = false;            // by "--"
  std::string store_dir;                 // of --store, where it was typed
};

// Options are understood after the command too, so all that stand above it count.
const CLI::Option* FindOption(const CLI::App* app, const std::string& name) {
  for (; app != nullptr; app = app->get_parent()) {
    if (const CLI::Option* option = app->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

bool IsFlag(const CLI::Option& option) {
  return option.get_items_expected_max() == 0;
}

const CLI::App* FindCommand(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

void TakeOption(const std::string& word, Place& place) {
  const std::size_t equals = word.find('=');
  const CLI::Option* option = FindOption(place.app, word.substr(0, equals));
  if (option == nullptr || IsFlag(*option)) return;
  if (equals == std::string::npos) {
    place.waiting = option;
  } else if (option->check_lname("store")) {
    place.store_dir = word.substr(equals + 1);
  }
}

void Take(const std::string& word, Place& place) {
  if (place.waiting != nullptr) {
    if (word == "=") return;  // bash makes a word of it
    if (place.waiting->check_lname("store")) place.store_dir = word;
    place.waiting = nullptr;
  } else if (place.options_ended || !word.starts_with('-') || word == "-") {
    const CLI::App* command = place.positionals == 0 ? FindCommand(*place.app, word) : nullptr;
    if (command != nullptr) {
      place.app = command;
    } else {
      ++place.positionals;
    }
  } else if (word == "--") {
    place.options_ended = true;
  } else {
    TakeOption(word, place);
  }
}

const CLI::Option* NextPositional(const Place& place) {
  int before = 0;
  for (const CLI::Option* option : place.app->get_options()) {
    if (!option->get_positional()) continue;
    before += option->get_items_expected_max();
    if (place.positionals < before) return option;
  }
  return nullptr;
}

// What completes one command line.
class Completion {
 public:
  Completion(const CommandLine& line, const Session& session, std::string last)
      : line_(line), session_(session), last_(std::move(last)) {}

  std::vector<Candidate> Find(const Place& place) {
    const std::size_t equals = last_.find('=');
    if (place.waiting != nullptr) {
      AddValues(*place.waiting, place, last_ == "=" ? "" : last_, "");
    } else if (!place.options_ended && last_.starts_with("--") && equals != std::string::npos) {
      const CLI::Option* option = FindOption(place.app, last_.substr(0, equals));
      if (option != nullptr && !IsFlag(*option))
        AddValues(*option, place, last_.substr(equals + 1), last_.substr(0, equals + 1));
    } else if (!place.options_ended && last_.starts_with('-')) {
      AddOptions(place.app);
    } else {
      if (place.positionals == 0) AddCommands(*place.app);
      if (const CLI::Option* positional = NextPositional(place)) AddValues(*positional, place, last_, "");
    }
    return std::move(list_);
  }

 private:
  void Add(std::string text, std::string_view about) {
    // A shell shows one line; the rest is in --help.
    list_.push_back({std::move(text), std::string(about.substr(0, about.find('\n')))});
  }

  void AddCommands(const CLI::App& app) {
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
      if (!command->get_group().empty() && command->get_name().starts_with(last_))
        Add(command->get_name(), command->get_description());
    }
  }

  void AddOptions(const CLI::App* app) {
    for (; app != nullptr; app = app->get_parent()) {
      for (const CLI::Option* option : app->get_options()) {
        // --version alone is for the root alone.
        if (option->get_group().empty() || option->check_lname("version")) continue;
        for (const std::string& name : option->get_lnames()) {
          const std::string text = "--" + name;
          const bool there =
              std::any_of(list_.begin(), list_.end(), [&](const Candidate& one) { return one.text == text; });
          if (!there && text.starts_with(last_)) Add(text, option->get_description());
        }
      }
    }
  }

  void AddNames(const Place& place, Names names, const std::string& prefix, const std::string& before) {
    Session session = session_;
    if (!place.store_dir.empty()) session.store_dir = place.store_dir;
    for (Candidate& name : NamesLike(session, names, prefix)) Add(before + name.text, name.about);
  }

  void AddFormats(const CLI::App* app, const std::string& prefix, const std::string& before) {
    bool manifest = false, page = false;
    for (const Command& command : line_.commands) {
      if (command.app != app) continue;
      manifest = command.manifest;
      page = command.page;
    }
    for (const std::string_view format : {"table", "json", "jsonl", "manifest", "page"}) {
      const bool has = format == "manifest" ? manifest : format == "page" ? page : true;
      if (has && format.starts_with(prefix)) Add(before + std::string(format), "");
    }
  }

  void AddValues(const CLI::Option& option, const Place& place, const std::string& prefix,
                 const std::string& before) {
    const std::string type = option.get_type_name(), name = option.get_positional() ? option.get_name() : "";
    if (option.check_lname("source") || name == "SOURCE")
      return AddNames(place, Names::kSources, prefix, before);
    if (option.check_lname("kernel")) return AddNames(place, Names::kKernels, prefix, before);
    if (option.check_lname("output")) return AddFormats(place.app, prefix, before);
    if (name == "GROUP") return AddNames(place, Names::kGroups, prefix, before);
    if (name == "ID" || name == "ENTRY" || name == "RUN")
      return AddNames(place, Names::kObjects, prefix, before);
    if (name == "FILE" || type.starts_with("FILE")) return Add(std::string(kFiles), "");
    if (name == "TARGET" || type.starts_with("DIR")) return Add(std::string(kFolders), "");
  }

  const CommandLine& line_;
  const Session& session_;
  const std::string last_;
  std::vector<Candidate> list_;
};

}  // namespace

void AddCompleteCommand(CommandLine& line) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* app = line.Add(&line.root, "complete", "What may follow on a command line; for shells",
                           "etlctl complete -- get ''");
  app->group("");  // of no use to people
  app->add_option("WORD", *words, "The words after etlctl, the last one as far as it was typed");
  line.commands.push_back({app, [&line, words](const Session& session) -> Result<Exit> {
                             if (words->empty()) return Exit::kDone;
                             Place place;
                             place.app = &line.root;
                             for (std::size_t i = 0; i + 1 < words->size(); ++i) Take((*words)[i], place);
                             Completion completion(line, session, words->back());
                             for (const Candidate& one : completion.Find(place))
                               session.out.DataLine(one.about.empty() ? one.text
                                                                      : one.text + "\t" + one.about);
                             return Exit::kDone;
                           }});
}

}  // namespace etl::ctl
