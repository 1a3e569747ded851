// A made-up pack and toolkit in memory, planned from settings as the program would.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "arch/amd.h"
#include "arch/nvidia.h"
#include "fakes/fake_file_system.h"
#include "plan/build_plan.h"
#include "registry/op_backends.h"

namespace dsbuild {

inline Toolkit fake_toolkit(int version_code) {
  Toolkit toolkit;
  toolkit.home = "/cuda";
  toolkit.origin = "CUDA_HOME";
  toolkit.version =
      *parse_version(std::to_string(version_code / 100) + "." + std::to_string(version_code % 100) + ".1");
  toolkit.targets = targets_of_cuda(version_code);
  toolkit.library_dir = "/cuda/lib64";
  toolkit.compiler_digest = "00ff";
  toolkit.host = HostCompiler{"/usr/bin/g++-11", "gcc", *parse_version("11.3.0"), "PATH"};
  toolkit.options = {"--objdir-as-tempdir"};
  return toolkit;
}

inline Toolkit fake_hip_toolkit() {
  Toolkit toolkit;
  toolkit.family = &k_hip_family;
  toolkit.home = "/rocm";
  toolkit.origin = "ROCM_PATH";
  toolkit.version = *parse_version("22.1.8");
  toolkit.targets = targets_of_clang(22);
  toolkit.own_flags = {"--rocm-path=/rocm"};
  toolkit.compiler_digest = "00aa";
  return toolkit;
}

inline Toolkit fake_icpx() {
  Toolkit toolkit;
  toolkit.family = &k_icpx_family;
  toolkit.home = "/oneapi";
  toolkit.origin = "ONEAPI_ROOT";
  toolkit.version = *parse_version("2026.2.0");
  toolkit.targets = parse_arch_list("pvc,dg2-g10,tgllp,spir64", "test")->targets;
  toolkit.library_dir = "/oneapi/lib";
  toolkit.compiler_digest = "00bb";
  return toolkit;
}

struct PlanWorld {
  FakeFileSystem files;
  Settings settings;
  Registry registry;
  SelectedOps selected;
  RequirementReport requirements;
  Toolkit toolkit = fake_toolkit(1108);
  bool has_toolkit = true;
  Toolkit hip = fake_hip_toolkit();
  Toolkit icpx = fake_icpx();
  HostCompiler cxx{"/usr/bin/g++", "gcc", *parse_version("12.2.0"), "PATH"};

  EdgeHistory history;
  bool roots = false;  // whether commands name folders by them

  PlanWorld() { registry.source_root = "/pack"; }

  // `body`: the op.yaml below its name line. Sources it names exist.
  void add_op(const std::string& name, const std::string& body, Wanted wanted = Wanted::by_all) {
    for (const char* ending : {".cu", ".cpp", "_b.cu", "_sm90.cu", ".sycl.cpp"})
      files.add_file("/pack/" + name + ending, "//\n");
    const Result<OpSpec> spec =
        parse_op_spec("name: " + name + "\n" + body, "/pack/" + name + "/op.yaml", files, "/pack");
    if (!spec) throw std::runtime_error(spec.error().where + ": " + spec.error().what);
    registry.ops.emplace_back(*spec);
    selected.ops.push_back({name, wanted, "--ops", {}});
    requirements.by_op[name] = {};
    const auto by_name = [](const auto& a, const auto& b) { return name_of(a) < name_of(b); };
    std::sort(registry.ops.begin(), registry.ops.end(), by_name);
    std::sort(selected.ops.begin(), selected.ops.end(), by_name);
  }
  void add_cuda_op(const std::string& name, const std::string& more = "", Wanted wanted = Wanted::by_all) {
    add_op(name, "sources: [" + name + ".cu]\n" + more, wanted);
  }
  void fail_requirement(const std::string& op, const std::string& why, const std::string& fix) {
    Finding finding;
    finding.why = why;
    finding.fix = fix;
    requirements.by_op[op] = {finding};
  }

  Result<ArchPlan> plan(const std::string& archs) {
    settings.arch.value = parse_arch_list(archs, "--arch").value();
    settings.arch.origin = "--arch";
    vendors = vendors_of(settings.arch.value, {});
    Registry all = registry;
    SelectedOps ops = selected;
    split_by_backend(all, ops, vendors);
    split = std::move(all);
    for (const OpBuilder& op : split.ops)
      requirements.by_op.try_emplace(op.name());
    return plan_archs(
        {settings, split, ops, requirements, toolkits(), settings.arch.value.targets, "x86_64"});
  }
  // The graph of whole commands, its edges in the order of the ops.
  BuildPlan build_by_op(const ArchPlan& archs) {
    return plan_build({settings,
                       split,
                       requirements,
                       archs,
                       toolkits(),
                       &cxx,
                       "x86_64",
                       {},
                       "/usr/bin/dsbuild",
                       history,
                       1,
                       roots ? find_roots(toolkits(), requirements) : Roots()});
  }
  BuildPlan build(const ArchPlan& archs) {
    BuildPlan plan = build_by_op(archs);
    put_longest_first(plan.edges, history, split.pack);
    return plan;
  }

 private:
  std::vector<const Vendor*> vendors;
  Registry split;  // of the last plan

  ToolkitSet toolkits() const {
    ToolkitSet all;
    for (const Toolkit* each : {&toolkit, &hip, &icpx})
      if (std::ranges::count(vendors, &each->vendor()) > 0 && (each != &toolkit || has_toolkit))
        all.add(*each);
    return all;
  }
  static const std::string& name_of(const OpBuilder& op) { return op.name(); }
  static const std::string& name_of(const SelectedOp& op) { return op.name; }
};

inline ArchSet archs_of(const std::string& list) {
  return parse_arch_list(list, "test")->targets;
}

// nullptr: no edge makes it.
inline const Edge* find_edge(const BuildPlan& plan, const std::string& output) {
  const auto found = std::ranges::find(plan.edges, output, &Edge::output);
  return found == plan.edges.end() ? nullptr : &*found;
}

}  // namespace dsbuild
