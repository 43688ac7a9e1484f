#include <memory>

#include "etlctl/cli.h"

namespace etl::ctl {
namespace {

constexpr const char* kIdHelp = "A digest, 4 or more of its first hex digits, or \"source:external id\"";
constexpr const char* kAsOfHelp = "The state after this sequence (EPOCH:SEQ or SEQ) or at this instant";

void AddGet(CommandLine& line) {
  CLI::App* get =
      line.AddGroup("get", "Show one run, entry or object", "etlctl get run sol-execbench:submission/37749");
  const auto add = [&](const char* name, const char* what, const char* example, auto run, bool page) {
    auto options = std::make_shared<GetOptions>();
    CLI::App* app = line.Add(get, name, what, example);
    app->add_option("ID", options->id, kIdHelp)->required()->check(Text());
    line.commands.push_back({app, OnStore([options, run](const Session& session, const Store& store) {
                               return run(session, store, *options);
                             }),
                             Needs::kRead, true, page});
  };
  add(
      "run", "One run: measurement, rank, group, versions, provenance; -o page: the record page",
      "etlctl get run sol-execbench:submission/37749 -o page",
      [](const Session& s, const Store& store, const GetOptions& o) {
        return GetRun(s.out, store, s.clock, o);
      },
      true);
  add(
      "entry", "What the source says about one thing, in all its versions",
      "etlctl get entry sol-execbench:submission/37749",
      [](const Session& s, const Store& store, const GetOptions& o) { return GetEntry(s.out, store, o); },
      false);
  add(
      "object", "One manifest", "etlctl get object db5f35ba -o manifest",
      [](const Session& s, const Store& store, const GetOptions& o) { return GetObject(s.out, store, o); },
      false);
}

void AddRanks(CommandLine& line) {
  auto options = std::make_shared<RanksOptions>();
  CLI::App* app =
      line.Add(&line.root, "ranks", "The standing of a comparison group, or of every group of a kernel",
               "etlctl ranks --kernel 028_gqa_rotary_attention_core_backward --top 10");
  auto* group =
      app->add_option("GROUP", options->group, "A comparison key, or 4 or more of its first hex digits")
          ->check(Text());
  auto* kernel = app->add_option("--kernel", options->kernel, "Every group of this kernel")
                     ->type_name("NAME")
                     ->check(Text());
  group->excludes(kernel);
  app->add_option("--source", options->source, "The kernel's source, where several have one of this name")
      ->check(Text());
  app->add_option("--as-of", options->as_of, kAsOfHelp)->type_name("WHEN")->check(Text());
  app->add_option("--top", options->top, "At most this many places per group (default all)")
      ->type_name("N")
      ->check(Count());
  app->add_flag("--all", options->all_versions, "Also the groups of the kernel's earlier versions");
  line.commands.push_back({app, [options](const Session& session) -> Result<Exit> {
                             if (options->group.empty() && options->kernel.empty()) {
                               return Fail(UsageError("ranks", "neither a group nor a kernel is named",
                                                      "give GROUP or --kernel NAME"));
                             }
                             ETL_TRY(const std::shared_ptr<Store> store, session.Open(Store::Mode::kRead));
                             return Ranks(session.out, *store, *options);
                           }});
}

void AddRecords(CommandLine& line) {
  auto options = std::make_shared<RanksOptions>();
  CLI::App* app = line.Add(&line.root, "records", "Who took the lead when, newest first",
                           "etlctl records --kernel 028_gqa_rotary_attention_core_backward");
  auto* group = app->add_option("GROUP", options->group, "Of this group only")->check(Text());
  auto* kernel =
      app->add_option("--kernel", options->kernel, "Of this kernel only")->type_name("NAME")->check(Text());
  group->excludes(kernel);
  app->add_option("--source", options->source, "The kernel's source, where several have one of this name")
      ->check(Text());
  app->add_option("--as-of", options->as_of, kAsOfHelp)->type_name("WHEN")->check(Text());
  app->add_option("--top", options->top, "At most this many steps (default all)")
      ->type_name("N")
      ->check(Count());
  app->add_flag("--all", options->all_versions, "Also the groups of the kernel's earlier versions");
  line.commands.push_back({app, OnStore([options](const Session& session, const Store& store) {
                             return Records(session.out, store, *options);
                           })});
}

void AddHistory(CommandLine& line) {
  auto options = std::make_shared<HistoryOptions>();
  CLI::App* app = line.Add(&line.root, "history", "Every state of an entry: what changed, when, and why",
                           "etlctl history sol-execbench:submission/37749");
  app->add_option("ENTRY", options->id, kIdHelp)->required()->check(Text());
  line.commands.push_back({app, OnStore([options](const Session& session, const Store& store) {
                             return History(session.out, store, *options);
                           })});
}

void AddCompare(CommandLine& line) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* app = line.Add(&line.root, "compare", "2 to 8 runs side by side, differences marked",
                           "etlctl compare sol-execbench:submission/37749 sol-execbench:submission/14917");
  app->add_option("RUN", options->ids, kIdHelp)->required()->expected(2, 8)->check(Text());
  line.commands.push_back({app, OnStore([options](const Session& session, const Store& store) {
                             return Compare(session.out, store, *options);
                           })});
}

}  // namespace

void AddReadCommands(CommandLine& line) {
  AddGet(line);
  AddRanks(line);
  AddRecords(line);
  AddHistory(line);
  AddCompare(line);
}

}  // namespace etl::ctl
