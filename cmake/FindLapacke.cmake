find_path(Lapacke_INCLUDE_DIR lapacke.h)
find_library(Lapacke_LIBRARY lapacke)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Lapacke REQUIRED_VARS Lapacke_LIBRARY Lapacke_INCLUDE_DIR)
if(Lapacke_FOUND AND NOT TARGET Lapacke::Lapacke)
  add_library(Lapacke::Lapacke UNKNOWN IMPORTED)
  set_target_properties(Lapacke::Lapacke PROPERTIES IMPORTED_LOCATION ${Lapacke_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${Lapacke_INCLUDE_DIR})
endif()
# LAPACKE calls LAPACK and BLAS; both come from the serial OpenBLAS.
find_library(Lapacke_BLAS NAMES openblas blas)
if(Lapacke_FOUND AND Lapacke_BLAS)
  set_property(TARGET Lapacke::Lapacke PROPERTY INTERFACE_LINK_LIBRARIES ${Lapacke_BLAS})
endif()
