# What dsbuild is linked with, as the targets third_party_… and those of the header-only packages. DSBUILD_PORTABLE takes
# static archives (Debian's -dev packages hold them), so that the program needs nothing but glibc: for the wheel.
option(DSBUILD_PORTABLE "Link everything but glibc statically" OFF)
if(DSBUILD_PORTABLE)
  set(OPENSSL_USE_STATIC_LIBS ON)
  add_link_options(-static-libstdc++ -static-libgcc)
endif()

find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tl-expected REQUIRED)

add_library(third_party_yaml INTERFACE)
add_library(third_party_json INTERFACE)
target_link_libraries(third_party_json INTERFACE nlohmann_json::nlohmann_json)
add_library(third_party_spdlog INTERFACE)
add_library(third_party_minizip INTERFACE)
find_path(minizip_headers minizip/zip.h REQUIRED)
target_include_directories(third_party_minizip SYSTEM INTERFACE ${minizip_headers})
add_library(third_party_zlib INTERFACE)
find_path(zlib_headers zlib.h REQUIRED)
target_include_directories(third_party_zlib SYSTEM INTERFACE ${zlib_headers})
add_library(third_party_zstd INTERFACE)
find_path(zstd_headers zstd.h REQUIRED)
target_include_directories(third_party_zstd SYSTEM INTERFACE ${zstd_headers})
# Never linked: lib/remote/curl.cpp loads it.
add_library(third_party_curl INTERFACE)
find_path(curl_headers curl/curl.h REQUIRED)
target_include_directories(third_party_curl SYSTEM INTERFACE ${curl_headers})

add_library(third_party_protozero INTERFACE)
find_path(protozero_headers protozero/pbf_reader.hpp REQUIRED)
target_include_directories(third_party_protozero SYSTEM INTERFACE ${protozero_headers})

# link_archive(target name package): links the static library, which that package of Debian has.
function(link_archive target name package)
  find_library(${name}_archive NAMES lib${name}.a)
  if(NOT ${name}_archive)
    message(FATAL_ERROR "lib${name}.a is missing (Debian's ${package} has it). To link with shared libraries: "
            "-DDSBUILD_PORTABLE=OFF, with pip -C cmake.define.DSBUILD_PORTABLE=OFF")
  endif()
  target_link_libraries(${target} INTERFACE ${${name}_archive})
endfunction()

if(DSBUILD_PORTABLE)
  link_archive(third_party_yaml yaml-cpp libyaml-cpp-dev)
  link_archive(third_party_minizip minizip libminizip-dev)
  link_archive(third_party_zlib z zlib1g-dev)
  link_archive(third_party_zstd zstd libzstd-dev)
  # Debian has no archives of spdlog and fmt, but both can be used as headers alone.
  set_target_properties(spdlog::spdlog_header_only PROPERTIES
                        INTERFACE_LINK_LIBRARIES "Threads::Threads;fmt::fmt-header-only")
  target_link_libraries(third_party_spdlog INTERFACE spdlog::spdlog_header_only)
else()
  target_link_libraries(third_party_yaml INTERFACE yaml-cpp)
  find_library(minizip_library NAMES minizip REQUIRED)
  target_link_libraries(third_party_minizip INTERFACE ${minizip_library})
  find_package(ZLIB REQUIRED)
  target_link_libraries(third_party_zlib INTERFACE ZLIB::ZLIB)
  find_library(zstd_library NAMES zstd REQUIRED)
  target_link_libraries(third_party_zstd INTERFACE ${zstd_library})
  target_link_libraries(third_party_spdlog INTERFACE spdlog::spdlog)
endif()
target_link_libraries(third_party_minizip INTERFACE third_party_zlib)

# install_licences(folder): who passes on a statically linked program passes on the licences of what is in it.
function(install_licences folder)
  string(REGEX MATCH "^[0-9]+" gcc "${CMAKE_CXX_COMPILER_VERSION}")
  foreach(package IN ITEMS libyaml-cpp-dev libspdlog-dev libfmt-dev nlohmann-json3-dev libexpected-dev libcli11-dev
          libssl-dev libminizip-dev zlib1g-dev libzstd-dev libprotozero-dev libstdc++-${gcc}-dev)
    install(FILES /usr/share/doc/${package}/copyright DESTINATION ${folder} RENAME ${package} OPTIONAL)
  endforeach()
endfunction()
