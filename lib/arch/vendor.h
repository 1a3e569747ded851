// What a vendor of GPUs knows of its targets. One object each, in one table: lib/arch/nvidia.h, amd.h,
// intel.h.
#pragma once

#include "arch/arch_list.h"

namespace dsbuild {

// A word of --arch and what it stands for, for completion.
struct ArchWord {
  std::string word;     // "9.0a"
  std::string meaning;  // "Hopper"
};

class Vendor {
 public:
  using Code = uint64_t;  // Target::code; every one given is one that this vendor made

  Vendor() = default;
  Vendor(const Vendor&) = delete;
  Vendor& operator=(const Vendor&) = delete;
  virtual ~Vendor() = default;
  virtual std::string_view name() const = 0;  // "nvidia"
  virtual std::string_view backend()
      const = 0;  // what its ops are written for: "cuda", in op.yaml, --backend
  virtual std::string_view list_variable()
      const = 0;  // torch's for lists of its targets: "TORCH_CUDA_ARCH_LIST"

  // Of one target: what Target's functions say.
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

  // arch_strings of a set of this vendor's targets: text_of each, but where two targets make one word.
  virtual std::vector<std::string> texts_of(const ArchSet& own) const;
  // How code for `image` runs on a GPU of `gpu`.
  virtual Runs runs(Code image, Code gpu) const = 0;
  // Of two images that run on a GPU in the same way: whether `a` is the one that is taken.
  virtual bool is_nearer(Code a, Code b) const = 0;
  virtual bool stands_for(Code pattern, Code other) const { return pattern == other; }
  // Whether bases compare as the GPUs' abilities do, so that a lowest and a highest one can bound a set.
  virtual bool is_ordered() const { return false; }
  // Why two targets of a set cannot be in one library; nullopt: all can.
  virtual std::optional<std::string> conflict_in(const ArchSet&) const { return std::nullopt; }

  // One entry of a list (arch/arch_list.h). A fault is how to fix it, in a sentence: the nearest valid word
  // and, where it helps, the rule that the entry breaks.
  virtual std::optional<std::string> add_entry(std::string_view entry, ArchRequest& request) const = 0;
  // Whether an entry that no vendor knows was meant for this one, so that its fault is told.
  virtual bool resembles(std::string_view entry) const = 0;
  virtual std::vector<ArchWord> words() const = 0;  // that an entry may be
  virtual ArchSet known_gpus() const = 0;           // the archs of all GPUs that dsbuild knows
  // The arch of a GPU by what it is sold as ("H100"), in lower case; nullopt: none is called so.
  virtual std::optional<Target> gpu_called(std::string_view /*product*/) const { return std::nullopt; }
  virtual std::vector<ArchWord> gpu_names() const { return {}; }  // that gpu_called takes, for completion
  // What the words of a list stand for. `toolkit`: all that the toolkit targets; `version`: its own, major *
  // 100 + minor: CUDA's, clang's.
  virtual ArchSet all_of(const ArchSet& toolkit, bool major_only) const = 0;
  virtual ArchSet default_of(int version) const = 0;
  virtual ArchSet native_of(const std::vector<Target>& gpus) const = 0;
  // The versions of its toolkits that target all of a set: "CUDA 11.1 to 12.9"; "" where none does, or none
  // is known to.
  virtual std::string toolkits_for(const ArchSet& own) const = 0;
  // What newer toolkits call the same target; nullopt: as ever.
  virtual std::optional<Target> renamed(Code) const { return std::nullopt; }
};

const std::vector<const Vendor*>& vendors();  // a row each

}  // namespace dsbuild
