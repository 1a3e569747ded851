// The interface of a GPU vendor, which knows the meaning of its targets. One object each, in one table:
// lib/arch/nvidia.h, amd.h, intel.h.
#pragma once

#include "arch/arch_list.h"

namespace dsbuild {

// A word of --arch and its meaning, for completion.
struct ArchWord {
  std::string word;     // "9.0a"
  std::string meaning;  // "Hopper"
};

class Vendor {
 public:
  using Code = uint64_t;  // Target::code; arguments must be this vendor's

  Vendor() = default;
  Vendor(const Vendor&) = delete;
  Vendor& operator=(const Vendor&) = delete;
  virtual ~Vendor() = default;
  virtual std::string_view name() const = 0;  // "nvidia"
  virtual std::string_view backend()
      const = 0;  // the name of its ops' backend, in op.yaml and --backend: "cuda"
  virtual std::string_view list_variable()
      const = 0;  // torch's variable for lists of its targets: "TORCH_CUDA_ARCH_LIST"

  // The implementations of Target's functions.
  virtual std::string name_of(Code code) const = 0;
  virtual std::string text_of(Code code) const = 0;
  virtual std::string flag_of(Code code) const = 0;
  virtual bool is_virtual(Code code) const = 0;
  virtual std::string_view image_kind(Code code) const = 0;  // the manifest's word: "elf", "ptx"
  virtual Code machine_of(Code code) const { return code; }
  virtual Code plain_of(Code code) const = 0;
  virtual Code gpu_of(Code code) const { return machine_of(plain_of(code)); }
  virtual std::optional<Target> parse_name(std::string_view name) const = 0;
  virtual std::optional<Target> parse_text(std::string_view text) const { return parse_name(text); }

  // arch_strings of a set of this vendor's targets: text_of each, unless two targets make one word.
  virtual std::vector<std::string> texts_of(const ArchSet& own) const;
  // How code for `image` runs on a GPU of `gpu`.
  virtual Runs runs(Code image, Code gpu) const = 0;
  // For two images that run on a GPU in the same way: whether the GPU runs `a`.
  virtual bool is_nearer(Code a, Code b) const = 0;
  virtual bool stands_for(Code pattern, Code other) const { return pattern == other; }
  // Whether the order of bases is that of the GPUs' abilities, so that a lowest and a highest can bound a
  // set.
  virtual bool is_ordered() const { return false; }
  // Why two targets of a set cannot be in one library; nullopt: all can.
  virtual std::optional<std::string> conflict_in(const ArchSet&) const { return std::nullopt; }

  // Parses one entry of a list (arch/arch_list.h). A fault is a sentence with the fix: the nearest valid word
  // and, if it helps, the rule that the entry breaks.
  virtual std::optional<std::string> add_entry(std::string_view entry, ArchRequest& request) const = 0;
  // Whether an entry that no vendor knows was probably meant for this one, whose fault is then reported.
  virtual bool resembles(std::string_view entry) const = 0;
  virtual std::vector<ArchWord> words() const = 0;  // the valid words of an entry
  virtual ArchSet known_gpus() const = 0;           // the archs of all GPUs that dsbuild knows
  // The arch of a GPU by its product name ("H100") in lower case; nullopt: no GPU has this name.
  virtual std::optional<Target> gpu_called(std::string_view /*product*/) const { return std::nullopt; }
  // the names that gpu_called knows, for completion
  virtual std::vector<ArchWord> gpu_names() const { return {}; }
  // The targets that the words of a list stand for. `toolkit`: all that the toolkit targets. `version`: that
  // of CUDA or clang, major * 100 + minor.
  virtual ArchSet all_of(const ArchSet& toolkit, bool major_only) const = 0;
  virtual ArchSet default_of(int version) const = 0;
  virtual ArchSet native_of(const std::vector<Target>& gpus) const = 0;
  // The versions of its toolkits that target all of a set: "CUDA 11.1 to 12.9"; "": none does, or none is
  // known.
  virtual std::string toolkits_for(const ArchSet& own) const = 0;
  // The name of the same target in newer toolkits; nullopt: unchanged.
  virtual std::optional<Target> renamed(Code) const { return std::nullopt; }
};

const std::vector<const Vendor*>& vendors();  // a row each

}  // namespace dsbuild
