// The codes of every error and warning, and what each means (docs/reference/messages.md is made from this
// table). A code that is not in the table does not compile.
#pragma once

#include <string_view>

namespace dsbuild {

struct MessageMeaning {
  std::string_view code;     // stable, snake_case: shown as error[code], and "code" in JSON
  std::string_view meaning;  // one sentence, the same for all wordings of the message
};

// By code.
inline constexpr MessageMeaning k_messages[] = {
    {"abi_not_allowed",
     "A bundle's libraries need a newer libc or libstdc++, or a different torch, than a policy allows."},
    {"accelerator_not_built",
     "DS_ACCELERATOR names an accelerator of DeepSpeed that dsbuild does not build for."},
    {"arch_in_nvcc_flags",
     "NVCC_PREPEND_FLAGS or NVCC_APPEND_FLAGS names an architecture: the binaries would differ from the "
     "plan."},
    {"arch_list_too_long", "An architecture list is longer than any real one."},
    {"arch_of_other_backend",
     "An architecture's backend is not asked for: --backend leaves it out, or a variable of another backend "
     "names the architecture."},
    {"archs_dropped", "--drop-unsupported-archs left out architectures that the toolkit cannot target."},
    {"bad_archive", "A static library (.a), or a zip archive such as a wheel, cannot be read."},
    {"bad_build_file", "A file of the build folder is damaged or was changed by hand."},
    {"bad_cache_archive", "A file is not an archive of a cache, or it is damaged."},
    {"bad_choice", "A setting has a word that is not one of its choices."},
    {"bad_config", "A config file has an unknown key or a value of the wrong type."},
    {"bad_date", "A setting needs a day, and has a different value."},
    {"bad_elf", "A file is not a binary that dsbuild reads, or it is damaged."},
    {"bad_expected", "A file check/<op>.json of the build folder is damaged."},
    {"bad_fatbin", "The device code inside a binary is damaged, or of a kind that dsbuild does not know."},
    {"bad_key", "A file has no key that can sign or check signatures."},
    {"bad_manifest", "manifest.json of a bundle is damaged or was changed by hand."},
    {"bad_name", "A name has a character that build.ninja cannot carry."},
    {"bad_number", "A setting needs a whole number, and has a different value."},
    {"bad_op_name", "dsbuild new cannot use the given name for an op."},
    {"bad_option", "The command line has an unknown word, an option twice, or an option without its value."},
    {"bad_platform", "--remote-platform is not a list of NAME=VALUE."},
    {"bad_policy",
     "A policy has an unknown key or a value of the wrong type, or a rule lacks a value that it needs."},
    {"bad_project", "dsbuild cannot read from a project's setup.py or build.toml what it builds."},
    {"bad_remote_key", "A file of --remote-sign or --remote-trust has no usable key."},
    {"bad_remote_url", "The URL or the credentials of a remote cache or service cannot be used."},
    {"bad_shard", "--shard is not NUMBER/COUNT, or no shared cache can take the shard's results."},
    {"bad_shard_plan", "The file of --shard-plan cannot be read."},
    {"bad_signature",
     "A bundle's signature is damaged, or it signs something other than the bundle's statement."},
    {"bad_size", "A setting needs a size with a unit, and has a different value."},
    {"bad_spec", "An op.yaml or pack.yaml breaks a rule of docs/reference/op_yaml.md."},
    {"bad_statement",
     "provenance.intoto.json of a bundle is damaged, or does not describe a build by dsbuild."},
    {"bad_switch", "A setting is either on or off, and has a different value."},
    {"bad_uri", "A setting needs a URI like https://example.com/builder, and has a different value."},
    {"bad_variable", "A setting needs names of environment variables, and has a different value."},
    {"bad_version",
     "A setting needs a version, and has a different value; a wheel's version follows PEP 440."},
    {"bad_version_range", "A requirement's range of versions cannot be read."},
    {"bad_workload",
     "A workload (--ops @FILE) is not a file of dsbuild record, or it lacks the pack that is built."},
    {"bad_yaml", "A file is not the plain YAML that dsbuild reads."},
    {"blank_arch_list", "TORCH_CUDA_ARCH_LIST is set but blank, which counts as unset."},
    {"bundle_in_build_dir", "dsbuild clean would remove a bundle that lies in the build folder."},
    {"cache_not_writable",
     "dsbuild cannot write into the cache folder, so it remembers nothing for later builds."},
    {"cancelled", "The caller cancelled a build; the bundle is as it was."},
    {"cannot_exchange", "Two folders cannot be exchanged in one step; dsbuild then moves file by file."},
    {"cannot_open", "libdsbuild cannot open a library, because a library that it needs is missing."},
    {"cannot_slice", "--backend slices was given, and some CUDA files cannot be sliced."},
    {"cannot_start", "A program that dsbuild needs cannot be started."},
    {"command_too_long", "A compiler command is longer than the system can run."},
    {"conflicting_archs", "An architecture list names two targets that no library can hold together."},
    {"contradicting_ops", "An op is both named and left out."},
    {"cuda_mismatch", "DS_SKIP_CUDA_CHECK=1 is set, and the toolkit's CUDA version does not fit torch's."},
    {"damaged_bundle", "A bundle's files differ from its manifest, so dsbuild does not use it."},
    {"disjoint_archs", "The selected ops have no architecture in common."},
    {"edge_failed", "A compiler, the linker or verify failed; nothing was published."},
    {"empty_arch_list", "--arch was given without an architecture."},
    {"empty_ops_list", "--ops was given without an op."},
    {"empty_value", "A setting was given without a value."},
    {"executable_stack",
     "A library of a wheel needs an executable stack, which glibc 2.41 and later refuse."},
    {"execution_off", "A build went on without the remote execution service."},
    {"faulty_source", "An op that was asked for by name has a source with a known fault."},
    {"file_exists", "dsbuild new would write a file that is already there."},
    {"foreign_build_dir", "--build-dir holds files that are not dsbuild's."},
    {"foreign_cache_dir", "--cache-dir holds files that are not dsbuild's."},
    {"foreign_config", "A dsbuild.yaml that was found belongs to another user, so it is not read."},
    {"foreign_out", "--out holds files that are not a bundle of dsbuild."},
    {"foreign_pack", "dsbuild new cannot write an op into the given folder."},
    {"gpu_by_driver", "A GPU runs ops of a bundle only after its driver has compiled them."},
    {"gpu_not_covered", "A GPU that --gpu names cannot run an op of a bundle."},
    {"ignored_variable", "A variable of DeepSpeed is set that dsbuild does not use."},
    {"internal", "dsbuild itself has a fault."},
    {"interrupted", "A signal ended a build; the bundle is as it was."},
    {"io", "A file or folder cannot be read or written."},
    {"jit_off", "No prebuilt op fits, and DSBUILD_JIT is 0."},
    {"left_out_by_variable", "A variable DS_BUILD_<OP>=0 leaves an op out of `all`."},
    {"lesser_cpu", "An op of a bundle is built for a CPU with more features than this machine's."},
    {"license_not_allowed", "A bundle's ops have a licence that a policy does not allow."},
    {"limit_too_low", "A limit of the process (ulimit, a cgroup) is too low for a build."},
    {"lock_unsupported", "A folder lies on a file system without locks."},
    {"locked", "Another dsbuild worked in the folder for longer than --lock-timeout."},
    {"lost_ptx", "The requested PTX does not fit an op, so later GPUs cannot run it."},
    {"metrics_unwritten", "The file for dashboards could not be written; the build went on."},
    {"missing_source", "A source that an op.yaml names does not exist."},
    {"needed_op", "An op that was left out is built, because another op needs it."},
    {"ninja_failed", "Ninja itself failed, not one of its edges."},
    {"no_bundle", "A folder is not a bundle."},
    {"no_bundle_or_build", "A folder is neither a bundle nor a build folder with a finished build."},
    {"no_compiler", "No C++ compiler was found."},
    {"no_compress_mode", "The toolkit has no --compress-mode, so it was not passed."},
    {"no_config_file", "The file of --config does not exist."},
    {"no_cuda_op", "No CUDA op can be built for the requested architectures."},
    {"no_file", "A file or folder that dsbuild should read does not exist."},
    {"no_fit", "An op was built for the requested architectures, and does not run on this machine's GPUs."},
    {"no_gpu", "`native`, or a build for this machine, needs a GPU, and there is none."},
    {"no_host_compiler", "The CUDA toolkit accepts none of this machine's compilers."},
    {"no_libcrypto", "Signing and checking signatures need libcrypto, which cannot be loaded."},
    {"no_libcurl",
     "Remote caches over HTTP need libcurl, which cannot be loaded, is too old, or lacks HTTP/2."},
    {"no_license", "A wheel has no licence, or lacks the text of its licence."},
    {"no_ninja", "No Ninja was found, or only one that is too old."},
    {"no_package", "The Python package whose sources the pack builds is not installed."},
    {"no_program", "libdsbuild finds no dsbuild program to start."},
    {"no_python_module", "A bundle holds no Python modules, so there is nothing to install."},
    {"no_recipe", "This installation has no script that fetches toolkits."},
    {"no_site_packages", "dsbuild install was given a folder in which Python reads no .pth file."},
    {"no_statement", "A bundle has no provenance.intoto.json, which describes its build."},
    {"no_toolkit", "No CUDA toolkit was found."},
    {"no_workload", "The file of --ops @FILE does not exist."},
    {"not_as_nvcc", "The slices of a file differ from what nvcc makes of it."},
    {"not_built", "The build folder does not exist, because nothing was built in it yet."},
    {"not_cached", "The local cache lacks results of a plan, and the command must not start a compiler."},
    {"not_installed", "dsbuild has installed nothing there."},
    {"not_signed", "A policy requires a signature, and a bundle has none."},
    {"not_sliced", "CUDA files that cannot be sliced are compiled by whole nvcc commands."},
    {"nothing_selected", "No op was selected."},
    {"nothing_to_build", "None of the selected ops can be built."},
    {"nothing_to_compare",
     "--against-nvcc compares slices with nvcc, but nvcc compiles all CUDA files of this build."},
    {"offline", "--offline forbids a download that the command needs."},
    {"old_bundle_left", "The previous bundle could not be removed."},
    {"older_bundle", "A bundle is older than a policy allows."},
    {"op_has_no_arch", "An op that was asked for by name supports none of the requested architectures."},
    {"op_not_compatible", "An op that was asked for by name cannot be built on this machine."},
    {"op_not_offered",
     "An op that was asked for by name needs other sources, another torch or another accelerator."},
    {"other_builder", "A bundle has a different builder than a policy names."},
    {"other_pack",
     "A variable DS_BUILD_<OP> names an op of a different pack, or --add names a bundle of a different "
     "pack."},
    {"other_scope", "An archive of a cache has a different --remote-scope."},
    {"other_toolkit", "dsbuild uses a different CUDA toolkit than the preferred one."},
    {"out_of_time", "A build or a tool of it ran past its time limit; the bundle is as it was."},
    {"program_failed", "The dsbuild program that libdsbuild started ended without an answer."},
    {"ptx_only", "A policy forbids code that GPUs run only after their driver has compiled it."},
    {"published_in_place", "The bundle was replaced file by file."},
    {"pypi_refuses", "PyPI refuses the wheel: its file is too large, or its tag is not manylinux."},
    {"python", "Python does not answer a question about a module."},
    {"rebuild_differs",
     "`dsbuild verify --rebuild` made a bundle again from its provenance, and a file differs."},
    {"remote_off", "The shared cache failed, and the build went on without it."},
    {"remote_untrusted", "The shared cache has entries that no key of --remote-trust has signed."},
    {"shard_not_uploaded", "Results of a shard did not reach the shared cache."},
    {"shard_plan_differs", "The file of --shard-plan belongs to a different plan or number of shards."},
    {"skipped_ops", "--strict was given, and a selected op was skipped."},
    {"source_left_out", "A source needs a variant of an architecture (9.0a) that the request does not have."},
    {"statement_differs", "A bundle is not the one that its provenance.intoto.json describes."},
    {"time_of_build", "A source contains the time of its compile, so each build compiles it."},
    {"too_large", "A bundle, or an op's library, is larger than --max-size or --max-op-size allows."},
    {"tool_does_not_answer", "A compiler does not answer a question about its parts."},
    {"toolkit_lacks_archs", "No CUDA toolkit can target all requested architectures."},
    {"unknown_accelerator", "DS_ACCELERATOR has an unknown value."},
    {"unknown_arch", "A word in an architecture list is not an architecture."},
    {"unknown_build_var", "A variable DS_BUILD_… belongs to no op."},
    {"unknown_op", "The pack has no op of the given name."},
    {"unknown_pack", "--pack names neither a pack nor a folder with ops."},
    {"unknown_preset", "--config names neither a preset nor a file."},
    {"unnamed_files", "A source reads files without naming them, so each build compiles it."},
    {"unpackaged_run_path",
     "A library of a wheel searches for others in a folder of the machine that built it."},
    {"unsafe_folder", "Other users can write to a file or folder that dsbuild was to load."},
    {"unsettled", "A file changed during each compile of it, so nothing was published."},
    {"unsupported_host", "dsbuild does not run on this system."},
    {"untrusted_key", "The key that signed a bundle is not trusted, revoked or expired."},
    {"unused_option", "The command does not use an option that was given."},
};

constexpr bool is_message_code(std::string_view code) {
  for (const MessageMeaning& message : k_messages)
    if (message.code == code) return true;
  return false;
}

// A code of the table.
class MessageCode {
 public:
#ifdef __cpp_consteval
  consteval
#else
  constexpr
#endif
      MessageCode(const char* text)
      : text_(text) {
    if (!is_message_code(text_)) throw "lib/base/message_code.h has no such code";
  }
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

}  // namespace dsbuild
