#include "sys/process.h"

#include <fcntl.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include "sys/file_system.h"
#include "temporary_folder.h"

using namespace dsbuild;
using namespace std::chrono_literals;

namespace {

Command command(std::vector<std::string> argv) {
  Command made;
  made.argv = std::move(argv);
  made.env = {{"PATH", "/usr/bin:/bin"}};
  return made;
}

Command script(const std::string& text) {
  return command({"sh", "-c", text});
}

ProcessResult run(const Command& made) {
  return make_real_process_runner()->run(made).value();
}

}  // namespace

TEST_CASE("A process gives its two streams and its exit code") {
  const ProcessResult result = run(script("echo out; echo err >&2; exit 3"));
  CHECK(result.out == "out\n");
  CHECK(result.err == "err\n");
  CHECK(result.exit_code == 3);
  CHECK_FALSE(result.ok());
}

TEST_CASE("The peak is that of the largest process, the children of the child among them") {
  const char* const grows = "x=x; i=0; while [ $i -lt 27 ]; do x=$x$x; i=$((i+1)); done";  // 128 MiB of text
  const auto peak = [](const std::string& text) { return run(script(text)).peak_memory_bytes; };
  CHECK(peak("true") > 100 << 10);
  CHECK(peak("true") < 128 << 20);  // a new process is for a moment a copy of this one, sanitizer and all
  CHECK(peak(std::string("sh -c '") + grows + "'; true") > 128 << 20);
}

TEST_CASE("CPU time is that of the process and its children") {
  const auto time = [](const std::string& text) { return run(script(text)).cpu_milliseconds; };
  CHECK(time("sleep 0.3") < 200);
  CHECK(time("sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; true") > 20);
}

TEST_CASE("A process killed by a signal counts as 128 plus its number") {
  CHECK(run(script("kill -9 $$")).exit_code == 137);
}

TEST_CASE("Arguments arrive as they are, no shell reads them") {
  const ProcessResult result = run(command({"printf", "%s|", "a b", "$HOME", "'", "", "*"}));
  CHECK(result.out == "a b|$HOME|'||*|");
}

TEST_CASE("The child has exactly the environment given") {
  Command made = command({"env"});
  made.env = {{"PATH", "/usr/bin:/bin"}, {"A", "b=c"}};
  CHECK(run(made).out == "A=b=c\nPATH=/usr/bin:/bin\n");
}

TEST_CASE("The child reads the input of the command, and without one nothing") {
  Command reads = command({"wc", "-c"});
  reads.input = std::string(1 << 20, 'x');  // more than a pipe holds
  CHECK(trim(run(reads).out) == "1048576");
  Command reads_not = script("echo done");
  reads_not.input = reads.input;
  CHECK(run(reads_not).out == "done\n");
  CHECK(run(command({"cat"})).out.empty());
}

TEST_CASE("The program is looked up in the PATH of the command") {
  Command made = command({"env"});
  made.env["PATH"] = "/nowhere";
  const auto result = make_real_process_runner()->run(made);
  REQUIRE_FALSE(result);
  CHECK(result.error().exit == Exit::unmet);
  CHECK(result.error().code == "cannot_start");
  CHECK(result.error().where == "env");
  CHECK(result.error().what == "cannot be started: it is not on PATH");
}

TEST_CASE("What cannot be executed cannot be started") {
  const auto absent = make_real_process_runner()->run(command({"/no/such/program"}));
  REQUIRE_FALSE(absent);
  CHECK(absent.error().where == "/no/such/program");
  CHECK(absent.error().what == "cannot be started: No such file or directory");
  CHECK(make_real_process_runner()->run(command({"/etc/passwd"})).error().code == "cannot_start");
  CHECK(make_real_process_runner()->run(command({})).error().code == "cannot_start");
}

TEST_CASE("The child runs in the folder given") {
  const TemporaryFolder folder;
  Command made = command({"pwd", "-P"});
  made.cwd = folder.path();
  CHECK(run(made).out == std::filesystem::canonical(folder.path()).string() + "\n");
  made.cwd = folder / "absent";
  CHECK(make_real_process_runner()->run(made).error().where == (folder / "absent").string());
}

TEST_CASE("Nothing of a large output is lost") {
  const ProcessResult result = run(script("head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2"));
  CHECK(result.out.size() == 3000000);
  CHECK(result.err.size() == 2000000);
}

TEST_CASE("At most 64 MiB of a stream are kept") {
  CHECK(run(script("head -c 70000000 /dev/zero")).out.size() == 64 << 20);
}

TEST_CASE("Standard input is empty") {
  CHECK(run(script("cat")).ok());
}

TEST_CASE("A process over its time is killed with its own children, and says so") {
  Command made = script("echo begun; sleep 30 & sleep 30; echo never");
  made.timeout = 1s;
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = run(made);
  CHECK(result.timed_out);
  CHECK_FALSE(result.ok());
  CHECK(result.out == "begun\n");
  CHECK(std::chrono::steady_clock::now() - start < 10s);
}

TEST_CASE("A process that closes its output is still waited for") {
  const auto start = std::chrono::steady_clock::now();
  CHECK(run(script("exec >&- 2>&-; sleep 0.3; exit 5")).exit_code == 5);
  CHECK(std::chrono::steady_clock::now() - start >= 250ms);
}

TEST_CASE("A process left behind with the output open is not waited for") {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = run(script("sleep 5 & echo done"));
  CHECK(result.out == "done\n");
  CHECK(std::chrono::steady_clock::now() - start < 3s);
}

TEST_CASE("A descriptor of ours does not reach the child") {
  const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  REQUIRE(descriptor > 2);
  const std::string number = std::to_string(descriptor);
  const ProcessResult result = run(script("test -e /proc/self/fd/" + number + " && echo open"));
  CHECK(result.out.empty());
  ::close(descriptor);
}

TEST_CASE("A program that is to be alone answers by itself, and starts no other one") {
  Command alone = command({"/usr/bin/env", "printf", "%s", "another"});
  CHECK(run(alone).out == "another");
  alone.is_alone = true;
  CHECK_FALSE(run(alone).ok());
  CHECK(run(alone).out.empty());
  alone.argv = {"/usr/bin/printf", "%s", "itself"};
  CHECK(run(alone).out == "itself");
  alone.argv = {"/bin/sh", "-c", "echo itself; /usr/bin/printf other"};
  CHECK(run(alone).out == "itself\n");
}

TEST_CASE("A script cannot be alone: its interpreter is another program") {
  const TemporaryFolder folder;
  const Path script_file = folder / "script";
  REQUIRE(make_real_file_system()->write_file(script_file, "#!/bin/sh\necho started\n"));
  std::filesystem::permissions(script_file, std::filesystem::perms::owner_all);
  Command alone = command({script_file.string()});
  CHECK(run(alone).out == "started\n");
  alone.is_alone = true;
  const auto result = make_real_process_runner()->run(alone);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == "cannot_start");
}
