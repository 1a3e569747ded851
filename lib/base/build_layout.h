// Every name in a build folder. Paths are relative to the build folder, which is the current folder of all
// tools. A name that begins with a dot is a suffix: of an output, or of the files of a translation unit.
#pragma once

#include <string>

namespace dsbuild {

// The folder itself.
inline constexpr const char* k_build_folder_marker = "dsbuild-build-folder";  // marks it as ours
inline constexpr const char* k_build_lock_file = "lock";
inline constexpr const char* k_unchanged_file = "unchanged";  // to detect a null build (driver/null_build.h)
inline constexpr const char* k_graph_file = "build.ninja";
inline constexpr const char* k_compile_commands_file = "compile_commands.json";  // for clangd and the like
inline constexpr const char* k_plan_file =
    "plan.json";  // the ops, their sources and archs, and the reasons (driver/inventory.h)
inline constexpr const char* k_timings_file = "timings.json";  // of the last build that ran edges
inline constexpr const char* k_pack_folder = "pack";           // a link to the source root
inline constexpr const char* k_roots_folder = "roots";  // links to folders of this machine (exec/roots.h)
inline constexpr const char* k_tool_tmp_dir = "tmp";    // tools' temporary files; each build empties it
inline constexpr const char* k_log_folder = "log";      // dsbuild.log, and a log of each edge that failed
inline constexpr const char* k_run_log_file = "log/dsbuild.log";
// Texts that records share (exec/lists.h). A file's name is its digest.
inline constexpr const char* k_lists_dir = "lists";

// A folder in the cache folder. For each set of trusted public keys it has a separate cache, with the entries
// that these keys have signed (settings/settings.h).
inline constexpr const char* k_trusted_folder = "trusted";

// `build DIR` writes a pack next to the build folder for a project that has none: the suffix of the pack's
// folder, and the start of its pack.yaml.
inline constexpr const char* k_project_pack_suffix = "-project";
inline constexpr const char* k_project_pack_start = "# By `dsbuild new --from`";

// Outputs.
inline constexpr const char* k_objects_folder = "obj";                    // <op>/<source>/<stem>…
inline constexpr const char* k_libraries_folder = "lib";                  // <op>.so
inline constexpr const char* k_device_images_object = "device_images.o";  // an op's device link makes it
// <op>.json: what verify expects; <op>.ok: verify passed.
inline constexpr const char* k_checks_folder = "check";
inline constexpr const char* k_headers_folder = "pch";  // precompiled headers, by the digest of their inputs
inline constexpr const char* k_hipify_folder =
    "hipify";  // <op>/…: CUDA sources as HIP; <op>.list: their digests

// Outputs of nvcc itself for the same sources, for comparison (plan/comparison_graph.h).
inline constexpr const char* k_comparison_folder = "against_nvcc";
inline constexpr const char* k_comparison_graph_file = "against_nvcc.ninja";

// Files that dsbuild writes with the plan and that actions read.
inline constexpr const char* k_tools_folder = "tools";
// The names of tools in the graph. host_cxx is the C++ compiler that nvcc starts; nvcc.id covers it.
inline constexpr const char *k_nvcc_tool = "nvcc", *k_hip_tool = "hip", *k_icpx_tool = "icpx",
                            *k_hipify_tool = "hipify", *k_cxx_tool = "cxx", *k_host_cxx_tool = "host_cxx",
                            *k_dsbuild_tool = "dsbuild";
inline std::string id_file(const std::string& tool) {  // digests of the tool's files; keys contain them
  return k_tools_folder + ("/" + tool + ".id");
}
inline constexpr const char* k_nvcc_id_file = "tools/nvcc.id";
// The id file of cudafe++, cicc and ptxas without the rest of nvcc. These tools read only files that their
// commands name.
inline constexpr const char* k_device_id_file = "tools/nvcc.device.id";
inline constexpr const char* k_cxx_id_file = "tools/cxx.id";
inline constexpr const char* k_hip_id_file = "tools/hip.id";
inline constexpr const char* k_icpx_id_file = "tools/icpx.id";
inline constexpr const char* k_torch_id_file = "tools/torch.id";
inline constexpr const char* k_hipify_id_file = "tools/hipify.id";
// The commands of nvcc's steps. A file's name is its digest.
inline constexpr const char* k_steps_folder = "tools/steps";
// Files that contain a path: of the cache ("": there is none), of the folder that remembers file digests
// (sys/digest_memo.h).
inline constexpr const char* k_local_cache_file = "tools/store";
inline constexpr const char* k_digest_memo_file = "tools/digests";
// The folders that compilers search by default, one a line: header folders, and library folders after "-L".
inline constexpr const char* k_tool_folders_file = "tools/folders";
// The id files of compilers whose assembler can list the files that it reads, one a line.
inline constexpr const char* k_assemblers_file = "tools/assemblers";

// Suffixes of files next to an output.
inline constexpr const char* k_record_end = ".record";     // its command, tools and inputs (exec/record.h)
inline constexpr const char* k_old_record_end = ".stale";  // that record, once it is out of date
inline constexpr const char* k_temporary_end = ".tmp";     // while a tool writes it
inline constexpr const char* k_depfile_end = ".d";         // depfile of its compile or link
inline constexpr const char* k_assembler_depfile_end = ".as.d";  // depfile of its assembler, while that runs
inline constexpr const char* k_objects_list_end = ".rsp";        // the objects of a link
inline constexpr const char* k_bundle_end = ".hipfb";  // HIP's images as a bundle, before clang assembles it
inline constexpr const char* k_assembly_end = ".s";    // assembly that includes the bundle
inline constexpr const char* k_tree_list_end = ".list";  // digests of the files of hipify's tree
// Next to a precompiled header. First line: a number; dsbuild makes the header only if at least this many of
// the compiles that use it are not in the cache. Each further line: the command of one such compile.
inline constexpr const char* k_users_end = ".users";

// Suffixes of files of a sliced translation unit, next to its parts.
inline constexpr const char* k_module_id_end = ".module_id";  // nvcc names symbols after this id
inline constexpr const char* k_arch_list_end = ".arch_list";  // the value of __CUDA_ARCH_LIST__
inline constexpr const char* k_stub_end = ".cudafe1.stub.c";  // cudafe++'s; the host compile includes it
inline constexpr const char* k_scratch_end = ".run";  // working folder of one part's tools, or of hipify
// Line information and the host's debug information name the build folder by a fixed path, so that objects
// are the same in every folder. This file contains that path; if the file is absent, it is
// k_folder_in_objects.
inline constexpr const char* k_folder_in_objects_end = ".folder";
inline constexpr const char* k_folder_in_objects = "/dsbuild";

}  // namespace dsbuild
