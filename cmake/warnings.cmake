# dsbuild_options carries the warnings and the sanitizers of what is tested, test_options those of the tests. Warnings are errors wherever the tests are built; a user's
# release build with a compiler of the future should not fail on a new one.
# -Wno-restrict, -Wno-stringop-overflow, -Wno-array-bounds: gcc 12 raises them falsely on std::string (GCC bug 105651);
# with the sanitizers -Wno-maybe-uninitialized too, on std::regex and std::function (GCC bug 105562).
add_library(dsbuild_options INTERFACE)
target_compile_options(dsbuild_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
                       $<$<BOOL:${DSBUILD_TESTS}>:-Werror>)
if(DSBUILD_SANITIZE)
  target_compile_options(dsbuild_options INTERFACE -fsanitize=address,undefined
                         -fno-sanitize-recover=all -fno-omit-frame-pointer
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(dsbuild_options INTERFACE -fsanitize=address,undefined)
endif()

# Of the tests' own code, less than half the time: it takes longer to compile than all that it tests.
add_library(test_options INTERFACE)
target_compile_options(test_options INTERFACE $<TARGET_PROPERTY:dsbuild_options,INTERFACE_COMPILE_OPTIONS>)
target_link_options(test_options INTERFACE $<TARGET_PROPERTY:dsbuild_options,INTERFACE_LINK_OPTIONS>)
if(DSBUILD_SANITIZE)
  target_compile_options(test_options INTERFACE -fno-sanitize=undefined -O0)
endif()
