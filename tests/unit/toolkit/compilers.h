// A machine in memory with a C++ compiler and all that it is made of.
#pragma once

#include "toolkit/tool_parts.h"
#include "unit/toolkit/machine.h"

namespace dsbuild {

// A compiler whose folders, in this order, are /first and /own; its parts lie in /own.
struct Compilers : Machine {
  const Path compiler = "/usr/bin/g++";

  Compilers() {
    add_compiler(compiler, gcc_says("12.2.0"));
    for (const char* part : {"cc1plus", "collect2", "as", "ld"})
      files.add_file(Path("/own") / part, k_machine_code + part, true);
    processes.on({"/usr/bin/g++"}, "");
    processes.on(
        {"/usr/bin/g++", "-c"},
        FakeProcessRunner::succeeded("", "COLLECT_GCC=/usr/bin/g++\n /own/cc1plus -quiet\n /own/as\n"));
    processes.on({"/usr/bin/g++", "-shared"},
                 FakeProcessRunner::succeeded("", " /own/collect2 -L/lib/own\n"));
    processes.on({"/usr/bin/g++", "-print-prog-name=as"}, "/own/as\n");
    processes.on({"/usr/bin/g++", "-print-prog-name=ld"}, "/own/ld\n");
    for (const char* part : {"collect2", "as", "ld"})
      processes.on({part}, FakeProcessRunner::failed("statically linked"));
    add_library("/lib/libisl.so.23");
    processes.on({"/usr/bin/g++", "-print-search-dirs"},
                 "install: /own/\nprograms: =/first/:/own/\nlibraries: =/lib/first/:/lib/own/\n");
    processes.on({"/usr/bin/g++", "-Wl,--help"}, "  --dependency-file=FILE Write dependency file\n");
    processes.on({"/usr/bin/g++", "-Wa,--help"}, "  --MD FILE  write dependency information\n");
    processes.on({"/usr/bin/g++", "-E"},
                 FakeProcessRunner::succeeded("",
                                              "ignoring nonexistent directory \"/opt/include\"\n"
                                              "#include <...> search starts here:\n /usr/include\n"
                                              "End of search list.\n"));
  }

  // One that cc1plus loads from now on.
  void add_library(const Path& library) {
    files.add_file(library, library.string());
    processes.on({"/own/cc1plus"},
                 "\tlibisl.so.23 => " + library.string() + " (0x7f)\n\tlibno.so => not found\n");
  }

  // It starts another one, which it cannot where it is to answer alone; that one has an option.
  void make_wrapper(const std::string& option) {
    processes.on({"/usr/bin/g++", "-c"}, [option](const Command& command) {
      if (command.is_alone) return FakeProcessRunner::failed("Permission denied");
      return FakeProcessRunner::succeeded(
          "", "COLLECT_GCC=/usr/bin/g++\n /own/cc1plus -quiet " + option + " -o /tmp/ccAb12Cd.s\n");
    });
  }

  // As a new process would see it.
  Result<ToolText> ask() {
    Known known(*this);
    HostCompilerParts hosts;
    auto parts = hosts.of(compiler, system, known.facts, known.digests);
    known.facts.save();
    return parts;
  }
};

}  // namespace dsbuild
