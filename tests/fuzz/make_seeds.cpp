// make_seeds FOLDER: what the fuzzers of the readers of binary files begin with, in FOLDER/<subject>.
#include <filesystem>
#include <fstream>

#include "support/files_of_all_kinds.h"

namespace {

void write_all(const std::filesystem::path& folder, const std::vector<std::string>& seeds) {
  std::filesystem::create_directories(folder);
  for (size_t i = 0; i < seeds.size(); ++i)
    std::ofstream(folder / ("by_hand_" + std::to_string(i)), std::ios::binary) << seeds[i];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  using namespace dsbuild::samples;
  const std::filesystem::path folder = argv[1];
  write_all(folder / "binary", files_of_all_kinds());
  write_all(folder / "bundle", offload_sections());
  write_all(folder / "fatbin",
            {container({entry(k_elf, 70), entry(k_elf, 90, 0x108011), entry(k_ptx, 80)}),
             container({concatenated({{.size = 8}, {.size = 8, .has_table = true}}, zeros(8))})});
  write_all(folder / "arch_list", {"8.0;9.0a+PTX", "gfx90a:xnack+;gfx9-4-generic;gfx1100",
                                   "pvc,dg2-g10,spir64", "8.0+PTX,gfx942,pvc"});
  return 0;
}
