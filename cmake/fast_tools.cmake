# DSBUILD_FAST_TOOLS, for who edits and builds all day: ccache compiles and lld links, each where it is installed.
option(DSBUILD_FAST_TOOLS "Use ccache and lld where they are installed" OFF)
if(DSBUILD_FAST_TOOLS)
  find_program(ccache_program ccache)
  find_program(lld_program ld.lld)
  if(ccache_program AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
        CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${ccache_program})
  endif()
  if(lld_program)
    add_link_options(-fuse-ld=lld)
  endif()
endif()
