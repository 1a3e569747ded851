# What Debian wants in a package besides what `cmake --install` lays out; CPack includes this before it packs.
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
set(doc ${share}/doc/dsbuild)

function(gzip file)
  execute_process(COMMAND gzip --best --no-name --force ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# One entry: what changed is told by the project's own history.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH, where it is set
file(WRITE ${doc}/changelog "dsbuild (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n  * Release ${CPACK_PACKAGE_VERSION}.\n\n"
     " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
gzip(${doc}/changelog)
gzip(${share}/man/man1/dsbuild.1)

# The licences of what is linked in lie beside the program's data, as in the wheel.
file(WRITE ${doc}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: dsbuild

Files: *
Copyright: 2025-2026 the dsbuild developers
License: Apache-2.0
 On Debian systems the full text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
 .
 The program is linked statically with libraries under other licences, whose
 texts are in /usr/share/dsbuild/licences.
")
file(COPY ${CPACK_DSBUILD_SOURCES}/THIRD_PARTY_NOTICES.md DESTINATION ${doc})
file(WRITE ${share}/lintian/overrides/dsbuild "# One package for Debian 12 and 13, whose shared libraries have different names.\n"
     "dsbuild: embedded-library *zlib*\n")
