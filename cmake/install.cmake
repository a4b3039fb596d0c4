# Everything that cmake --install puts in place: libraries, headers, bough.pc, the CMake package, the program with its
# manual pages, completions and viewer, and the examples. docs/install.md tells users, tools/check_install.sh tests it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# It grows by one with every version that breaks programs which were linked before (docs/versioning.md).
set(BOUGH_SOVERSION 0)

# ---- libraries ----

# Each shared library stands alone: libbough.so holds the runtime, too. libbough calls functions inside of the runtime,
# which a libbough_rt.so beside it would have to export.
function(add_shared name output)
  add_library(${name} SHARED ${ARGN})
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${output} VERSION ${PROJECT_VERSION}
    SOVERSION ${BOUGH_SOVERSION} LINKER_LANGUAGE C)
  target_include_directories(${name} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} PRIVATE Threads::Threads m)
  # Visibility hides all but bough_..(); the compiler shows those that it chooses for the processor nevertheless.
  set(exported ${PROJECT_SOURCE_DIR}/cmake/exported.map)
  target_link_options(${name} PRIVATE -Wl,--no-undefined -Wl,-Bsymbolic-functions -Wl,--as-needed
    -Wl,--version-script=${exported})
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${exported})
endfunction()

# A sanitizer's functions come with the program; code that is not position-independent cannot be shared.
set(shared_rt)
set(shared_full)
if(NOT BOUGH_SANITIZE AND NOT BOUGH_FUZZ AND CMAKE_POSITION_INDEPENDENT_CODE)
  set(shared_rt bough_rt_shared)
  add_shared(bough_rt_shared bough_rt $<TARGET_OBJECTS:bough_rt>)
  set_target_properties(bough_rt_shared PROPERTIES EXPORT_NAME rt)
  if(NOT BOUGH_RUNTIME_ONLY)
    set(shared_full bough_full_shared)
    add_shared(bough_full_shared bough $<TARGET_OBJECTS:bough_rt> $<TARGET_OBJECTS:bough_full>)
    set_target_properties(bough_full_shared PROPERTIES EXPORT_NAME full)
    target_link_libraries(bough_full_shared PRIVATE SuiteSparse::Cholmod SuiteSparse::Klu OpenBLAS::OpenBLAS
      Jansson::Jansson ZLIB::ZLIB)
  endif()
endif()

set_target_properties(bough_rt PROPERTIES EXPORT_NAME rt_static)
install(TARGETS bough_rt ${shared_rt} EXPORT bough-rt)
install(DIRECTORY include/bough DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

# ---- the CMake package ----

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/bough)
set(generated ${PROJECT_BINARY_DIR}/install)
configure_package_config_file(cmake/bough-config.cmake.in ${generated}/bough-config.cmake INSTALL_DESTINATION ${package}
  NO_SET_AND_CHECK_MACRO)
# While MAJOR is 0, a MINOR version may break what was written for another.
write_basic_package_version_file(${generated}/bough-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${generated}/bough-config.cmake ${generated}/bough-config-version.cmake DESTINATION ${package})
install(EXPORT bough-rt NAMESPACE bough:: FILE bough-rt.cmake DESTINATION ${package})

# ---- pkg-config ----

# pkg-config finds the prefix from where the .pc file lies, so that the whole installation may be moved.
function(install_pc name)
  if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    set(prefix ${CMAKE_INSTALL_PREFIX})
  else()
    file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    string(REGEX REPLACE "/$" "" up ${up})
    set(prefix "\${pcfiledir}/${up}")
  endif()
  foreach(folder IN ITEMS LIBDIR INCLUDEDIR)
    if(IS_ABSOLUTE ${CMAKE_INSTALL_${folder}})
      set(${folder} ${CMAKE_INSTALL_${folder}})
    else()
      set(${folder} "\${prefix}/${CMAKE_INSTALL_${folder}}")
    endif()
  endforeach()
  configure_file(cmake/${name}.pc.in ${generated}/${name}.pc @ONLY)
  install(FILES ${generated}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

install_pc(bough_rt)
if(BOUGH_RUNTIME_ONLY)
  return()
endif()
install_pc(bough)

# ---- libbough, and the program ----

set_target_properties(bough_full PROPERTIES EXPORT_NAME full_static)
install(TARGETS bough_full ${shared_full} EXPORT bough-full)
install(EXPORT bough-full NAMESPACE bough:: FILE bough-full.cmake DESTINATION ${package})
install(FILES cmake/FindJansson.cmake cmake/FindOpenBLAS.cmake cmake/FindSuiteSparse.cmake DESTINATION ${package})
# The program holds the static libraries: its benchmarks look at what the shared ones do not show.
install(TARGETS bough)

# Manual pages and completions say what the program's --help says, since they are made from it.
if(NOT CMAKE_CROSSCOMPILING AND NOT BOUGH_SANITIZE AND NOT BOUGH_FUZZ)
  set(manual ${PROJECT_BINARY_DIR}/manual)
  add_custom_command(OUTPUT ${manual}/made
    COMMAND ${PROJECT_SOURCE_DIR}/tools/make_manual.sh $<TARGET_FILE:bough> ${manual}
    COMMAND ${CMAKE_COMMAND} -E touch ${manual}/made
    DEPENDS bough tools/make_manual.sh tools/make_man.awk tools/make_completions.awk VERBATIM
    COMMENT "Manual pages and completions")
  add_custom_target(manual ALL DEPENDS ${manual}/made)
  install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(FILES ${manual}/bash/bough DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${manual}/zsh/_bough DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${manual}/fish/bough.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# ---- the viewer's page, with what it takes from the npm packages ----

set(viewer_files index.html style.css icon.svg unpack.js)
set(viewer_modules three/build/three.module.js three/build/three.core.js three/LICENSE uplot/dist/uPlot.esm.js
  uplot/dist/uPlot.min.css uplot/LICENSE)
set(viewer ${CMAKE_INSTALL_DATADIR}/bough/viewer)
list(TRANSFORM viewer_files PREPEND viewer/)
install(FILES ${viewer_files} DESTINATION ${viewer})
install(DIRECTORY viewer/page DESTINATION ${viewer})
# The launcher fetches the npm packages, at the latest when somebody looks at a scene; that may be after configuring.
install(CODE "
  if(NOT EXISTS \"${PROJECT_SOURCE_DIR}/viewer/node_modules/three\")
    message(WARNING \"viewer/node_modules is missing, so that bough view will have no page: ./bough setup fetches it\")
  endif()")
foreach(file IN LISTS viewer_modules)
  get_filename_component(folder ${file} DIRECTORY)
  install(FILES viewer/node_modules/${file} DESTINATION ${viewer}/node_modules/${folder} OPTIONAL)
endforeach()

# The engine of exported pages is WebAssembly, which `./bough export` builds, or cmake -S wasm.
install(FILES ${BOUGH_PAGE_PROGRAM} DESTINATION ${viewer} OPTIONAL)

# ---- examples: scenes and programs, without their pictures ----

install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/bough FILES_MATCHING PATTERN "*.json" PATTERN "*.urdf"
  PATTERN "*.csv" PATTERN "*.obj" PATTERN "*.[ch]" PATTERN "*.[ch]pp" PATTERN "*.py" PATTERN "CMakeLists.txt" PATTERN "Makefile"
  PATTERN "*.cooked" EXCLUDE PATTERN "build" EXCLUDE)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
