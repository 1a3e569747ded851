// Any bytes as an op.yaml: the YAML reader and the spec reader, with no file on disk that it could name.
#include "fakes/fake_file_system.h"
#include "registry/registry.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  dsbuild::FakeFileSystem files;
  files.add_file("/pack/a.cu", "");
  files.add_file("/pack/b.cpp", "");
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)dsbuild::parse_op_spec(text, "/pack/op.yaml", files, "/pack");
  return 0;
}
