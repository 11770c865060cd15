# For aarch64 from x86_64, with Debian's cross compiler and what `tools/setup cross` unpacks:
#   cmake --preset aarch64-linux && cmake --build --preset aarch64-linux
# Another root: -DCMAKE_SYSROOT=<folder>, with the libraries of toolchains/packages.txt for arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(AARCH64 ${CMAKE_CURRENT_LIST_DIR}/../.deps/aarch64)
if(NOT CMAKE_SYSROOT)
  set(CMAKE_SYSROOT ${AARCH64}/root)
endif()
set(OpenVINO_DIR ${AARCH64}/openvino/openvino/cmake CACHE PATH "OpenVINO for aarch64")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${CMAKE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)

set(AARCH64_LIBRARIES ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu)
set(ENV{PKG_CONFIG_LIBDIR} "${AARCH64_LIBRARIES}/pkgconfig:${AARCH64_LIBRARIES}/openblas-pthread/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link,${AARCH64_LIBRARIES})
