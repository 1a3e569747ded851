// Writes log/dsbuild.log: each edge that ended, its time, why it ran, and its tools' output.
#pragma once

#include <memory>

#include "ninja/ninja_run.h"

namespace spdlog {
class logger;
}

namespace dsbuild {

// Opens the file at the first edge, so a build with nothing to do writes nothing. A log that cannot be
// written stops no build.
class RunLog {
 public:
  RunLog(const Path& build_dir, FileSystem& files);
  void on_event(const EdgeEvent& event);

 private:
  void open();
  Path file_;
  FileSystem& files_;
  std::shared_ptr<spdlog::logger> log_;
  bool is_broken_ = false;
};

}  // namespace dsbuild
