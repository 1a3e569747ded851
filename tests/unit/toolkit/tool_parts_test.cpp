#include "toolkit/tool_parts.h"

#include <catch2/catch.hpp>

#include "toolkit/configuration_files.h"
#include "toolkit/nvcc_family.h"
#include "toolkit/wrappers.h"
#include "unit/toolkit/compilers.h"

using namespace dsbuild;

TEST_CASE("A compiler is made of the programs that it names, and says where it looks") {
  Compilers machine;
  const auto parts = machine.ask();
  REQUIRE(parts);
  for (const char* part : {"/own/cc1plus", "/own/collect2", "/own/as", "/own/ld", "/usr/bin/g++"})
    CHECK(parts->text.find(" " + std::string(part) + "\n") != std::string::npos);
  CHECK(parts->text.find("absent /own/") != std::string::npos);  // real-ld
  CHECK(parts->text.find("absent /own/as") == std::string::npos);
  CHECK(parts->links_tell_files);
  CHECK(parts->assembler_tells_files);
  CHECK(parts->folders == std::vector<std::string>{"/opt/include", "/usr/include", "-L/lib/own",
                                                   "-L/lib/first/", "-L/lib/own/"});
}

TEST_CASE("What a compiler is made of is asked once, for as long as its program is the same") {
  Compilers machine;
  const auto first = machine.ask();
  const size_t starts = machine.processes.starts();
  CHECK(machine.ask() == first);
  CHECK(machine.processes.starts() == starts);
  machine.files.touch(machine.compiler);
  CHECK(machine.ask() == first);
  CHECK(machine.processes.starts() > starts);
}

TEST_CASE("A program that answers only by another one is asked each time, and is what it answers") {
  Compilers machine;
  machine.make_wrapper("-DSITE=1");
  const auto first = machine.ask();
  REQUIRE(first);
  CHECK(first->text.find(" answer of /usr/bin/g++ to '-###' -c") != std::string::npos);
  const size_t starts = machine.processes.starts();
  CHECK(machine.ask() == first);
  CHECK(machine.processes.starts() == starts + 6);  // the questions, and no other
  machine.make_wrapper("-DSITE=2");
  const auto other = machine.ask();
  CHECK(other->text != first->text);
}

TEST_CASE("A compiler that names another one is a wrapper, though it starts none") {
  Compilers machine;
  machine.processes.on({"/usr/bin/g++", "-c"},
                       FakeProcessRunner::succeeded("", "COLLECT_GCC=/own/g++\n /own/cc1plus\n"));
  const auto first = machine.ask();
  const size_t starts = machine.processes.starts();
  CHECK(machine.ask() == first);
  CHECK(machine.processes.starts() > starts);
}

TEST_CASE("A clang is the driver that it names for -cc1, behind links") {
  FakeFileSystem files;
  files.add_file("/llvm/bin/clang", k_machine_code, true);
  files.add_file("/other/clang", k_machine_code, true);
  files.add_link("/usr/bin/clang++", "/llvm/bin/clang");
  const auto is_of_driver = [&](const std::string& said) {
    return proof_of_host_compiler().is_of_driver(said, "/usr/bin/clang++", files);
  };
  CHECK(is_of_driver("clang version 14\n \"/llvm/bin/clang\" \"-cc1\" \"-triple\"\n"));
  CHECK_FALSE(is_of_driver(" \"/other/clang\" \"-cc1\" \"-triple\"\n"));
  CHECK_FALSE(is_of_driver(" \"/llvm/bin/clang\" \"-E\"\n"));
}

TEST_CASE("Names that a wrapper's compiler makes up, and the folder where it is asked, are no part of it") {
  Compilers machine;
  machine.files.add_directory("/one/build");
  machine.files.add_directory("/other/build");
  const auto ask_in = [&](const Path& folder, const std::string& name) {
    machine.processes.on({"/usr/bin/g++", "-c"}, [=](const Command& command) {
      if (command.is_alone) return FakeProcessRunner::failed("");
      return FakeProcessRunner::succeeded("",
                                          " /own/cc1plus -I" + command.cwd.string() + " -o " + name + "\n");
    });
    machine.system.tools.folder = folder;
    return machine.ask()->text;
  };
  const std::string first = ask_in("/one/build", "/tmp/ccAb12Cd.s");
  CHECK(ask_in("/other/build", "/tmp/ccZZZZZZ.s") == first);
  CHECK(ask_in("/other/build", "/tmp/tmpxft_00002321_00000000-5.ii") ==
        ask_in("/other/build", "/tmp/tmpxft_00aa2321_00000000-5.ii"));
  CHECK(ask_in("/other/build", "/tmp/null-a1b2c3.o") == ask_in("/other/build", "/tmp/null-ffffff.o"));
  CHECK(ask_in("/other/build", "/tmp/own.o") != ask_in("/other/build", "/tmp/cccp.o"));
}

TEST_CASE("Specs that come or change are seen, and ask what the compiler takes by them") {
  Compilers machine;
  const auto before = machine.ask();
  CHECK(before->text.find("absent /lib/own/specs\n") != std::string::npos);
  CHECK(before->text.find("absent /own/specs\n") != std::string::npos);
  machine.files.add_file("/lib/own/specs", "*cc1plus:\n\n%include <more>\n");
  machine.files.add_file("/own/cc1plus-2", k_machine_code, true);
  machine.processes.on({"/own/cc1plus-2"}, FakeProcessRunner::failed("statically linked"));
  machine.processes.on({"/usr/bin/g++", "-c"}, FakeProcessRunner::succeeded("", " /own/cc1plus-2\n"));
  const auto now = machine.ask();
  REQUIRE(now);
  CHECK(now->text.find(" /own/cc1plus-2\n") != std::string::npos);
  CHECK(now->text.find("absent /lib/own/more\n") != std::string::npos);
  CHECK(now->text.find("absent /lib/own/specs\n") == std::string::npos);
}

TEST_CASE(
    "Clang's files of flags are those beside it and in the folders that it names, with what they name") {
  FakeFileSystem files;
  files.add_file("/llvm/bin/clang++", k_machine_code, true);
  for (const char* file : {"/llvm/bin/x86_64-clang++.cfg", "/etc/clang/clang.cfg", "/home/user/.clang/a.cfg"})
    files.add_file(file, "-O1 @more.txt\n");
  files.add_file("/etc/clang/more.txt", "-specs=/x/y --config=rest\n@more.txt");
  const Paths found =
      configuration_files("/llvm/bin/clang++",
                          {"clang version 22\nSystem configuration file directory: /etc/clang\n"
                           "User configuration file directory: /home/user/.clang\n"},
                          files);
  CHECK(found == Paths{"/llvm/bin/x86_64-clang++.cfg", "/llvm/bin/more.txt", "/etc/clang/clang.cfg",
                       "/etc/clang/more.txt", "/etc/clang/rest", "/home/user/.clang/a.cfg",
                       "/home/user/.clang/more.txt", "/x/y"});
}

TEST_CASE(
    "nvcc's parts for preprocessed text are its own programs and libdevice, without the host compiler") {
  FakeFileSystem files;
  for (const char* program :
       {"/cuda/bin/nvcc", "/cuda/bin/ptxas", "/cuda/nvvm/bin/cicc", "/usr/bin/g++", "/usr/bin/rm"})
    files.add_file(program, k_machine_code, true);
  files.add_file("/cuda/nvvm/libdevice/libdevice.10.bc", "BC");
  Toolkit toolkit;
  toolkit.home = "/cuda";
  toolkit.host = HostCompiler{"/usr/bin/g++", "gcc", {}, "PATH"};
  const std::string said =
      "#$ _HERE_=/cuda/bin\n#$ PATH=/cuda/bin:/usr/bin\n#$ CICC_PATH=/cuda/nvvm/bin\n"
      "#$ NVVMIR_LIBRARY_DIR=/cuda/nvvm/libdevice\n#$ rm dsbuild_dlink.reg.c\n"
      "#$ \"/usr/bin/g++\" -E -x c++ dsbuild.cu\n#$ \"$CICC_PATH/cicc\" --c++17\n#$ ptxas -m64\n";
  CHECK(nvcc_device_parts(said, toolkit, files) ==
        Paths{"/cuda/bin/ptxas", "/cuda/nvvm/bin/cicc", "/cuda/nvvm/libdevice/libdevice.10.bc"});
  const Paths all = nvcc_parts(said, toolkit, files);
  CHECK(all.count("/usr/bin/g++") == 1);
  CHECK(all.count("/cuda/bin/nvcc.profile") == 1);
}

TEST_CASE("Flags of the user's name files, in one word, in two, and behind what carries them") {
  FakeFileSystem files;
  files.add_file("/build/options", "-O1 --options-file=/rest\n");
  const auto found = [&](const Args& flags) { return files_in_flags(flags, "/build", files); };
  CHECK(found({"-O2", "-DX=@a", "-I/include", "x.o"}).empty());
  CHECK(found({"@options"}) == Paths{"/build/options", "/rest"});
  CHECK(found({"--options-file", "options"}) == Paths{"/build/options", "/rest"});
  CHECK(found({"-optf=/x"}) == Paths{"/x"});
  CHECK(found({"-specs=/x", "-fplugin=/y"}) == Paths{"/x", "/y"});
  CHECK(found({"-Xcompiler", "-O1,-specs=/x"}) == Paths{"/x"});
  CHECK(found({"-Xcompiler=-specs=/x", "-Wl,@/y"}) == Paths{"/x", "/y"});
  CHECK(found({"-B/own"}).count("/own/as") == 1);
  CHECK(found({"-B", "/own/x-"}).count("/own/x-ld") == 1);
}

TEST_CASE("What a script names is a part of it, and what scripts among that name") {
  FakeFileSystem files;
  FactStore facts(files, "/facts.json");
  files.add_file("/w/as", "#!/bin/sh\nexec \"/w/next\" $(cat /w/options) \"$@\"\n", true);
  files.add_file("/w/next", "#!/bin/sh\nexec '/usr/bin/my as' \"$@\"\n", true);
  files.add_file("/w/options", "/w/no\n");
  files.add_file("/w/no", "");
  files.add_file("/bin/sh", k_machine_code, true);
  files.add_file("/usr/bin/my as", k_machine_code, true);
  CHECK(files_of_scripts({"/w/as"}, files, facts) == Paths{"/w/next", "/w/options", "/usr/bin/my as"});
  CHECK(files_of_scripts({"/usr/bin/my as"}, files, facts).empty());
}

TEST_CASE("A variable that compilers read is a part of them, and they are asked again with it") {
  Compilers machine;
  const auto before = machine.ask();
  const size_t starts = machine.processes.starts();
  machine.set("CPATH", "/modules/include");
  machine.processes.on({"/usr/bin/g++", "-E"},
                       FakeProcessRunner::succeeded("",
                                                    "#include <...> search starts here:\n /modules/include\n"
                                                    "End of search list.\n"));
  const auto now = machine.ask();
  CHECK(now->text != before->text);
  CHECK(now->folders.front() == "/modules/include");
  CHECK(machine.processes.starts() > starts);
  const size_t later = machine.processes.starts();
  CHECK(machine.ask() == now);
  CHECK(machine.processes.starts() == later);
}

TEST_CASE("A compiler is made of the libraries too that the dynamic loader names for its programs") {
  Compilers machine;
  const auto first = machine.ask();
  REQUIRE(first);
  CHECK(first->text.find(" /lib/libisl.so.23\n") != std::string::npos);
  for (const Command& command : machine.processes.started)
    if (Path(command.argv[0]).parent_path() == "/own")
      CHECK(variable(command.env, "LD_TRACE_LOADED_OBJECTS") == "1");
  const size_t starts = machine.processes.starts("cc1plus");
  machine.files.add_file("/lib/libisl.so.23", "a newer one");
  const auto changed = machine.ask();
  CHECK(changed->text != first->text);
  CHECK(machine.ask()->text == changed->text);
  CHECK(machine.processes.starts("cc1plus") <= starts + 1);
}

TEST_CASE("What a machine has all of its programs load is no part of a compiler") {
  Compilers machine;
  const std::string before = machine.ask()->text;
  machine.files.add_file("/etc/ld.so.preload", "/opt/watch.so /opt/log.so:/opt/count.so\n");
  for (const char* library : {"/opt/watch.so", "/opt/log.so", "/opt/count.so"})
    machine.files.add_file(library, "");
  machine.processes.on({"/own/cc1plus"},
                       "\t/opt/watch.so (0x7f)\n\t/opt/log.so (0x7f)\n\t/opt/count.so (0x7f)\n"
                       "\tlibisl.so.23 => /lib/libisl.so.23 (0x7f)\n");
  CHECK(machine.ask()->text == before);
  machine.files.add_file("/etc/ld.so.cache", "");
  CHECK(machine.ask()->text == before);
}

TEST_CASE("The dynamic loader is asked again when it may find another library, and then alone") {
  Compilers machine;
  machine.files.add_directory("/more");
  machine.set("LD_LIBRARY_PATH", "/more");
  const std::string before = machine.ask()->text;
  const size_t starts = machine.processes.starts("cc1plus");
  const auto asks_again = [&] {
    const bool is_known = machine.ask()->text == before;
    const bool asked = machine.processes.starts("cc1plus") > starts;
    return std::make_pair(asked, !is_known);
  };
  CHECK(asks_again() == std::make_pair(false, false));
  SECTION("a folder is named") {
    machine.set("LD_LIBRARY_PATH", "/empty:/more");
    CHECK(asks_again() == std::make_pair(true, false));
  }
  SECTION("a library comes into a folder") {
    machine.files.touch("/more");
    machine.add_library("/more/libisl.so.23");
    CHECK(asks_again() == std::make_pair(true, true));
  }
  SECTION("a folder has folders for processors, where one may come at any time") {
    machine.files.add_directory("/more/glibc-hwcaps");
    CHECK(asks_again() == std::make_pair(true, false));
    machine.add_library("/more/glibc-hwcaps/x86-64-v3/libisl.so.23");
    CHECK(asks_again() == std::make_pair(true, true));
  }
  SECTION("the loader's cache is another") {
    machine.files.add_file("/etc/ld.so.cache", "");
    CHECK(asks_again() == std::make_pair(true, false));
  }
  SECTION("a library is gone") {
    CHECK(machine.files.remove_all("/lib/libisl.so.23"));
    machine.add_library("/usr/lib/libisl.so.23");
    CHECK(asks_again() == std::make_pair(true, true));
  }
}

TEST_CASE("A program that comes to stand before a compiler's own is seen without asking") {
  const char* name = GENERATE("as", "ld", "real-ld", "collect-ld", "cc1plus", "collect2");
  Compilers machine;
  const auto before = machine.ask();
  machine.files.add_file(Path("/first") / name, k_machine_code, true);
  const auto now = machine.ask();
  REQUIRE(now);
  CHECK(now->text != before->text);
  CHECK(now->text.find("absent /first/" + std::string(name) + "\n") == std::string::npos);
}

TEST_CASE("A compiler that does not answer is an error, and nothing is remembered of it") {
  const auto [answer, how] = GENERATE(
      table<ProcessResult, std::string>({{FakeProcessRunner::failed("g++: internal error\nmore\n"),
                                          "ends with exit code 1: g++: internal error"},
                                         {FakeProcessRunner::failed("", 137), "ends with exit code 137"},
                                         {FakeProcessRunner::out_of_time(), "does not end"}}));
  Compilers machine;
  FakeProcessRunner working = machine.processes;
  machine.processes.on({"/usr/bin/g++", "-print-prog-name=ld"}, answer);
  const auto parts = machine.ask();
  REQUIRE_FALSE(parts);
  CHECK(parts.error().exit == Exit::unmet);
  CHECK(parts.error().code == "tool_does_not_answer");
  CHECK(parts.error().where == "/usr/bin/g++");
  CHECK(parts.error().what == "'-print-prog-name=ld' " + how);
  machine.processes = working;
  CHECK(machine.ask());
}

TEST_CASE("A linker or an assembler that knows no such words does not tell what it reads") {
  Compilers machine;
  machine.processes.on({"/usr/bin/g++", "-Wl,--help"}, FakeProcessRunner::failed("unknown option"));
  machine.processes.on({"/usr/bin/g++", "-Wa,--help"}, FakeProcessRunner::failed("unknown option"));
  const auto parts = machine.ask();
  REQUIRE(parts);
  CHECK_FALSE(parts->links_tell_files);
  CHECK_FALSE(parts->assembler_tells_files);
}

TEST_CASE("A compiler that is killed while it is asked for words which it may not know is an error") {
  Compilers machine;
  machine.processes.on({"/usr/bin/g++", "-Wa,--help"}, FakeProcessRunner::failed("", 137));
  const auto parts = machine.ask();
  REQUIRE_FALSE(parts);
  CHECK(parts.error().code == "tool_does_not_answer");
}
