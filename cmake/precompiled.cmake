# precompile(target owner): the target's files start with the headers below, precompiled once, for `owner`, a target with
# the same flags. They are those that most files include, and only such as never change. A file still includes what it
# uses: -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON compiles without them.
set(precompiled_headers <algorithm> <array> <charconv> <chrono> <cstdint> <filesystem> <functional> <map> <memory> <optional>
    <set> <string> <string_view> <utility> <variant> <vector> <tl/expected.hpp>)

function(precompile target owner)
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${precompiled_headers} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
  # ccache asks for it: a preprocessed file must name what is precompiled.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()
