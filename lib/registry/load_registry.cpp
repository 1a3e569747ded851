// A pack on disk -> Registry.
#include <algorithm>
#include <map>

#include "registry/op_defaults.h"
#include "registry/other_packs.h"
#include "registry/registry.h"
#include "registry/spec_reader.h"
#include "registry/spec_words.h"

namespace dsbuild {
namespace {

using SeenFiles = std::map<std::string, std::string>;

// Two specs must not claim one word for one accelerator: the message names both.
Result<void> claim(SeenFiles& seen, const std::string& word, const std::string& what, const OpSpec& spec,
                   const Version& source, const std::string& file) {
  for (const char* accelerator : {"cuda", "cpu"}) {
    if (!may_hold(spec.when, source, accelerator)) continue;
    const auto [twin, is_new] = seen.emplace(word + " for " + accelerator, file);
    if (is_new) continue;
    return fail(Exit::usage, "bad_spec", file, what + " '" + word + "' is taken by " + twin->second,
                "Rename one of the two.");
  }
  return {};
}

AbsentOp absent_op(const OpSpec& spec, const WhenContext& context) {
  return {spec.name, spec.build_var, refusal(spec.when, context).value_or(""), spec.when.text()};
}

Result<void> check_needs(const Registry& registry) {
  Mistakes mistakes;
  for (const OpBuilder& op : registry.ops) {
    for (const Entry<std::string>& need : op.spec().needs) {
      if (need.value != op.name() && registry.find(need.value)) continue;
      const std::string what = need.value == op.name()
                                   ? "'needs': the op needs itself"
                                   : "'needs': no op '" + need.value + "' in pack '" + registry.pack + "'" +
                                         did_you_mean(need.value, registry.names());
      mistakes.check(fail(Exit::usage, "bad_spec", need.origin.text, what));
    }
  }
  return mistakes.result();
}

bool by_name(const OpBuilder& a, const OpBuilder& b) {
  return a.name() < b.name();
}

// Where an op stands, and what it says.
struct OpText {
  std::string file;  // below the pack's folder
  YamlNode root;
};

// Those of pack.yaml, and of each op.yaml.
Result<std::vector<OpText>> read_ops_of(const FileReader& files, const Pack& pack, Mistakes& mistakes) {
  std::vector<OpText> ops;
  for (const YamlNode& op : pack.ops)
    ops.push_back({"pack.yaml", op});
  for (const std::string& path : spec_paths(files, pack.spec_root)) {
    DSBUILD_TRY(text, files.read_file(pack.spec_root / path));
    OpText op{path, {}};
    if (mistakes.take(parse_yaml(text, pack.shown + "/" + path), op.root)) ops.push_back(std::move(op));
  }
  if (!ops.empty() || !mistakes.none()) return ops;
  return fail(Exit::usage, "unknown_pack", "--pack", "'" + printable(pack.shown) + "' holds no op.yaml",
              "A pack is a folder with <op>/op.yaml for each of its ops; `" +
                  own_command({"new", "my_op", "--pack", pack.shown}) + "` writes one.");
}

Result<void> load_ops(const FileReader& files, const Pack& pack, Registry& registry) {
  const SourceTree tree = make_source_tree(files, registry.source_root, registry.source_version);
  const Version& version = registry.source_version;
  WhenContext context;
  context.source = version;
  SeenFiles names, build_vars;
  Mistakes mistakes;
  DSBUILD_TRY(texts, read_ops_of(files, pack, mistakes));
  for (const OpText& op : texts) {
    const SpecFile file{pack.shown + "/" + op.file, tree};
    OpSpec spec;
    if (!mistakes.take(read_op_spec(with_defaults(op.root, pack.defaults), file, pack.spec_root / op.file),
                       spec))
      continue;
    if (!is_of_version(spec.when, version)) {
      registry.absent.push_back(absent_op(spec, context));
      continue;
    }
    mistakes.check(claim(names, spec.name, "the op name", spec, version, file.shown));
    mistakes.check(claim(build_vars, spec.build_var, "the build variable", spec, version, file.shown));
    for (SourceSpec& source : spec.sources)
      source.hipify = source.hipify || pack.hipify;
    registry.ops.emplace_back(std::move(spec));
  }
  DSBUILD_CHECK(mistakes.result());
  std::sort(registry.ops.begin(), registry.ops.end(), by_name);
  return check_needs(registry);
}

// One op that needs an absent one becomes absent too; false where there is none.
bool leave_out_in_need(Registry& registry) {
  for (auto op = registry.ops.begin(); op != registry.ops.end(); ++op) {
    for (const Entry<std::string>& need : op->spec().needs) {
      if (registry.find(need.value)) continue;
      const AbsentOp needed = *registry.find_absent(need.value);
      registry.absent.push_back({op->name(), op->spec().build_var, needed.not_for, needed.is_for});
      registry.ops.erase(op);
      return true;
    }
  }
  return false;
}

}  // namespace

const OpBuilder* Registry::find(const std::string& name) const {
  const auto is_before = [](const OpBuilder& op, const std::string& word) { return op.name() < word; };
  const auto found = std::lower_bound(ops.begin(), ops.end(), name, is_before);
  return found != ops.end() && found->name() == name ? &*found : nullptr;
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> all;
  for (const OpBuilder& op : ops)
    all.push_back(op.name());
  return all;
}

const AbsentOp* Registry::find_absent(const std::string& name_or_variable) const {
  const auto found = std::find_if(absent.begin(), absent.end(), [&](const AbsentOp& op) {
    return op.name == name_or_variable || op.build_var == name_or_variable;
  });
  return found == absent.end() ? nullptr : &*found;
}

Registry offer_ops(Registry registry, const Version& torch, const std::string& accelerator) {
  registry.accelerator = accelerator;
  WhenContext context;
  context.source = registry.source_version;
  context.torch = torch;
  context.accelerator = accelerator;
  std::vector<OpBuilder> offered;
  for (OpBuilder& op : registry.ops) {
    if (holds(op.spec().when, context))
      offered.push_back(std::move(op));
    else
      registry.absent.push_back(absent_op(op.spec(), context));
  }
  registry.ops = std::move(offered);
  while (leave_out_in_need(registry)) {
  }
  return registry;
}

std::string op_name_refusal(const std::string& name) {
  std::string reason = refuse_op_name(name);
  if (!reason.empty()) return reason;
  reason = refuse_build_var("DS_BUILD_" + to_upper(name));
  return reason.empty() ? "" : "is not a valid op name: DS_BUILD_" + to_upper(name) + " " + reason;
}

Result<Registry> load_registry(const Settings& settings, const System& system) {
  DSBUILD_TRY(pack, load_pack(settings, system));
  Registry registry;
  registry.pack = pack.name;
  registry.spec_root = pack.spec_root;
  registry.source_root = pack.source_root;
  registry.source_version = pack.version;
  registry.license = pack.license;
  registry.license_files = pack.license_files;
  registry.urls = pack.urls;
  registry.pass_environment = pack.pass_environment;
  DSBUILD_CHECK(load_ops(system.files, pack, registry));
  find_other_packs(settings, system.files, registry);
  return registry;
}

}  // namespace dsbuild
