// Files and programs, for the stand-in for icpx.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace icpx {

// Both throw std::runtime_error with the file's name.
std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& bytes);

// A folder of this process alone, removed with the value.
class WorkFolder {
 public:
  WorkFolder();
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Runs a program, found on PATH; its output is this process's. Throws std::runtime_error if it fails; `quiet`
// shows what it says only then.
void run(const std::vector<std::string>& words, bool quiet = false);

}  // namespace icpx
