# SuiteSparse ships no CMake or pkg-config files on Debian 12.
find_path(SuiteSparse_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse)
find_library(SuiteSparse_CHOLMOD cholmod)
find_library(SuiteSparse_KLU klu)
find_library(SuiteSparse_METIS metis)
find_path(SuiteSparse_METIS_INCLUDE_DIR metis.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SuiteSparse REQUIRED_VARS SuiteSparse_CHOLMOD SuiteSparse_KLU SuiteSparse_METIS
  SuiteSparse_INCLUDE_DIR SuiteSparse_METIS_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian has it in libsuitesparse-dev and libmetis-dev")
if(SuiteSparse_FOUND AND NOT TARGET SuiteSparse::Cholmod)
  add_library(SuiteSparse::Cholmod UNKNOWN IMPORTED)
  set_target_properties(SuiteSparse::Cholmod PROPERTIES IMPORTED_LOCATION ${SuiteSparse_CHOLMOD}
    INTERFACE_INCLUDE_DIRECTORIES "${SuiteSparse_INCLUDE_DIR};${SuiteSparse_METIS_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES ${SuiteSparse_METIS})
endif()
if(SuiteSparse_FOUND AND NOT TARGET SuiteSparse::Klu)
  add_library(SuiteSparse::Klu UNKNOWN IMPORTED)
  set_target_properties(SuiteSparse::Klu PROPERTIES IMPORTED_LOCATION ${SuiteSparse_KLU}
    INTERFACE_INCLUDE_DIRECTORIES ${SuiteSparse_INCLUDE_DIR})
endif()
