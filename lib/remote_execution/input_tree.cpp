#include "remote_execution/input_tree.h"

#include "base/digest.h"
#include "remote/reapi_messages.h"

namespace dsbuild {
namespace {

constexpr const char *k_tools = "tools", *k_lib = "lib", *k_libdevice = "libdevice", *k_tmp = "tmp";

// ld-linux-x86-64.so.2, ld-linux-aarch64.so.1.
bool is_loader(const std::string& name) {
  return name.starts_with("ld-linux-") || name.starts_with("ld64.so");
}

bool is_library(const std::string& name) {
  return name.ends_with(".so") || name.find(".so.") != std::string::npos;
}

ReapiDigest add_directory(const ReapiDirectory& directory, std::vector<TreeBlob>& blobs) {
  std::string message = render_directory(directory);
  ReapiDigest digest = digest_of(message);
  blobs.push_back({digest, std::move(message)});
  return digest;
}

std::string in_tools(const std::string& name) {
  return std::string("../") + k_tools + "/" + name;
}

}  // namespace

RemoteTools::RemoteTools(const std::string& parts, const FileReader& files, std::string worker_home)
    : worker_home_(std::move(worker_home)) {
  for (const std::string& line : split_lines(parts))
    if (const size_t space = line.find(' '); space != std::string::npos && why_none_.empty())
      add_part(line.substr(0, space), line.substr(space + 1), files);
  if (why_none_.empty() && loader_.empty()) why_none_ = "no dynamic loader is among their parts";
  if (why_none_.empty()) close();
}

void RemoteTools::add_part(const std::string& digest, const Path& path, const FileReader& files) {
  const std::string name = path.filename().string();
  const auto identity = files.identity(path);
  if (!is_sha256(digest) || !identity) {
    why_none_ = path.string() + " cannot be read";
    return;
  }
  const bool is_program = !is_library(name) && !name.ends_with(".bc");
  ReapiDirectory& directory = is_program ? programs_ : is_library(name) ? libraries_ : libdevice_;
  const ReapiDirectory::File file{{digest, identity->size}, is_program || is_loader(name)};
  const auto [there, is_new] = directory.files.emplace(name, file);
  if (!is_new && there->second.digest != file.digest) why_none_ = "two of their files have the name " + name;
  if (is_new) blobs_.push_back({file.digest, {}, path});
  if (is_loader(name)) loader_ = name;
  if (is_program) places_[name] = path;
}

bool RemoteTools::has_program(const std::string& program, const FileReader& files) const {
  const auto place = places_.find(Path(program).filename().string());
  if (place == places_.end() || !why_none_.empty()) return false;
  if (program.find('/') == std::string::npos) return true;
  const auto named = files.identity(program);
  return named && named == files.identity(place->second);
}

void RemoteTools::close() {
  ReapiDirectory root = programs_;
  root.directories[k_lib] = add_directory(libraries_, blobs_);
  if (!libdevice_.files.empty()) root.directories[k_libdevice] = add_directory(libdevice_, blobs_);
  root_ = add_directory(root, blobs_);
}

// Where NVIDIA's toolkits have their tools, below their home.
std::string RemoteTools::place_at_worker(const std::string& program) const {
  return worker_home_ + (program == "cicc" ? "/nvvm/bin/" : "/bin/") + program;
}

std::vector<std::string> RemoteTools::remote_words(const std::vector<std::string>& argv) const {
  const std::string program = Path(argv.front()).filename().string(), lib = in_tools(k_lib);
  std::vector<std::string> words;
  if (are_at_worker())
    words = {place_at_worker(program)};
  else
    words = {lib + "/" + loader_, "--library-path", lib, in_tools(program)};
  words.insert(words.end(), argv.begin() + 1, argv.end());
  return words;
}

Environment RemoteTools::remote_environment() const {
  Environment environment = {{"TMPDIR", std::string("../") + k_tmp}};
  if (are_at_worker())
    environment["NVVMIR_LIBRARY_DIR"] = worker_home_ + "/nvvm/libdevice";
  else if (!libdevice_.files.empty())
    environment["NVVMIR_LIBRARY_DIR"] = in_tools(k_libdevice);
  return environment;
}

std::map<std::string, std::string> RemoteTools::programs_at_worker() const {
  std::map<std::string, std::string> digests;
  for (const auto& [name, file] : programs_.files)
    digests[place_at_worker(name)] = file.digest.hash;
  return digests;
}

ReapiDigest input_root(const std::optional<ReapiDigest>& tools,
                       const std::map<std::string, ReapiDigest>& work, std::vector<TreeBlob>& blobs) {
  ReapiDirectory folder, root;
  for (const auto& [name, digest] : work)
    folder.files[name] = {digest, false};
  root.directories[k_work_folder] = add_directory(folder, blobs);
  root.directories[k_tmp] = add_directory({}, blobs);
  if (tools) root.directories[k_tools] = *tools;
  return add_directory(root, blobs);
}

}  // namespace dsbuild
