#include "settings/workload.h"

#include <algorithm>

#include "base/json.h"
#include "base/yaml.h"

namespace dsbuild {
namespace {

// ---- writing

// A text of JSON is one of YAML.
std::string quoted(const std::string& text) {
  return Json(text).dump();
}

bool is_plain(const std::string& key) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !key.empty() && std::all_of(key.begin(), key.end(), is_word);
}

std::string key_text(const std::string& key) {
  return (is_plain(key) ? key : quoted(key)) + ":";
}

std::string archs_text(const ArchSet& archs) {
  std::vector<std::string> words;
  for (const std::string& word : arch_strings(archs))
    words.push_back(quoted(word));
  return "[" + join(words, ", ") + "]";
}

// ---- reading

tl::unexpected<Error> bad_workload(const std::string& file, const YamlNode& at, std::string what) {
  return fail(Exit::usage, "bad_workload", yaml_where(file, at), std::move(what),
              "A workload is what the command record writes (docs/reference/cli.md).");
}

Result<ArchSet> read_archs(const std::string& file, const YamlNode& list) {
  if (!list.is_sequence()) return bad_workload(file, list, "an op has a list of archs, as in [\"9.0+PTX\"]");
  ArchSet archs;
  for (const YamlNode& item : list.items) {
    if (!item.is_scalar()) return bad_workload(file, item, "an arch is a word, as in \"9.0+PTX\"");
    DSBUILD_TRY(parsed, parse_arch_list(item.scalar, yaml_where(file, item)));
    if (!parsed.explicit_only())
      return bad_workload(file, item, "'" + item.scalar + "' depends on the machine: name archs");
    archs = union_of(archs, parsed.targets);
  }
  return archs;
}

Result<void> read_pack(const std::string& file, const YamlNode& pack, const YamlNode& ops,
                       Workload& workload) {
  if (!ops.is_map() || ops.entries.empty())
    return bad_workload(file, ops, "a pack is a map of its ops to their archs");
  for (const auto& [op, list] : ops.entries) {
    DSBUILD_TRY(archs, read_archs(file, list));
    workload.packs[pack.scalar][op.scalar] = {std::move(archs), yaml_where(file, op)};
  }
  return {};
}

// ---- taking

std::string names_of(const Workload& workload) {
  std::vector<std::string> names;
  for (const auto& [pack, ops] : workload.packs)
    names.push_back(printable(pack));
  return join(names, ", ");
}

// The pack that is asked for, as the workload names it; "" where it is not there.
std::string pack_in(const Workload& workload, const std::string& pack, const FileReader& files) {
  for (const auto& [name, ops] : workload.packs)
    if (name == pack || (name.find('/') != std::string::npos && files.absolute(name) == files.absolute(pack)))
      return name;
  return "";
}

Result<std::string> choose_pack(const Workload& workload, const std::string& file, const Settings& settings,
                                const FileReader& files) {
  if (!settings.pack.is_default()) {
    std::string name = pack_in(workload, settings.pack.value, files);
    if (!name.empty()) return name;
    return fail(
        Exit::usage, "bad_workload", file,
        "it has no op of the pack " + printable(settings.pack.value) + " (" + settings.pack.origin + ")",
        "Its packs: " + names_of(workload) + ".");
  }
  if (workload.packs.size() == 1) return workload.packs.begin()->first;
  return fail(Exit::usage, "bad_workload", file,
              "it has ops of several packs, and a bundle is of one: " + names_of(workload),
              "Choose with --pack; one bundle for each.");
}

Result<Workload> read_named(const Selection& selection, const FileReader& files) {
  const std::string& file = *selection.workload_file;
  if (file.empty() || files.kind(file) != FileKind::file)
    return fail(Exit::usage, "no_workload", selection.origin, "there is no file '" + printable(file) + "'",
                "To write one, run what loads the ops. Usage: dsbuild record -- COMMAND…");
  DSBUILD_TRY(text, files.read_file(file));
  return read_workload(text, file);
}

// A preset's archs are for whatever is built; those of a workload are what was loaded.
bool asks_for_archs(const Setting<ArchRequest>& arch) {
  return arch.origin == "--arch" || arch.origin == k_arch_variable;
}

void take_archs(const std::string& file, Settings& settings) {
  ArchSet all;
  for (const auto& [name, op] : settings.selection.workload)
    all = union_of(all, op.archs);
  if (all.empty()) return;
  settings.arch = {ArchRequest{.targets = all}, file};
  settings.arch_text = {arch_list(all), file};
}

}  // namespace

void Workload::add(const std::string& pack, const std::string& op, const ArchSet& archs) {
  ArchSet& known = packs[pack][op].archs;
  known = union_of(known, archs);
}

void Workload::add(const Workload& other) {
  for (const auto& [pack, ops] : other.packs)
    for (const auto& [name, op] : ops)
      add(pack, name, op.archs);
}

size_t Workload::ops() const {
  size_t count = 0;
  for (const auto& [pack, ops] : packs)
    count += ops.size();
  return count;
}

std::string render_workload(const Workload& workload, const std::string& comment) {
  std::string text = "# " + comment + "\npacks:\n";
  for (const auto& [pack, ops] : workload.packs) {
    text += "  " + key_text(pack) + "\n";
    for (const auto& [name, op] : ops)
      text += "    " + key_text(name) + " " + archs_text(op.archs) + "\n";
  }
  return text;
}

Result<Workload> read_workload(std::string_view text, const std::string& file) {
  DSBUILD_TRY(root, parse_yaml(text, file));
  const YamlNode* packs = root.is_map() ? root.find("packs") : nullptr;
  if (!packs || !packs->is_map() || packs->entries.empty())
    return bad_workload(file, packs ? *packs : root, "a workload is a map `packs`, of packs to ops");
  for (const auto& [key, value] : root.entries)
    if (key.scalar != "packs") return bad_workload(file, key, "unknown key '" + key.scalar + "'");
  Workload workload;
  for (const auto& [pack, ops] : packs->entries)
    DSBUILD_CHECK(read_pack(file, pack, ops, workload));
  return workload;
}

Result<void> take_workload(const FileReader& files, Settings& settings) {
  Selection& selection = settings.selection;
  DSBUILD_TRY(workload, read_named(selection, files));
  const std::string& file = *selection.workload_file;
  DSBUILD_TRY(pack, choose_pack(workload, file, settings, files));
  if (settings.pack.is_default()) settings.pack = {pack, file};
  selection.workload = workload.packs.at(pack);
  for (const auto& [name, op] : selection.workload)
    selection.names.push_back(name);
  if (!asks_for_archs(settings.arch)) {
    take_archs(file, settings);
  } else {
    for (auto& [name, op] : selection.workload)
      op.archs.clear();
  }
  return {};
}

}  // namespace dsbuild
