// Tells what to do if a library cannot be loaded.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace dsbuild {

// The command that installs a library that ops need and small container images lack: "apt-get install
// libgomp1" for "libgomp.so.1"; "" for others. Packages are Debian's and Ubuntu's.
std::string remedy_of_library(const std::string& name);
// The remedies of those libraries that have one, by name.
std::map<std::string, std::string> remedies_of(const std::vector<std::string>& libraries);

// What to do after this message of the dynamic loader or of Python.
std::string remedy_of(const std::string& why);

}  // namespace dsbuild
