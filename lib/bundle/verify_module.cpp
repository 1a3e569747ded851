#include "bundle/verify_module.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/build_layout.h"
#include "base/demangle.h"
#include "base/text.h"
#include "binary/elf_library.h"

namespace dsbuild {
namespace {

// Where loaders look unasked, on all sorts of systems.
constexpr std::array k_usual_folders = {"/lib",
                                        "/usr/lib",
                                        "/lib64",
                                        "/usr/lib64",
                                        "/lib/x86_64-linux-gnu",
                                        "/usr/lib/x86_64-linux-gnu",
                                        "/lib/aarch64-linux-gnu",
                                        "/usr/lib/aarch64-linux-gnu",
                                        "/usr/local/lib"};

// torch/__init__.py loads it for the whole process (RTLD_GLOBAL), with all that it needs.
constexpr const char* k_library_of_process = "libtorch_global_deps.so";

// Symbols of whoever loads the module: Python's, which another interpreter may have as well, and those of
// sanitizers, which come with LD_PRELOAD.
constexpr std::array k_of_process = {"Py",      "_Py",     "__asan_",  "__hwasan_",   "__lsan_",
                                     "__msan_", "__tsan_", "__ubsan_", "__sanitizer_"};

bool is_of_process(const std::string& symbol) {
  return std::ranges::any_of(k_of_process, [&](const char* start) { return symbol.starts_with(start); });
}

// Neither a library nor an archive: a linker's script, which may stand for anything, or for nothing.
bool is_script(const Path& file, const FileReader& files) {
  const auto source = files.open(file);
  if (!source) return false;
  const auto start = ByteRange(**source).read(0, 4);
  return start && !is_elf(as_bytes_of(*start)) && !start->starts_with("!<");
}

std::string file_of(const std::string& library) {
  return library.starts_with(':') ? library.substr(1) : "lib" + library + ".so";
}

bool links_a_script(const ModuleLink& link, const Path& build_dir, const FileReader& files) {
  return std::ranges::any_of(link.libraries, [&](const std::string& library) {
    return std::ranges::any_of(link.folders, [&](const std::string& folder) {
      return is_script(build_dir / folder / file_of(library), files);
    });
  });
}

// "libcuda.so" for "libcuda.so.1": a toolkit has such a file for links where the driver has the library.
std::string name_for_links(const std::string& name) {
  const size_t end = name.find(".so.");
  return end == std::string::npos ? "" : name.substr(0, end + 3);
}

// In the order in which they came, each once.
template <class Value>
class Distinct {
 public:
  void add(const Value& value) {
    if (known_.insert(value).second) values_.push_back(value);
  }
  const Value& operator[](size_t index) const { return values_[index]; }
  size_t size() const { return values_.size(); }

 private:
  std::set<Value> known_;
  std::vector<Value> values_;
};

// Goes through the libraries that are loaded with a module, and strikes out the symbols that they have. It
// asks more files than a loader would: each of a needed name, in any folder where any of them is looked for.
class Search {
 public:
  Search(std::vector<std::string> symbols, uint16_t machine, const FileReader& files)
      : missing_(std::move(symbols)), machine_(machine), files_(files) {}

  // A folder that is not there is left out; several spellings of one are one.
  void add_folder(const Path& folder) {
    if (const auto real = files_.real_path(folder)) folders_.add(*real);
  }
  // The libraries that it needs, and where it has them looked for.
  void add_needs_of(const ElfLibrary& library, const Path& file) {
    const std::string own_folder = file.parent_path().string();
    for (const std::string& paths : library.search_paths())
      for (const std::string& path : split(paths, ":"))
        add_folder(replace_all(replace_all(path, "${ORIGIN}", own_folder), "$ORIGIN", own_folder));
    add_folder(own_folder);
    for (const std::string& name : library.needed())
      names_.add(name);
  }
  // False where there is no such library.
  bool ask(const Path& file, const std::string& own_name = "") {
    const auto source = files_.open(file);
    if (!source) return false;
    const auto library = ElfLibrary::read(**source, file.string());
    if (!library || library->machine() != machine_) return false;
    if (!own_name.empty() && library->own_name() != own_name) return false;
    std::erase_if(missing_, [&](const std::string& symbol) { return defines(*library, symbol); });
    add_needs_of(*library, file);
    return true;
  }
  // Each name in each folder: a library that is found may bring more of both.
  void ask_needed() {
    for (bool is_more = true; is_more && !missing_.empty();) {
      is_more = false;
      for (size_t name = 0; name < names_.size(); ++name)
        for (size_t folder = 0; folder < folders_.size() && !missing_.empty(); ++folder)
          if (asked_.insert({name, folder}).second) is_more = ask_in(folder, names_[name]) || is_more;
    }
  }

  // Whether nothing else can have what is missing.
  bool is_complete() const { return is_known_ && found_.size() == names_.size(); }
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  bool ask_in(size_t folder, std::string name) {
    const Path place = folders_[folder];
    const std::string other = name_for_links(name);
    if (!ask(place / name) && (other.empty() || !ask(place / other, name))) return false;
    found_.insert(std::move(name));
    return true;
  }
  bool defines(const ElfLibrary& library, const std::string& symbol) {
    const auto answer = library.defines(symbol);
    if (!answer || !*answer) is_known_ = false;
    return answer && answer->value_or(false);
  }

  std::vector<std::string> missing_;
  const uint16_t machine_;
  const FileReader& files_;
  Distinct<std::string> names_;
  Distinct<Path> folders_;
  std::set<std::pair<size_t, size_t>> asked_;  // of names and folders
  std::set<std::string> found_;
  bool is_known_ = true;  // what each library defines
};

// Those that compilers look in by themselves. A file of the build folder lists them, each after "-L".
std::vector<Path> folders_of_compilers(const Path& build_dir, const FileReader& files) {
  std::vector<Path> folders;
  const auto text = files.read_file(build_dir / k_tool_folders_file);
  for (const std::string& line : split_lines(text.value_or("")))
    if (line.starts_with("-L")) folders.emplace_back(line.substr(2));
  return folders;
}

}  // namespace

Result<std::vector<std::string>> find_missing_symbols(const ModuleLink& link, const Path& module,
                                                      const Path& build_dir, const FileReader& files) {
  DSBUILD_TRY(source, files.open(module));
  DSBUILD_TRY(library, ElfLibrary::read(*source, module.string()));
  DSBUILD_TRY(undefined, library.undefined_symbols());
  std::vector<std::string> symbols;
  for (UndefinedSymbol& symbol : undefined)
    if (!symbol.has_version && !is_of_process(symbol.name)) symbols.push_back(std::move(symbol.name));
  if (symbols.empty() || links_a_script(link, build_dir, files)) return std::vector<std::string>();

  Search search(std::move(symbols), library.machine(), files);
  for (const std::string& folder : link.folders)
    search.add_folder(build_dir / folder);
  search.add_needs_of(library, module);
  for (const Path& folder : folders_of_compilers(build_dir, files))
    search.add_folder(folder);
  for (const char* folder : k_usual_folders)
    search.add_folder(folder);
  search.ask_needed();
  if (search.missing().empty()) return search.missing();
  for (const std::string& folder : link.folders)
    search.ask(build_dir / folder / k_library_of_process);
  const bool is_python_known = search.ask(files.real_path(link.python).value_or(link.python));
  search.ask_needed();
  return is_python_known && search.is_complete() ? search.missing() : std::vector<std::string>();
}

std::string missing_symbols_sentence(const std::string& module, const std::vector<std::string>& symbols) {
  constexpr size_t k_most_names = 3, k_longest_name = 200;
  std::vector<std::string> names;
  for (const std::string& symbol : symbols) {
    std::string name = demangled(symbol);
    if (name.size() > k_longest_name) name = name.substr(0, k_longest_name) + "...";
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  std::string more;
  if (names.size() > k_most_names) {
    more = " and " + std::to_string(names.size() - k_most_names) + " more";
    names.resize(k_most_names);
  }
  return module + " needs " + join(names, ", ") + more + ", which neither its libraries nor Python has";
}

}  // namespace dsbuild
