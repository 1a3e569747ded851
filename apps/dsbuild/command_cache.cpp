// cache …: the local cache that all build folders share, and what comes into it or goes from it without a
// build.
#include <array>

#include "base/args.h"
#include "cache/tiered_cache.h"
#include "driver/cache_transfer.h"
#include "project_pack.h"
#include "remote/open_remote.h"
#include "remote/serve_steps.h"
#include "show_events.h"

namespace dsbuild {
namespace {

using Work = Result<int> (*)(const CommandContext& context);

Result<int> show_stats(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  DSBUILD_TRY(stats, TieredCache(context.system.files, settings.local_cache.value).stats());
  const CacheView view{settings.local_cache.value.string(), settings.local_cache_size.value, stats};
  const Style style = style_for(settings, context, false);
  DSBUILD_CHECK(print_result(
      settings.json.value ? render_cache_stats_json(view) : render_cache_stats(view, style), style));
  return 0;
}

Result<int> print_removal(const CacheRemoval& removal, const Settings& settings) {
  const std::string folder = settings.local_cache.value.string();
  DSBUILD_CHECK(print_done(settings, render_cache_removal_json(removal, folder),
                           render_cache_removal(removal, folder)));
  return 0;
}

Result<int> prune(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  DSBUILD_TRY(
      removal,
      TieredCache(context.system.files, settings.local_cache.value).prune(settings.local_cache_size.value));
  return print_removal(removal, settings);
}

Result<int> clear(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  DSBUILD_TRY(removal, TieredCache(context.system.files, request.settings.local_cache.value).clear());
  return print_removal(removal, request.settings);
}

// ---- without a build

// The live line of a run, or all edges with -v: a log would say "compile" of what is only looked up. The list
// at the end tells of the refused actions.
class TransferEvents : public ShownEvents {
 public:
  TransferEvents(const Settings& settings, const CommandContext& context)
      : ShownEvents(settings, context),
        shows_edges_(!settings.json.value &&
                     (settings.verbosity > 0 || context.terminal.stderr_is_terminal)) {}
  void on_edge(const EdgeEvent& event) override {
    if (shows_edges_ && event.kind != EdgeEventKind::failed) ShownEvents::on_edge(event);
  }
  void on_diagnostic(const ToolDiagnostic&) override {}

 private:
  const bool shows_edges_;
};

Result<Request> request_of_transfer(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  request.settings = settings_of_transfer(std::move(request.settings));
  if (request.settings.local_cache_size.value > 0) return request;
  return fail(Exit::usage, "bad_option", "--cache-size",
              "the local cache has no room, and this fills or reads it", "Leave --cache-size 0 out.");
}

Result<int> end_transfer(const std::string& verb, const CacheTransfer& transfer, const Settings& settings,
                         const CommandContext& context) {
  const TransferView view{verb, transfer, warnings_of(transfer.uses)};
  print_warnings(view.warnings, settings, context);
  if (transfer.is_whole())
    DSBUILD_CHECK(print_done(settings, render_transfer_json(view), render_transfer(view)));
  else
    DSBUILD_CHECK(print_result(settings.json.value ? render_transfer_json(view) : render_transfer(view)));
  return static_cast<int>(transfer.is_whole() ? Exit::done : Exit::failed);
}

Result<int> share(const CommandContext& given, const std::string& verb, RemoteUse use) {
  DSBUILD_TRY(line, line_for_project(given));
  const CommandContext context{line, given.system, given.terminal, given.data_dir};
  DSBUILD_TRY(request, request_of_transfer(context));
  const Settings settings = request.settings;
  TransferEvents events(settings, context);
  Session session(settings, context.system, events);
  DSBUILD_TRY(shared, open_remote(settings, session.system, use));
  if (!shared)
    return fail(Exit::usage, "bad_option", "cache " + verb, "no shared cache is named",
                "Name one: --remote URL, or DSBUILD_REMOTE.");
  session.share_with(std::move(shared));
  DSBUILD_TRY(transfer, transfer_plan(std::move(request), session));
  return end_transfer(verb, transfer, settings, context);
}

Result<int> push(const CommandContext& context) {
  return share(context, "push", RemoteUse::pushing);
}

Result<int> pull(const CommandContext& context) {
  return share(context, "pull", RemoteUse::pulling);
}

// The file, which is no operand of the line any more.
Result<Path> take_file(CommandLine& line, const std::string& verb) {
  if (line.operands.empty())
    return fail(Exit::usage, "bad_option", "cache " + verb, "it takes the name of a file",
                "Usage: dsbuild cache " + verb + " FILE");
  const Path file = line.operands.front();
  line.operands.erase(line.operands.begin());
  return file;
}

Result<int> export_to_file(const CommandContext& given) {
  CommandLine line = given.line;
  DSBUILD_TRY(file, take_file(line, "export"));
  DSBUILD_TRY(of_project, line_for_project({line, given.system, given.terminal, given.data_dir}));
  const CommandContext context{of_project, given.system, given.terminal, given.data_dir};
  DSBUILD_TRY(request, request_of_transfer(context));
  const Settings settings = request.settings;
  TransferEvents events(settings, context);
  Session session(settings, context.system, events);
  DSBUILD_TRY(archive, make_archive(context.system.files, file));
  DSBUILD_TRY(mirror, mirror_of(archive, settings, session.system, RemoteUse::pushing));
  session.share_with(mirror);
  DSBUILD_TRY(transfer, settings.selection.ops_given ? transfer_plan(std::move(request), session)
                                                     : push_all(settings, session));
  if (transfer.uses.read_only.empty())
    DSBUILD_CHECK(archive->finish(settings.remote_scope.value, mirror->pushed()));
  return end_transfer("export", transfer, settings, context);
}

Result<int> import_file(const CommandContext& context) {
  CommandLine line = context.line;
  DSBUILD_TRY(file, take_file(line, "import"));
  if (!line.operands.empty())
    return fail(Exit::usage, "bad_option", "cache import", "it takes one file, and all that is in it",
                own_command({"cache", "import", file.string()}));
  DSBUILD_TRY(request, request_of_transfer(context));
  const Settings& settings = request.settings;
  TransferEvents events(settings, context);
  Session session(settings, context.system, events);
  DSBUILD_CHECK(TieredCache(context.system.files, settings.local_cache.value).check());
  DSBUILD_TRY(archive, open_archive(context.system.files, file));
  if (archive.scope != settings.remote_scope.value)
    return fail(Exit::usage, "other_scope", file.string(),
                "it is of the scope '" + printable(archive.scope) + "', and --remote-scope is '" +
                    settings.remote_scope.value + "'",
                "Give the scope that its entries were made for.");
  DSBUILD_TRY(mirror, mirror_of(archive.store, settings, session.system, RemoteUse::pulling));
  session.share_with(mirror);
  DSBUILD_TRY(transfer, pull_all(archive.items, session));
  return end_transfer("import", transfer, settings, context);
}

struct WorkRow {
  const char* word;
  Work run;
  bool takes_more;
};
constexpr std::array k_works = {WorkRow{"stats", show_stats, false}, WorkRow{"prune", prune, false},
                                WorkRow{"clear", clear, false},      WorkRow{"push", push, true},
                                WorkRow{"pull", pull, true},         WorkRow{"export", export_to_file, true},
                                WorkRow{"import", import_file, true}};

Error not_understood(const Args& words) {
  Args known;
  for (const WorkRow& row : k_works)
    known.emplace_back(row.word);
  return make_error(
      Exit::usage, "bad_option", "cache",
      "not understood: " + shell_join(words) + (words.size() == 1 ? did_you_mean(words[0], known) : ""),
      "Usage: dsbuild cache " + join(known, "|"));
}

Result<int> run_cache(const CommandContext& context) {
  Args words = context.line.operands;
  if (words.empty()) words = {"stats"};
  for (const WorkRow& row : k_works) {
    if (words.front() != row.word || (words.size() > 1 && !row.takes_more)) continue;
    CommandLine line = context.line;
    line.operands.assign(words.begin() + 1, words.end());
    return row.run({line, context.system, context.terminal, context.data_dir});
  }
  return tl::unexpected<Error>(not_understood(words));
}

}  // namespace

namespace {

std::vector<OptionUses> uses_of_cache() {
  const std::vector<Topic> place = {Topic::cache, Topic::trust},
                           room = place + std::vector{Topic::cache_size},
                           build = topics_of_plan() - std::vector{Topic::kept_ops} +
                                   std::vector{Topic::cores, Topic::lock, Topic::scope},
                           shared = build + std::vector{Topic::shared_cache};
  return {
      {"", room},       {"stats", room},  {"prune", room},   {"clear", place},
      {"push", shared}, {"pull", shared}, {"export", build}, {"import", room + std::vector{Topic::scope}}};
}

}  // namespace

CommandRow cache_command() {
  return {.name = "cache",
          .help = "Show, prune, clear, fill, export or import the local cache",
          .run = run_cache,
          .examples = {{"dsbuild cache stats", "its folder, its size, its hits and misses"},
                       {"dsbuild cache prune --cache-size 5G",
                        "remove the least recently used results down to that size"},
                       {"dsbuild cache clear", "remove all results; builds make them again"},
                       {"dsbuild cache pull --ops all --arch 9.0 --remote URL",
                        "fill it for this build; starts no compiler"},
                       {"dsbuild cache push --ops all --arch 9.0 --remote URL",
                        "upload what it has for this build"},
                       {"dsbuild cache export cache.tar", "all of it in one file; with --ops, for one build"},
                       {"dsbuild cache import cache.tar", "check that file, and add its results"}},
          .uses = uses_of_cache(),
          .operands = Operands{
              "words", "stats|prune|clear|push|pull|export|import|FILE|DIR",
              "stats [default], prune (to --cache-size), clear, push, pull, export FILE, import FILE. "
              "push, pull and export also take a project's DIR, as build does"}};
}

}  // namespace dsbuild
