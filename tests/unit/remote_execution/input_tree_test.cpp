#include "remote_execution/input_tree.h"

#include <catch2/catch.hpp>

#include "base/digest.h"
#include "fakes/fake_file_system.h"

namespace dsbuild {
namespace {

// Digests of directories are by Google's protobuf 7.36 for Python and the classes of BuildGrid 0.8.16.
const ReapiDigest k_tools_root = {"a38156e32effbd91f82fc9aec50f328a337fee8f63571b0ad790c40ddb3bd321", 322};

class Toolkit {
 public:
  Toolkit() {
    add("/cuda/bin/ptxas", "ptxas");
    add("/cuda/nvvm/bin/cicc", "cicc!");
    add("/lib/libc.so.6", "libc");
    add("/lib64/ld-linux-x86-64.so.2", "loader");
    add("/cuda/nvvm/libdevice/libdevice.10.bc", "bitcode");
  }
  void add(const std::string& path, const std::string& bytes) {
    files.add_file(path, bytes);
    parts += sha256(bytes) + " " + path + "\n";
  }

  FakeFileSystem files;
  std::string parts;
};

}  // namespace

TEST_CASE("the folder of tools is the Directory that Google's protobuf makes") {
  const Toolkit toolkit;
  const RemoteTools tools(toolkit.parts, toolkit.files);
  CHECK(tools.why_none() == "");
  CHECK(tools.root() == k_tools_root);
  // Five files, and the directories lib, libdevice and tools, the last of which is the root.
  REQUIRE(tools.blobs().size() == 8);
  for (const TreeBlob& blob : tools.blobs())
    CHECK(blob.digest == digest_of(blob.file.empty() ? blob.bytes : *toolkit.files.read_file(blob.file)));
  CHECK(tools.blobs().back().digest == k_tools_root);
}

TEST_CASE("the input root is the Directory that Google's protobuf makes, and all that it names is sent") {
  const std::map<std::string, ReapiDigest> work = {{"b.txt", digest_of("")}, {"a.ii", digest_of("text")}};
  std::vector<TreeBlob> blobs;
  const ReapiDigest root = input_root(k_tools_root, work, blobs);
  CHECK(root == ReapiDigest{"a28fbf7a561e54cbafec00a7132edb467d08cff661b9f98da75372afae15190e", 234});
  REQUIRE(blobs.size() == 3);  // work, tmp, the root
  CHECK(blobs.back().digest == root);
  blobs.clear();
  CHECK(input_root(std::nullopt, work, blobs) ==
        ReapiDigest{"7079bae859723bc206a548c5c86ee9727c7a51518c8ad6d2c659c56bd769326f", 154});
}

TEST_CASE("a tool is started by the tree's own loader, with relative paths alone") {
  const Toolkit toolkit;
  const RemoteTools tools(toolkit.parts, toolkit.files);
  CHECK(tools.remote_words({"/cuda/bin/ptxas", "-o", "a.cubin"}) ==
        std::vector<std::string>{"../tools/lib/ld-linux-x86-64.so.2", "--library-path", "../tools/lib",
                                 "../tools/ptxas", "-o", "a.cubin"});
  CHECK(tools.remote_environment() ==
        Environment{{"NVVMIR_LIBRARY_DIR", "../tools/libdevice"}, {"TMPDIR", "../tmp"}});
  CHECK_FALSE(tools.are_at_worker());
}

TEST_CASE("tools that the workers have are started where they lie there") {
  const Toolkit toolkit;
  const RemoteTools tools(toolkit.parts, toolkit.files, "/opt/cuda");
  CHECK(tools.are_at_worker());
  CHECK(tools.remote_words({"cicc", "x"}) == std::vector<std::string>{"/opt/cuda/nvvm/bin/cicc", "x"});
  CHECK(tools.remote_environment().at("NVVMIR_LIBRARY_DIR") == "/opt/cuda/nvvm/libdevice");
  CHECK(tools.programs_at_worker() ==
        std::map<std::string, std::string>{{"/opt/cuda/bin/ptxas", sha256("ptxas")},
                                           {"/opt/cuda/nvvm/bin/cicc", sha256("cicc!")}});
}

TEST_CASE("a program is one of the tools by its name, or by a path that leads to the very file") {
  Toolkit toolkit;
  toolkit.files.add_link("/links/ptxas", "/cuda/bin/ptxas");
  toolkit.files.add_file("/other/ptxas", "ptxas");
  const RemoteTools tools(toolkit.parts, toolkit.files);
  CHECK(tools.has_program("ptxas", toolkit.files));
  CHECK(tools.has_program("/cuda/bin/ptxas", toolkit.files));
  CHECK(tools.has_program("/links/ptxas", toolkit.files));
  CHECK_FALSE(tools.has_program("/other/ptxas", toolkit.files));
  CHECK_FALSE(tools.has_program("/nowhere/ptxas", toolkit.files));
  CHECK_FALSE(tools.has_program("nvlink", toolkit.files));
  CHECK_FALSE(tools.has_program("libc.so.6", toolkit.files));
}

TEST_CASE("tools that cannot be sent say why") {
  Toolkit toolkit;
  const std::string whole = toolkit.parts;
  toolkit.add("/other/libc.so.6", "another libc");
  CHECK(RemoteTools(toolkit.parts, toolkit.files).why_none() == "two of their files have the name libc.so.6");
  CHECK_FALSE(RemoteTools(toolkit.parts, toolkit.files).has_program("ptxas", toolkit.files));
  CHECK(RemoteTools(sha256("cicc!") + " /cuda/nvvm/bin/cicc\n", toolkit.files).why_none() ==
        "no dynamic loader is among their parts");
  CHECK(RemoteTools(whole + sha256("x") + " /gone\n", toolkit.files).why_none() == "/gone cannot be read");
  CHECK(RemoteTools("none /cuda/bin/ptxas\n" + whole, toolkit.files).why_none() ==
        "/cuda/bin/ptxas cannot be read");
  // The same file twice is none of these faults.
  CHECK(RemoteTools(whole + sha256("libc") + " /lib/libc.so.6\n", toolkit.files).root() == k_tools_root);
}

}  // namespace dsbuild
