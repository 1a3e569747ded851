// cache stats|prune|clear: the store of results that all build folders share.
#include "cache/content_store.h"
#include "command.h"

namespace dsbuild {
namespace {

enum class Work { stats, prune, clear };

Result<Work> read_work(const std::vector<std::string>& words) {
  if (words.empty() || words == std::vector<std::string>{"stats"}) return Work::stats;
  if (words == std::vector<std::string>{"prune"}) return Work::prune;
  if (words == std::vector<std::string>{"clear"}) return Work::clear;
  return fail(Exit::usage, "bad_option", "cache",
              "not understood: " + shell_join(words) +
                  (words.size() == 1 ? did_you_mean(words[0], {"stats", "prune", "clear"}) : ""),
              "dsbuild cache stats, dsbuild cache prune, or dsbuild cache clear");
}

Result<void> print_stats(const ContentStore& store, const Settings& settings) {
  DSBUILD_TRY(stats, store.stats());
  const StoreView view{settings.store.value.string(), settings.store_size.value, stats};
  return print_result(settings.json.value ? render_store_stats_json(view) : render_store_stats(view));
}

Result<void> print_removal(const StoreRemoval& removal, const Settings& settings) {
  const std::string folder = settings.store.value.string();
  return print_result(settings.json.value ? render_store_removal_json(removal, folder)
                                          : render_store_removal(removal, folder));
}

Result<int> run_cache(const CommandContext& context) {
  DSBUILD_TRY(work, read_work(context.line.operands));
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  const ContentStore store(context.system.files, settings.store.value);
  if (work == Work::stats) {
    DSBUILD_CHECK(print_stats(store, settings));
    return 0;
  }
  DSBUILD_TRY(removal, work == Work::prune ? store.prune(settings.store_size.value) : store.clear());
  DSBUILD_CHECK(print_removal(removal, settings));
  return 0;
}

}  // namespace

CommandRow cache_command() {
  return {.name = "cache",
          .help = "Show, prune or clear the store that all build folders share",
          .run = run_cache,
          .examples = {{"dsbuild cache stats", "where it is, how large it is, what builds found in it"},
                       {"dsbuild cache prune --cache-size 5G",
                        "remove what was not used for longest, down to that size"},
                       {"dsbuild cache clear", "remove all of it; builds make it anew"}},
          .operands = Operands{"words", "stats|prune|clear",
                               "Show it [stats], bring it down to --cache-size, or empty it"}};
}

}  // namespace dsbuild
