find_path(Arpack_INCLUDE_DIR arpack/arpack.h)
find_library(Arpack_LIBRARY arpack)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Arpack REQUIRED_VARS Arpack_LIBRARY Arpack_INCLUDE_DIR)
if(Arpack_FOUND AND NOT TARGET Arpack::Arpack)
  add_library(Arpack::Arpack UNKNOWN IMPORTED)
  set_target_properties(Arpack::Arpack PROPERTIES IMPORTED_LOCATION ${Arpack_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${Arpack_INCLUDE_DIR})
endif()
