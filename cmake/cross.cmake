# Debian's cross compiler for another processor, and qemu-user for what it makes (./bough setup arm):
#     cmake -B build/arm -DCMAKE_TOOLCHAIN_FILE=cmake/cross.cmake -DBOUGH_TARGET=aarch64-linux-gnu -DBOUGH_RUNTIME_ONLY=ON
# BOUGH_TARGET may be arm-linux-gnueabihf, too.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BOUGH_TARGET)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${BOUGH_TARGET})
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${BOUGH_TARGET}-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${CMAKE_SYSTEM_PROCESSOR} -L /usr/${BOUGH_TARGET})
