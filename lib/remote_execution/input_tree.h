// The folder of files that a tool gets on a remote machine: the input root of an Action.
//
//   tools/<program>            cicc, ptxas, cudafe++, …
//   tools/lib/<library>        their libraries, and the dynamic loader that starts them
//   tools/libdevice/<file>     files that cicc reads without an option
//   work/<file>                the inputs; the working directory, where tools write the outputs
//   tmp/
//
// The tree's own loader starts a program with the tree's own libraries, by relative paths. So the program is
// the same on every worker, whether its root folder is the worker's or this tree (chroot, bubblewrap).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "remote_execution/execution_messages.h"
#include "sys/file_system.h"
#include "sys/process.h"

namespace dsbuild {

// Bytes to upload: in memory, or in a file of this machine, which is read during its upload.
struct TreeBlob {
  ReapiDigest digest;
  std::string bytes = {};
  Path file = {};  // "": `bytes`
};

// Hermetic programs with their libraries and other files. A value, but expensive to copy.
class RemoteTools {
 public:
  // `parts`: lines "<sha256> <absolute path>" of programs, libraries, the loader, libdevice
  // (ToolText::device_parts). No tool can be sent if there is no loader among them, two libraries have one
  // name, or a file is absent. `worker_home`: the folder of a toolkit on the workers, whose programs run
  // instead; "": this machine's programs are uploaded.
  RemoteTools(const std::string& parts, const FileReader& files, std::string worker_home = {});

  // Why no tool can be sent; "": all can be sent.
  const std::string& why_none() const { return why_none_; }
  // `program`: a name that PATH finds, or a path that leads to the same file.
  bool has_program(const std::string& program, const FileReader& files) const;
  bool are_at_worker() const { return !worker_home_.empty(); }
  std::map<std::string, std::string> programs_at_worker() const;  // digests, by their paths on the workers
  // The command for a worker: `argv`, with its first word replaced by the words that start that program
  // there.
  std::vector<std::string> remote_words(const std::vector<std::string>& argv) const;
  Environment remote_environment() const;
  // The directory `tools`, and the blobs of its contents.
  const ReapiDigest& root() const { return root_; }
  const std::vector<TreeBlob>& blobs() const { return blobs_; }

 private:
  void add_part(const std::string& digest, const Path& path, const FileReader& files);
  void close();
  std::string place_at_worker(const std::string& program) const;

  std::string worker_home_;
  ReapiDirectory programs_, libraries_, libdevice_;
  std::map<std::string, Path> places_;  // paths of the programs on this machine
  std::string loader_;                  // the loader's file name
  ReapiDigest root_;
  std::vector<TreeBlob> blobs_;
  std::string why_none_;
};

inline constexpr const char* k_work_folder = "work";

// Makes the input root with these files in `work`. Adds the directories to `blobs`.
ReapiDigest input_root(const std::optional<ReapiDigest>& tools,
                       const std::map<std::string, ReapiDigest>& work, std::vector<TreeBlob>& blobs);

}  // namespace dsbuild
