// The files that a tool has on another machine: the root of an Action's inputs.
//
//   tools/<program>            cicc, ptxas, cudafe++, …
//   tools/lib/<library>        what they load, and the dynamic loader that starts them
//   tools/libdevice/<file>     what cicc reads unasked
//   work/<file>                the inputs; the working directory, where the outputs come to be
//   tmp/
//
// A program is started by the tree's own loader with the tree's own libraries, by relative paths. So it is
// the same program on every worker: in the worker's own root or in one that is the tree (chroot, bubblewrap).
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

// Bytes that a server is to have: in memory, or in a file of this machine, which is read when it is sent.
struct TreeBlob {
  ReapiDigest digest;
  std::string bytes = {};
  Path file = {};  // "": `bytes`
};

// Programs that are given all that they read, and what they are made of. A value; cheap to copy it is not.
class RemoteTools {
 public:
  // `parts`: lines "<sha256> <absolute path>" of programs, libraries, the loader, libdevice
  // (ToolText::device_parts). Without a loader among them, with two libraries of one name, or with a file
  // that is not there, no tool can be sent.
  // `worker_home`: of a toolkit that the workers have, whose programs are used there; "": ours go there.
  RemoteTools(const std::string& parts, const FileReader& files, std::string worker_home = {});

  // "": they can be sent. Else why not.
  const std::string& why_none() const { return why_none_; }
  // By a name, as PATH finds it, or by a path that leads to this very file.
  bool has_program(const std::string& program, const FileReader& files) const;
  bool are_at_worker() const { return !worker_home_.empty(); }
  std::map<std::string, std::string> programs_at_worker() const;  // digests, by path there
  // The command's words on a worker: `argv` with a program of these in place of the first word.
  std::vector<std::string> remote_words(const std::vector<std::string>& argv) const;
  Environment remote_environment() const;
  // The directory `tools`, and all that is in it.
  const ReapiDigest& root() const { return root_; }
  const std::vector<TreeBlob>& blobs() const { return blobs_; }

 private:
  void add_part(const std::string& digest, const Path& path, const FileReader& files);
  void close();
  std::string place_at_worker(const std::string& program) const;

  std::string worker_home_;
  ReapiDirectory programs_, libraries_, libdevice_;
  std::map<std::string, Path> places_;  // of the programs on this machine
  std::string loader_;                  // its name
  ReapiDigest root_;
  std::vector<TreeBlob> blobs_;
  std::string why_none_;
};

inline constexpr const char* k_work_folder = "work";

// With these files in `work`; `blobs` gets the directories.
ReapiDigest input_root(const std::optional<ReapiDigest>& tools,
                       const std::map<std::string, ReapiDigest>& work, std::vector<TreeBlob>& blobs);

}  // namespace dsbuild
