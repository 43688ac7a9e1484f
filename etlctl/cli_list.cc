#include <memory>

#include "etlctl/cli.h"
#include "etlctl/escape.h"
#include "model/decision.h"
#include "model/text.h"

namespace etl::ctl {
namespace {

void AddChanges(CommandLine& line) {
  auto options = std::make_shared<ChangesOptions>();
  CLI::App* app =
      line.Add(&line.root, "changes", "The change log, oldest first", "etlctl changes --limit 100 -o jsonl");
  app->add_option("--since", options->since, "Only what came after this")
      ->type_name("EPOCH:SEQ")
      ->check(Text());
  app->add_option("--limit", options->limit, "At most this many (default all)")
      ->type_name("N")
      ->check(Count());
  line.commands.push_back({app, OnStore([options](const Session& session, const Store& store) {
                             return Changes(session.out, store, *options);
                           })});
}

using ListCommand = Result<Exit> (*)(Output&, const Store&, const ListOptions&);

CLI::App* AddList(CommandLine& line, CLI::App* parent, const char* name, const char* what,
                  const char* example, ListCommand command, bool takes_id, bool takes_all = false) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* app = line.Add(parent, name, what, example);
  if (takes_id)
    app->add_option("ID", options->id, "4 or more of the first hex digits of its id")
        ->required()
        ->check(Text());
  if (takes_all) app->add_flag("--all", options->all, "What was decided too");
  app->add_option("--source", options->source, "Of this source only")->check(Text());
  line.commands.push_back({app, OnStore([options, command](const Session& session, const Store& store) {
                             return command(session.out, store, *options);
                           })});
  return app;
}

CLI::Validator Reason() {
  return {[](const std::string& text) -> std::string {
            if (text.find_first_not_of(" \t\r\n") == std::string::npos) return "needs a reason";
            if (!IsUtf8(text)) return "needs a reason in UTF-8";
            if (CodePoints(text) > kReasonMax)
              return "takes at most " + std::to_string(kReasonMax) + " characters";
            return {};
          },
          "", "reason"};
}

struct DecisionCommand {
  const char *name, *what, *example, *id;
  bool takes_reason = false;
};

void AddDecision(CommandLine& line, CLI::App* group, const DecisionCommand& command,
                 std::string_view decision, Result<Exit> (*run)(const Session&, const DecideOptions&)) {
  auto options = std::make_shared<DecideOptions>();
  options->what = decision;
  CLI::App* app = line.Add(group, command.name, command.what, command.example);
  app->add_option("ID", options->id, command.id)->required()->check(Text());
  if (command.takes_reason)
    app->add_option("--reason", options->reason, "Why; kept with the decision")
        ->required()
        ->type_name("TEXT")
        ->check(Reason());
  line.commands.push_back(
      {app, [options, run](const Session& session) { return run(session, *options); }, Needs::kChange});
}

void AddQuarantine(CommandLine& line) {
  CLI::App* group =
      line.AddGroup("quarantine", "Items that were refused, with their bytes", "etlctl quarantine list");
  AddList(line, group, "list", "What was refused, and why", "etlctl quarantine list", &QuarantineList, false,
          true);
  AddList(line, group, "show", "The exact bytes of one item, on standard output",
          "etlctl quarantine show 4f0c12ab > item.json", &QuarantineShow, true);
  const char* id = "4 or more of the first hex digits of its id";
  AddDecision(line, group,
              {"drop", "Puts an item away for good; its bytes are kept",
               "etlctl quarantine drop 4f0c12ab --reason 'a test row of upstream'", id, true},
              "", &QuarantineDrop);
  AddDecision(line, group,
              {"retry", "Reads its response again, and takes it in if nothing is wrong now",
               "etlctl quarantine retry 4f0c12ab", id, false},
              "", &QuarantineRetry);
}

void AddReview(CommandLine& line) {
  CLI::App* group = line.AddGroup("review", "Rows that wait for a person's decision", "etlctl review list");
  auto options = std::make_shared<DecideOptions>();
  CLI::App* app =
      line.Add(group, "list", "Rows below the speed-of-light bound that nothing else speaks against",
               "etlctl review list --all");
  app->add_flag("--all", options->all, "Rows that were decided too");
  app->add_option("--source", options->source, "Of this source only")->check(Text());
  line.commands.push_back({app, OnStore([options](const Session& session, const Store& store) {
                             return ReviewList(session.out, store, *options);
                           })});
  const char* id = "The row: source:external-id, or its external id alone";
  AddDecision(line, group,
              {"admit", "Lets a row pass: it is ranked",
               "etlctl review admit submission/62001 --reason 'the bound is too high'", id, true},
              kAdmitted, &ReviewDecide);
  AddDecision(line, group,
              {"reject", "Keeps a row out, or takes it out again",
               "etlctl review reject submission/62001 --reason 'answers from a cache'", id, true},
              kRejected, &ReviewDecide);
}

}  // namespace

void AddListCommands(CommandLine& line) {
  AddChanges(line);
  AddQuarantine(line);
  AddReview(line);
  AddList(line, &line.root, "drift", "What the source says that its adapter does not know", "etlctl drift",
          &DriftList, false);
  AddList(line, &line.root, "gaps", "Rows that are known to be missing", "etlctl gaps", &GapList, false);
  auto options = std::make_shared<StatusOptions>();
  CLI::App* status = line.Add(&line.root, "status", "The store at a glance", "etlctl status -o json");
  status->add_flag("--check", options->check,
                   "For a monitor: say what needs somebody, and exit with 3 where anything does");
  line.commands.push_back({status, OnStore([options](const Session& session, const Store& store) {
                             return ShowStatus(session, store, *options);
                           })});
}

}  // namespace etl::ctl
