# Warnings are errors; one interface target carries them and the sanitizers.
add_library(dsbuild_options INTERFACE)
target_compile_options(dsbuild_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror)
if(DSBUILD_SANITIZE)
  target_compile_options(dsbuild_options INTERFACE -fsanitize=address,undefined
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(dsbuild_options INTERFACE -fsanitize=address,undefined)
endif()
