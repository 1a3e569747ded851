# find_commit(VARIABLE): the git commit of the sources: $DSBUILD_COMMIT where that is set, for builds without git; "" where the
# sources are no checkout. A new commit configures again.
function(find_commit variable)
  set(commit "$ENV{DSBUILD_COMMIT}")
  find_program(DSBUILD_GIT git)
  mark_as_advanced(DSBUILD_GIT)
  if(NOT commit AND DSBUILD_GIT AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
    execute_process(COMMAND ${DSBUILD_GIT} -C ${PROJECT_SOURCE_DIR} rev-parse HEAD OUTPUT_VARIABLE commit
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(EXISTS ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)
      set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                   ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)
    endif()
  endif()
  set(${variable} "${commit}" PARENT_SCOPE)
endfunction()
