// Golden: c++filt.
#include <catch2/catch.hpp>

#include "base/demangle.h"

using namespace dsbuild;

TEST_CASE("Names of C++ functions are shown as they were written, others as they are") {
  CHECK(demangled("_Z5plainIfEvPT_") == "void plain<float>(float*)");
  CHECK(demangled("_ZN12_GLOBAL__N_14kernEPKfi") == "(anonymous namespace)::kern(float const*, int)");
  CHECK(demangled("_Z5heavyPfi$3") == "_Z5heavyPfi$3");
  CHECK(demangled("_Z") == "_Z");
  CHECK(demangled("i") == "i");
  CHECK(demangled("extern_c_kernel") == "extern_c_kernel");
  CHECK(demangled("") == "");
}
