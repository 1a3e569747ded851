#include "requirements/torch.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

// As the wheels of torch 2.8 and 2.1 have it.
TEST_CASE("torch/version.py says the versions of torch, CUDA and HIP") {
  CHECK(parse_torch_version_file("from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda']\n"
                                 "__version__ = '2.8.0+cu128'\ndebug = False\ncuda: Optional[str] = '12.8'\n"
                                 "git_version = 'a1cb3cc0'\nhip: Optional[str] = None\n") ==
        Torch{"", "2.8.0+cu128", "12.8", ""});
  CHECK(parse_torch_version_file("__version__ = \"2.1.0+rocm5.6\"\ncuda = None\nhip = '5.6.31061'\n") ==
        Torch{"", "2.1.0+rocm5.6", "", "5.6.31061"});
}

TEST_CASE("A version.py of another kind says nothing") {
  const char* text = GENERATE("", "import os\n", "__version__ = read()\ncuda\n", "__version__ = '\n");
  CHECK(parse_torch_version_file(text) == Torch{});
}
