// What the fake tools share: files, settings, digests, the log of starts.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fake {

using Words = std::vector<std::string>;

// Ends the program with what a tool prints when it cannot go on.
[[noreturn]] void fail(const std::string& message, int code = 1);

// ---- text

bool starts_with(std::string_view text, std::string_view beginning);
Words split(std::string_view text, char at);
Words split_blanks(std::string_view text);
// As a shell takes it for one word.
std::string quoted(const std::string& word);
std::string joined(const Words& words);
std::string file_name(const std::string& path);
std::string folder_of(const std::string& path);  // "" for none
// Without its last extension.
std::string stem_of(const std::string& path);
// "" where the option is not there.
std::string value_of(const Words& argv, const std::string& option);
bool has(const Words& argv, const std::string& word);

// ---- files

bool exists(const std::string& path);
bool is_file(const std::string& path);
// Sorted; none of what is not a folder.
Words names_in(const std::string& folder);
std::string read_or_empty(const std::string& path);
// `who`: the tool that says so where it cannot.
std::string read(const std::string& path, const std::string& who);
void write(const std::string& path, std::string_view data, const std::string& who, unsigned mode = 0644);
// Half, a pause, the other half.
void write_in_halves(const std::string& path, std::string_view data, double pause, const std::string& who,
                     unsigned mode = 0644);
void append_line(const std::string& path, const std::string& text);
void wait_for(double seconds);
std::string current_folder();
std::string variable(const char* name);
std::string depfile(const std::string& target, const Words& inputs);

// ---- digests

uint64_t digest(std::string_view text, uint64_t seed = 0);
std::string hex_digest(std::string_view text);
// Bytes that depend on the seed alone and do not compress away.
std::string noise(std::string_view seed, size_t size);

// ---- programs

// The file that runs, and the folder of that.
std::string own_program();
std::string own_folder();
// What stands behind the program's last "FAKE:", so that a changed program makes other outputs; "" for
// nothing.
std::string own_mark();
std::string mark_of(const std::string& program);
// The status, and what was printed.
int run(const Words& argv, std::string* output = nullptr);
[[noreturn]] void become(const Words& argv);

// ---- settings: fake.json

class Settings {
 public:
  explicit Settings(const std::string& file);
  std::string text(const std::string& name) const;
  double number(const std::string& name, double otherwise) const;
  bool is_on(const std::string& name) const { return number(name, 0) != 0; }
  Words list(const std::string& name) const;
  // Of an object of numbers.
  double entry(const std::string& name, const std::string& key, double otherwise) const;

 private:
  std::map<std::string, std::string> texts_;
  std::map<std::string, double> numbers_;
  std::map<std::string, Words> lists_;
  std::map<std::string, std::map<std::string, double>> objects_;
};

// A string as JSON has it; bytes that are no UTF-8 as Python's surrogates.
std::string json(const std::string& text);
std::string json(const Words& words);

}  // namespace fake
