#include <array>
#include <catch2/catch.hpp>
#include <random>

#include "base/args.h"
#include "base/text.h"
#include "support/sample.h"

using namespace dsbuild;

namespace {

struct ShellRun {
  std::string out;
  int status = 0;
};

ShellRun run_in_sh(const std::string& command) {
  ShellRun run;
  FILE* const pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer;
  for (size_t count = 0; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    run.out.append(buffer.data(), count);
  }
  run.status = ::pclose(pipe);
  return run;
}

// Each word as the shell understood it, NUL behind each.
std::string with_nuls(const Args& words) {
  std::string text;
  for (const std::string& word : words)
    text += word + '\0';
  return text;
}

size_t below(std::mt19937& random, size_t limit) {
  return std::uniform_int_distribution<size_t>(0, limit - 1)(random);
}

std::string random_text(std::mt19937& random, const std::string& alphabet, size_t max_size) {
  std::string text;
  for (size_t left = below(random, max_size + 1); left > 0; --left) {
    text += alphabet[below(random, alphabet.size())];
  }
  return text;
}

std::string all_bytes_but_nul() {
  std::string bytes;
  for (int byte = 1; byte < 256; ++byte)
    bytes += static_cast<char>(byte);
  return bytes;
}

}  // namespace

TEST_CASE("Plain words stay as they are, the others get quotes") {
  CHECK(shell_quote("-O3") == "-O3");
  CHECK(shell_quote("/usr/lib/a+b_1.so") == "/usr/lib/a+b_1.so");
  CHECK(shell_quote("") == "''");
  CHECK(shell_quote("a b") == "'a b'");
  CHECK(shell_quote("it's") == R"('it'\''s')");
  CHECK(shell_quote("$HOME") == "'$HOME'");
  CHECK(shell_quote("~") == "'~'");
}

TEST_CASE("A first word with = is quoted, as it would set a variable") {
  CHECK(shell_join({"a=b", "c=d"}) == "'a=b' c=d");
}

TEST_CASE("Whatever the bytes, sh reads back the words that were quoted") {
  std::mt19937 random(sample_seed());
  const std::string bytes = all_bytes_but_nul();
  const std::string signs = "a '\"\\$`\n\t*?[]{}~#!&|;<>()=%^-";
  for (int round = 0; round < 100; ++round) {
    Args words;
    for (size_t left = 1 + below(random, 40); left > 0; --left) {
      words.push_back(random_text(random, round % 2 == 0 ? bytes : signs, 20));
    }
    const std::string quoted = shell_join(words);
    REQUIRE(run_in_sh("printf '%s\\0' " + quoted).out == with_nuls(words));
    REQUIRE(shell_split(quoted) == words);
  }
}

TEST_CASE("shell_split finds the words that sh finds") {
  std::mt19937 random(sample_seed());
  int compared = 0;
  for (int round = 0; round < 400; ++round) {
    const std::string text = random_text(random, "ab  '\"\\\t\n", 12);
    // What sh refuses is an unbalanced quote; a newline outside quotes would end the command.
    const ShellRun run = run_in_sh("exec 2>/dev/null\n{ set -- " + replace_all(text, "\n", " ") +
                                   "\n} && for word; do printf '%s\\0' \"$word\"; done");
    if (run.status != 0) continue;
    const Args words = shell_split(replace_all(text, "\n", " "));
    INFO("text: [" << text << "]");
    // A backslash at the end joins the line with the next, which is ours.
    if (!text.empty() && text.back() == '\\') continue;
    REQUIRE(with_nuls(words) == run.out);
    ++compared;
  }
  CHECK(compared > 50);
}

TEST_CASE("shell_split reads flags as a shell would, without expansions") {
  CHECK(shell_split("-I/a -DX='b c' \"-DY=\\\"q\\\"\"") == Args{"-I/a", "-DX=b c", "-DY=\"q\""});
  CHECK(shell_split("$HOME `id` *") == Args{"$HOME", "`id`", "*"});
  CHECK(shell_split("a\\ b") == Args{"a b"});
  CHECK(shell_split("a\\\nb") == Args{"ab"});
  CHECK(shell_split("''") == Args{""});
  CHECK(shell_split("  ").empty());
}

TEST_CASE("shell_split closes an unbalanced quote at the end") {
  CHECK(shell_split("a 'b c") == Args{"a", "b c"});
  CHECK(shell_split("a \"b c") == Args{"a", "b c"});
  CHECK(shell_split("a\\") == Args{"a\\"});
}
