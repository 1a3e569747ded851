#include "named_operands.h"

#include <algorithm>

#include "base/args.h"
#include "registry/registry.h"

namespace dsbuild {
namespace {

bool is_path(const std::string& word) {
  return word.find('/') != word.npos || word.starts_with(".");
}

bool is_file(const Path& path, const FileReader& files) {
  return files.kind(path) == FileKind::file;
}

bool is_project(const std::string& word, const FileReader& files) {
  return is_file(word, files) || is_file(Path(word) / "setup.py", files) ||
         is_file(Path(word) / "build.toml", files);
}

// What a folder or file is; all empty: there is none.
NamedOperands look_at(const std::string& word, const FileReader& files) {
  if (files.kind(word) == FileKind::absent) return {};
  if (is_file(Path(word) / "pack.yaml", files)) return {.pack = word, .project = {}, .ops = {}};
  NamedOperands named;
  if (const auto ops = ops_in_folder(word, files)) {
    named.pack = ops->pack;
    if (ops->ops != "all") named.ops = ops->ops;
  }
  if (named.pack.empty() || is_project(word, files)) named.project = word;
  return named;
}

tl::unexpected<Error> two_meanings(const std::string& word, const std::string& what, const std::string& fix) {
  return fail(Exit::usage, "bad_option", "command line", "'" + printable(word) + "' is " + what, fix);
}

tl::unexpected<Error> say_both(const std::string& word, const std::string& other) {
  return fail(Exit::usage, "bad_option", "command line",
              "'" + printable(word) + "' and " + other + " both say what is built", "Keep one of them.");
}

// Resolves the operands of one line.
class OperandReader {
 public:
  OperandReader(const CommandContext& context, const Settings& settings)
      : line_(context.line), settings_(settings), system_(context.system) {}

  Result<NamedOperands> read() const {
    if (line_.has("--extensions"))
      return NamedOperands{.pack = {}, .project = line_.operands.front(), .ops = {}};
    Args words = line_.operands;
    NamedOperands named;
    if (line_.arguments.find("--pack")) {
      DSBUILD_CHECK(check_is_no_folder(words.front()));
    } else {
      DSBUILD_TRY(first, read_first(words.front()));
      named = std::move(first);
    }
    if (!named.pack.empty() || !named.project.empty()) words.erase(words.begin());
    const bool has_ops = line_.arguments.find("--ops").has_value();
    if (has_ops && !named.ops.empty()) return say_both(line_.operands.front(), "--ops");
    if (words.empty()) return named;
    if (named.project.empty()) DSBUILD_CHECK(check_ops(named.pack, words));
    if (!named.ops.empty()) return say_both(words.front(), "'" + printable(line_.operands.front()) + "'");
    if (has_ops) return as_one_list(words.front());
    named.ops = join(words, ",");
    return named;
  }

 private:
  // Beside --pack, words are ops.
  Result<void> check_is_no_folder(const std::string& word) const {
    const NamedOperands there = look_at(word, system_.files);
    if (there.pack.empty() && !is_project(word, system_.files)) return {};
    const auto registry = load(settings_.pack.value, {word});
    if (registry && has(*registry, word)) return {};
    return say_both(word, "--pack");
  }

  // A pack or a project; neither: the word is an op's.
  Result<NamedOperands> read_first(const std::string& word) const {
    const FileReader& files = system_.files;
    const NamedOperands there = look_at(word, files);
    if (!there.pack.empty() && !there.project.empty())
      return two_meanings(word, "a folder of ops, and it has a build of its own",
                          "Its ops: " +
                              own_command({line_.command, "--pack", there.pack, "--ops",
                                           there.ops.empty() ? "all" : there.ops}) +
                              "\nWhat its own build makes, as a pack: " +
                              own_command({"new", "--from", word, "--pack", name_of_folder(word) + "-pack"}));
    if (is_path(word)) return there;
    const Args packs = known_packs(files, settings_.data_dir);
    const bool is_here = !there.pack.empty() || is_project(word, files);
    if (std::ranges::find(packs, word) != packs.end()) {
      if (is_here) return is_also(word, "a pack of dsbuild itself", {"--pack", word, "--ops", "all"});
      return NamedOperands{.pack = word, .project = {}, .ops = {}};
    }
    const auto registry = load(settings_.pack.value, {word});
    const bool is_op = registry && has(*registry, word);
    if (is_op && is_here) return is_also(word, "an op of pack '" + registry->pack + "'", {"--ops", word});
    return is_op ? NamedOperands{} : there;
  }

  tl::unexpected<Error> is_also(const std::string& word, const std::string& what, const Args& other) const {
    return two_meanings(word, "a folder here and " + what,
                        "The folder: " + own_command({line_.command, "./" + word}) +
                            "\nThe other: " + own_command({line_.command}, other));
  }

  Result<Registry> load(const std::string& pack, const Args& words) const {
    Settings settings = settings_;
    settings.pack.value = pack;
    settings.selection.names = words;  // those of other packs are found, too
    return load_registry(settings, system_);
  }

  static bool has(const Registry& registry, const std::string& word) {
    return word == "all" || registry.find(word) || registry.find_absent(word);
  }

  // Every word is an op, or nobody knows what one of them is, or what was meant is said of all together.
  Result<void> check_ops(const std::string& pack, const Args& words) const {
    DSBUILD_TRY(registry, load(pack.empty() ? settings_.pack.value : pack, words));
    Args unknown = words;
    std::erase_if(unknown, [&](const std::string& word) { return has(registry, word); });
    const Args ops = registry.names();
    std::optional<Error> first;
    for (const std::string& word : unknown) {
      const CommandLine line = with_others_mended(unknown, word, ops);
      if (word == line_.operands.front())  // a command's name, and the rest are its words
        if (const auto command = misplaced_operand(line, word, {})) return tl::unexpected<Error>(*command);
      const auto meant = misplaced_operand(line, word, ops);
      if (!meant)
        return fail(Exit::usage, "bad_option", "command line",
                    "unknown word '" + printable(word) + "': " + (is_path(word) ? "" : "no command, ") +
                        "no folder and no op of pack '" + registry.pack + "'",
                    unknown_op(word, "command line", registry).fix);
      if (!first) first = meant;
    }
    if (first) return tl::unexpected<Error>(*first);
    return {};
  }

  CommandLine with_others_mended(const Args& unknown, const std::string& but, const Args& ops) const {
    CommandLine line = line_;
    for (std::string& word : line.words)
      if (word != but && std::ranges::find(unknown, word) != unknown.end())
        if (const std::string near = nearest(word, ops); !near.empty()) word = near;
    return line;
  }

  // Ops by --ops and as words: most likely it is one list.
  tl::unexpected<Error> as_one_list(const std::string& word) const {
    if (auto meant = misplaced_operand(line_, word, {})) return tl::unexpected<Error>(std::move(*meant));
    return say_both(word, "--ops");
  }

  const CommandLine& line_;
  const Settings& settings_;
  const System& system_;
};

}  // namespace

Result<NamedOperands> named_operands(const CommandContext& context) {
  if (context.line.operands.empty()) return NamedOperands{};
  const auto request = load_request(context);
  if (request) return OperandReader(context, request->settings).read();
  // A command that is misspelt is wrong whatever a config file says.
  const auto meant = misplaced_operand(context.line, context.line.operands.front(), {});
  return tl::unexpected<Error>(meant ? *meant : request.error());
}

}  // namespace dsbuild
