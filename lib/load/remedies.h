// Why a library cannot be loaded, and what to do about it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace dsbuild {

// What installs a library that ops need and small images lack: "apt-get install libgomp1" for "libgomp.so.1";
// "" for others. Packages are Debian's and Ubuntu's.
std::string remedy_of_library(const std::string& name);
// Of those among `libraries` that have one.
std::map<std::string, std::string> remedies_of(const std::vector<std::string>& libraries);

// What to do where the loader of the C library, or Python, says `why`.
std::string remedy_of(const std::string& why);

}  // namespace dsbuild
