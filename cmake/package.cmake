# `cpack -G DEB` in the build folder of the preset `package`: dsbuild for Debian 12 and newer, which have its Ninja.
set(DSBUILD_MAINTAINER "dsbuild developers <dsbuild@example.org>" CACHE STRING "Who answers for the package: NAME <ADDRESS>")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dsbuild)
set(CPACK_PACKAGE_CONTACT ${DSBUILD_MAINTAINER})
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "ahead-of-time builder for collections of GPU operators")
set(CPACK_PACKAGE_DESCRIPTION [[
dsbuild builds many operators for many GPU architectures in one parallel
Ninja graph, into a bundle of fat shared libraries, and proves that the
finished binaries hold exactly what was asked for. It needs no GPU, no
torch and no Python to build. CUDA is not part of this package: dsbuild
finds or fetches a toolkit.]])
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# CPack alone runs ldconfig in scripts; lintian wants the trigger.
file(WRITE ${PROJECT_BINARY_DIR}/debian/shlibs "libdsbuild 0 dsbuild\n")
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/shlibs ${PROJECT_BINARY_DIR}/debian/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "ninja-build (>= 1.11)")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, python3-pip")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libaio-dev, nvidia-cuda-toolkit")
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian_files.cmake)
# debian_files.cmake needs them.
set(CPACK_DSBUILD_SOURCES ${PROJECT_SOURCE_DIR})
include(CPack)
