// A place in a text file, as in messages of compilers and of dsbuild.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace dsbuild {

struct Place {
  std::string file;
  int line = 0;    // from 1; 0: not known
  int column = 0;  // from 1; 0: not known
  bool operator==(const Place&) const = default;
};

// The place that a line begins with: "a.yaml:3:7", "a.cpp:3: error: …", "a.cu(3): error: …". nullopt when it
// begins with something else.
std::optional<Place> parse_place(std::string_view line);

// The path from a folder to a file that lies below it; nullopt for one that does not. Both absolute.
std::optional<std::filesystem::path> path_below(const std::filesystem::path& folder,
                                                const std::filesystem::path& file);

}  // namespace dsbuild
