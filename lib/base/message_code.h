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
     "A bundle's libraries need a newer libc or libstdc++, or another torch, than a policy allows."},
    {"accelerator_not_built",
     "DS_ACCELERATOR names an accelerator of DeepSpeed that dsbuild does not build for."},
    {"arch_in_nvcc_flags",
     "NVCC_PREPEND_FLAGS or NVCC_APPEND_FLAGS names an architecture: the binaries would differ from the "
     "plan."},
    {"arch_list_too_long", "An architecture list is longer than any real one."},
    {"arch_of_other_backend",
     "An architecture's backend is not asked for: --backend leaves it out, or a variable of another backend "
     "names the architecture."},
    {"archs_dropped", "--drop-unsupported-archs left out what the toolkit cannot target."},
    {"bad_archive", "A static library (.a), or a zip archive such as a wheel, cannot be read."},
    {"bad_build_file", "A file in which a build says what it did is damaged or was changed by hand."},
    {"bad_cache_archive", "An archive of a cache is damaged, or is none."},
    {"bad_choice", "A setting takes one of a few words, and got another."},
    {"bad_config", "A config file has an unknown key or a value of the wrong type."},
    {"bad_date", "A setting takes a day."},
    {"bad_elf", "A file is no binary that dsbuild reads, or it is damaged."},
    {"bad_expected", "A file check/<op>.json of the build folder is damaged."},
    {"bad_fatbin", "The device code inside a binary is damaged, or of a kind that dsbuild does not know."},
    {"bad_key", "A file holds no key that can sign, or that signatures can be checked by."},
    {"bad_manifest", "manifest.json of a bundle is damaged or was changed by hand."},
    {"bad_name", "A name holds a character that build.ninja cannot carry."},
    {"bad_number", "A setting takes a whole number."},
    {"bad_op_name", "dsbuild new was given a name that no op may have."},
    {"bad_option", "The command line has an unknown word, an option twice, or an option without its value."},
    {"bad_platform", "--remote-platform is no list of NAME=VALUE."},
    {"bad_policy",
     "A policy has an unknown key or a value of the wrong type, or asks for what it leaves open."},
    {"bad_project", "A project's setup.py or build.toml does not say what it would build."},
    {"bad_remote_key", "A file of --remote-sign or --remote-trust holds no key that can be used."},
    {"bad_remote_url", "The URL of a remote cache or service, or what identifies us to it, cannot be used."},
    {"bad_shard", "--shard names no share of a build, or there is no shared cache to take its results."},
    {"bad_shard_plan", "The file of --shard-plan cannot be read."},
    {"bad_signature",
     "A bundle's signature is damaged, or is of something else than the bundle's statement."},
    {"bad_size", "A setting takes a size in bytes."},
    {"bad_spec", "An op.yaml or pack.yaml breaks a rule of docs/reference/op_yaml.md."},
    {"bad_statement",
     "provenance.intoto.json of a bundle is damaged, or is no statement of a build by dsbuild."},
    {"bad_switch", "A setting that is on or off has another value."},
    {"bad_uri", "A setting takes a URI, as https://example.com/builder."},
    {"bad_variable", "A setting takes names of variables."},
    {"bad_version", "A setting takes a version; that of a wheel is one of PEP 440, as its index takes it."},
    {"bad_version_range", "A requirement's range of versions cannot be read."},
    {"bad_workload",
     "A workload (--ops @FILE) is not as dsbuild record writes it, or has not the pack that is built."},
    {"bad_yaml", "A file is not the plain YAML that dsbuild reads."},
    {"blank_arch_list", "TORCH_CUDA_ARCH_LIST is set but blank, which counts as unset."},
    {"bundle_in_build_dir", "dsbuild clean would remove a bundle that lies in the build folder."},
    {"cache_not_writable", "The cache folder cannot be written: nothing that is found out is kept there."},
    {"cancelled", "Who asked for a build cancelled it; the bundle is as it was."},
    {"cannot_exchange", "Two folders cannot be exchanged in one step; dsbuild then moves file by file."},
    {"cannot_open", "A library that libdsbuild was to open cannot be opened: what it needs is not there."},
    {"cannot_slice", "--backend slices was asked for, and there are CUDA files that cannot be sliced."},
    {"cannot_start", "A program that dsbuild needs cannot be started."},
    {"command_too_long", "A compiler command is longer than the system can run."},
    {"conflicting_archs", "An architecture list names two targets that no library can hold together."},
    {"contradicting_ops", "An op is both named and left out."},
    {"cuda_mismatch",
     "DS_SKIP_CUDA_CHECK=1 lets ops be built although toolkit and torch are of CUDA versions that do not go "
     "together."},
    {"damaged_bundle", "A bundle is not what its manifest says, so nothing is made of it."},
    {"disjoint_archs", "The ops to be built have no architecture in common."},
    {"edge_failed", "A compiler, the linker or verify failed; nothing was published."},
    {"empty_arch_list", "--arch was given without an architecture."},
    {"empty_ops_list", "--ops was given without an op."},
    {"empty_value", "A setting was given without a value."},
    {"executable_stack",
     "A library of a wheel asks for an executable stack, which glibc from 2.41 on refuses."},
    {"execution_off", "A build went on without the service that was to run its tools."},
    {"faulty_source", "An op that was asked for by name has a source with a known fault."},
    {"file_exists", "dsbuild new would write a file that is already there."},
    {"foreign_build_dir", "--build-dir holds files that are not dsbuild's."},
    {"foreign_cache_dir", "--cache-dir holds files that are not dsbuild's."},
    {"foreign_config", "A dsbuild.yaml that was found belongs to another user, so it is not read."},
    {"foreign_out", "--out holds files that are not a bundle of dsbuild."},
    {"foreign_pack", "dsbuild new was given a folder that is no place for ops of your own."},
    {"gpu_by_driver", "A GPU runs ops of a bundle only after its driver has compiled them."},
    {"gpu_not_covered", "A GPU that --gpu names cannot run an op of a bundle."},
    {"ignored_variable", "A variable of DeepSpeed's is set that has no use here."},
    {"internal", "A fault of dsbuild itself."},
    {"interrupted", "A signal ended a build; the bundle is as it was."},
    {"io", "A file or folder cannot be read or written."},
    {"jit_off", "No prebuilt op fits, and DSBUILD_JIT is 0."},
    {"left_out_by_variable", "A variable DS_BUILD_<OP>=0 leaves an op out of `all`."},
    {"lesser_cpu", "An op of a bundle is built for a CPU that has more than this machine's."},
    {"license_not_allowed", "A bundle's ops have a licence that a policy does not allow."},
    {"limit_too_low",
     "A limit that the system sets a process (ulimit, a cgroup) is too low for what is to be done."},
    {"lock_unsupported", "A folder lies on a file system without locks."},
    {"locked", "Another dsbuild worked in the folder for longer than --lock-timeout."},
    {"lost_ptx", "An op keeps no PTX of the request, so later GPUs cannot run it."},
    {"metrics_unwritten", "The file for dashboards could not be written; the build went on."},
    {"missing_source", "A source that an op.yaml names is not there."},
    {"needed_op", "An op that was left out is built, because another op needs it."},
    {"ninja_failed", "Ninja itself failed, not one of its edges."},
    {"no_bundle", "A folder holds no bundle."},
    {"no_bundle_or_build", "A folder is neither a bundle nor a build folder in which something was built."},
    {"no_compiler", "No C++ compiler was found."},
    {"no_compress_mode", "The toolkit has no --compress-mode, so it was not passed."},
    {"no_config_file", "The file of --config is not there."},
    {"no_cuda_op", "No CUDA op can be built for the architectures asked for."},
    {"no_file", "A file or folder to be read is not there."},
    {"no_fit", "An op was built for the archs that were asked for, and does not run on this machine's GPUs."},
    {"no_gpu", "`native` was asked for, or an op to be built for this machine, and there is no GPU."},
    {"no_host_compiler", "The CUDA toolkit accepts none of this machine's compilers."},
    {"no_libcrypto", "Signatures are to be made or checked, and libcrypto cannot be loaded."},
    {"no_libcurl",
     "A remote cache is reached by HTTP, and libcurl cannot be loaded, is too old, or lacks HTTP/2."},
    {"no_license", "A wheel has no licence, or no text of it."},
    {"no_ninja", "No Ninja was found, or only one that is too old."},
    {"no_package", "The Python package whose sources the pack builds is not installed."},
    {"no_program", "libdsbuild finds no program dsbuild to start."},
    {"no_python_module", "A bundle holds no Python modules, so there is nothing to install."},
    {"no_recipe", "This installation has no script that fetches toolkits."},
    {"no_site_packages", "dsbuild install was given a folder in which Python reads no .pth file."},
    {"no_statement", "A bundle has no provenance.intoto.json, which says of what it was built."},
    {"no_toolkit", "No CUDA toolkit was found."},
    {"no_workload", "--ops @FILE names a file that is not there."},
    {"not_as_nvcc", "Slices of a file do not make what nvcc makes of it."},
    {"not_built", "The build folder is not there: nothing was built in it yet."},
    {"not_cached", "The local cache lacks results of a plan, and no tool was to be started."},
    {"not_installed", "There is nothing that dsbuild installed."},
    {"not_signed", "A policy asks for a signature, and a bundle has none."},
    {"not_sliced", "CUDA files are compiled by whole nvcc commands, because they cannot be sliced."},
    {"nothing_selected", "No op was selected."},
    {"nothing_to_build", "None of the selected ops can be built."},
    {"nothing_to_compare",
     "Slices are to be compared with what nvcc makes, but CUDA files are compiled by nvcc itself."},
    {"offline", "--offline forbids what would have to be fetched."},
    {"old_bundle_left", "The previous bundle could not be removed."},
    {"older_bundle", "A bundle is older than a policy allows."},
    {"op_has_no_arch", "An op that was asked for by name supports none of the architectures."},
    {"op_not_compatible", "An op that was asked for by name cannot be built on this machine."},
    {"op_not_offered",
     "An op was asked for by name that there is only for other sources, another torch or another "
     "accelerator."},
    {"other_builder", "A bundle was built by somebody else than a policy names."},
    {"other_pack",
     "A variable DS_BUILD_<OP> asks for an op that another pack has, or --add for the ops of a bundle of "
     "another pack."},
    {"other_scope", "An archive of a cache is of another --remote-scope."},
    {"other_toolkit", "Another CUDA toolkit than the preferred one is used."},
    {"out_of_time",
     "A build reached the time limit that it was given, or a tool of `dsbuild load` ran for far longer than "
     "it ever did; the bundle is as it was."},
    {"program_failed", "The program dsbuild, started by libdsbuild, ended without an answer."},
    {"ptx_only", "A policy forbids code that GPUs run only after their driver has compiled it."},
    {"published_in_place", "The bundle was replaced file by file."},
    {"pypi_refuses",
     "PyPI does not take the wheel as it is: its file is too large, or its tag is not manylinux."},
    {"python", "Python cannot be asked about a module."},
    {"rebuild_differs",
     "`dsbuild verify --rebuild` made a bundle again from its provenance, and a file of it differs."},
    {"remote_off", "The cache that machines share failed: the build went on without it."},
    {"remote_untrusted", "The shared cache has entries that no key of --remote-trust has signed."},
    {"shard_not_uploaded", "Results of a shard did not get into the shared cache."},
    {"shard_plan_differs",
     "The file of --shard-plan is of another plan or number of shards than this machine's."},
    {"skipped_ops", "--strict was given, and a selected op was skipped."},
    {"source_left_out", "A source is for another variant of an architecture than the one asked for."},
    {"statement_differs", "A bundle is not the one that its provenance.intoto.json speaks of."},
    {"time_of_build", "A source has the time of its compile in it, so it is compiled in each build."},
    {"too_large", "A bundle, or an op's library, is larger than --max-size or --max-op-size allows."},
    {"tool_does_not_answer", "A compiler does not say what it is made of."},
    {"toolkit_lacks_archs", "No CUDA toolkit can target all of the request."},
    {"unknown_accelerator", "DS_ACCELERATOR has an unknown value."},
    {"unknown_arch", "A word in an architecture list is no architecture."},
    {"unknown_build_var", "A variable DS_BUILD_… belongs to no op."},
    {"unknown_op", "An op was named that the pack does not have."},
    {"unknown_pack", "--pack names neither a pack nor a folder with ops."},
    {"unknown_preset", "--config names neither a preset nor a file."},
    {"unnamed_files",
     "A source has what reads files and does not say which, so it is compiled in each build."},
    {"unpackaged_run_path",
     "A library of a wheel looks for others in a folder of the machine that built it."},
    {"unsafe_folder", "Others can write to what was to be loaded."},
    {"unsettled", "A file went on changing while it was compiled, so nothing was published."},
    {"unsupported_host", "dsbuild does not run on this system."},
    {"untrusted_key",
     "A bundle is signed by no key that counts: by another one, a revoked one, or an expired one."},
    {"unused_option", "An option was typed where it does nothing."},
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
