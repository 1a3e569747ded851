#include "wrapper/nvcc_call.h"

#include <algorithm>

#include "base/text.h"
#include "wrapper/nvcc_options.h"

namespace dsbuild {
namespace {

struct Option {
  std::string name;  // without dashes; "" of an input
  std::optional<std::string> value;
  size_t words = 1;  // how many of the command's it is
};

// nullopt: the value that it takes is not there.
std::optional<Option> read_option(const Args& words, size_t place) {
  const std::string& word = words[place];
  if (word.size() < 2 || word.front() != '-') return Option{"", word};
  const size_t dashes = word.starts_with("--") ? 2 : 1, equals = word.find('=');
  const std::string name = word.substr(dashes, equals == std::string::npos ? equals : equals - dashes);
  if (const std::string joined = dashes == 1 ? joined_option(name) : ""; !joined.empty())
    return Option{joined, word.substr(word[2] == '=' ? 3 : 2)};
  if (equals != std::string::npos) return Option{name, word.substr(equals + 1)};
  if (!takes_value(name)) return Option{name, std::nullopt};
  if (place + 1 >= words.size()) return std::nullopt;
  return Option{name, words[place + 1], 2};
}

// The shell that nvcc starts its steps by sees these; what it makes of them is nvcc's matter.
bool has_word_for_shell(const std::string& word) {
  return word.find_first_of("$`\n!") != std::string::npos;
}

class Reader {
 public:
  explicit Reader(const ReadText& read) : read_(read) {}

  tl::expected<NvccCall, NotSliced> run(const Args& words) {
    take_all(words, 0);
    if (!other_.empty()) return left("asks for " + other_);
    if (!compiles_) return left("does not compile to an object (-c)");
    if (inputs_.size() != 1) return left(std::to_string(inputs_.size()) + " inputs");
    call_.source = inputs_.front();
    const bool is_cuda = language_.empty() ? call_.source.ends_with(".cu") : language_ == "cu";
    if (!is_cuda) return left("the source is not a CUDA source");
    is_compile_ = true;
    if (!why_.empty()) return left(why_);
    call_.language_is_given = !language_.empty();
    if (call_.object.empty()) call_.object = with_end(call_.source.substr(call_.source.rfind('/') + 1), ".o");
    if (call_.object.empty() || call_.object == "-" || call_.object.starts_with("/dev/"))
      return left("the object is not a file");
    if (const std::string why = take_depfile(); !why.empty()) return left(why);
    return std::move(call_);
  }

 private:
  tl::unexpected<NotSliced> left(const std::string& why) const {
    return tl::unexpected(NotSliced{why, is_compile_});
  }

  void refuse(const std::string& why) {
    if (why_.empty()) why_ = why;
  }

  void take_all(const Args& words, int depth) {
    for (size_t place = 0; place < words.size();) {
      if (has_word_for_shell(words[place]))
        refuse("a word has a character that shells read: " + words[place]);
      const auto option = read_option(words, place);
      if (!option) return refuse("an option lacks its value: " + words[place]);
      take(*option,
           {words.begin() + static_cast<std::ptrdiff_t>(place),
            words.begin() + static_cast<std::ptrdiff_t>(place + option->words)},
           depth);
      place += option->words;
    }
  }

  void take(const Option& option, const Args& words, int depth) {
    const std::string& name = option.name;
    const std::string value = option.value.value_or("");
    if (name.empty())
      inputs_.push_back(value);
    else if (name == "c" || name == "compile")
      compiles_ = true;
    else if (name == "o" || name == "output-file")
      take_once(call_.object, value, "two objects");
    else if (name == "MD" || name == "generate-dependencies-with-compile")
      wanted().without_system_headers = false;
    else if (name == "MMD" || name == "generate-nonsystem-dependencies-with-compile")
      wanted().without_system_headers = true;
    else if (name == "MP" || name == "generate-dependency-targets")
      has_phony_ = true;
    else if (name == "MF" || name == "dependency-output")
      take_once(depfile_, value, "two depfiles");
    else if (name == "MT" || name == "dependency-target-name")
      take_once(target_, value, "two targets of a depfile");
    else if (name == "x")
      take_once(language_, value, "two languages");
    else if (name == "optf" || name == "options-file")
      take_options_of(value, depth);
    else if (name == "t" || name == "threads" || name == "objtemp" || name == "objdir-as-tempdir")
      return;  // how, and not what
    else if (name == "ccbin" || name == "compiler-bindir")
      call_.host_compiler = value;
    else if (const std::string phase = other_phase(name); !phase.empty())
      other_ = "--" + phase;
    else
      take_flag(option, words);
  }

  void take_flag(const Option& option, const Args& words) {
    const std::string& name = option.name;
    const std::string value = option.value.value_or("");
    if (const OtherCompile* other = other_compile(name)) keep_whole(*other, words);
    compiles_ = compiles_ || is_relocatable_compile(name);
    if ((name == "rdc" || name == "relocatable-device-code") && value != "false")
      keep_whole(*other_compile("dc"), words);
    if (name.ends_with("arch") || name.ends_with("architecture") || name.ends_with("code"))
      if (value.find("native") != std::string::npos || value.find("lto_") != std::string::npos)
        refuse("its archs are those of the machine, or for the link (" + join(words, " ") + ")");
    if (name == "Xcompiler" || name == "compiler-options")
      for (const std::string& word : split(value, ","))
        if (is_refused_by_host(word)) refuse("the host compiler is given " + word);
    call_.flags.insert(call_.flags.end(), words.begin(), words.end());
  }

  // As a whole command, if at all.
  void keep_whole(const OtherCompile& other, const Args& words) {
    const std::string why = std::string(other.why) + " (" + join(words, " ") + ")";
    if (other.kept == NvccCall::Kept::no) return refuse(why);
    if (call_.why_whole.empty()) call_.why_whole = why;
    call_.kept = std::max(call_.kept, other.kept);
  }

  void take_once(std::string& place, const std::string& value, const std::string& why) {
    if (!place.empty() || value.empty()) refuse(why + ", or an empty one");
    place = value;
  }

  DepfileWanted& wanted() {
    if (call_.depfile) refuse("two kinds of depfile");
    return call_.depfile.emplace();
  }

  void take_options_of(const std::string& file, int depth) {
    const auto text = read_(file);
    if (!text || depth > 8 || text->find_first_of("'\\#") != std::string::npos)
      return refuse("a file of options that cannot be read here: " + file);
    take_all(shell_split(replace_all(*text, "\n", " ")), depth + 1);
  }

  static std::string with_end(const std::string& path, const std::string& end) {
    const size_t dot = path.rfind('.'), slash = path.rfind('/');
    const bool has_end =
        dot != std::string::npos && (slash == std::string::npos || dot > slash + 1) && dot > 0;
    return has_end ? path.substr(0, dot) + end : "";
  }

  std::string take_depfile() {
    if (!call_.depfile)
      return depfile_.empty() && target_.empty() && !has_phony_ ? "" : "a depfile's options without -MD";
    DepfileWanted& depfile = *call_.depfile;
    depfile.has_phony_targets = has_phony_;
    depfile.target = target_.empty() ? call_.object : target_;
    depfile.file = depfile_.empty() ? with_end(call_.object, ".d") : depfile_;
    return depfile.file.empty() ? "the depfile has no name" : "";
  }

  const ReadText& read_;
  NvccCall call_;
  Args inputs_;
  std::string why_, other_, language_, depfile_, target_;
  bool compiles_ = false, has_phony_ = false, is_compile_ = false;
};

}  // namespace

tl::expected<NvccCall, NotSliced> read_nvcc_call(const Args& words, const ReadText& read) {
  return Reader(read).run(words);
}

std::optional<std::string> render_nvcc_depfile(const DepfileWanted& wanted,
                                               const std::vector<std::string>& names) {
  std::vector<std::string> written;
  for (const std::string& name : names) {
    if (name.find_first_of("\\\"\t\n") != std::string::npos) return std::nullopt;
    written.push_back(replace_all(name, " ", "\\ "));
  }
  std::string text = wanted.target + " : " + join(written, " \\\n    ") + "\n";
  if (wanted.has_phony_targets)
    for (size_t i = 1; i < written.size(); ++i)
      text += "\n" + written[i] + ":\n";
  return text;
}

}  // namespace dsbuild
