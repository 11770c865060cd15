# For aarch64 from another machine, with Debian's cross compiler (tools/setup cross):
#   cmake -G Ninja -B build-aarch64 --toolchain toolchains/aarch64-linux.cmake \
#     -DCMAKE_SYSROOT=<aarch64 root> -DOpenVINO_DIR=<unpacked aarch64 wheel>/openvino/cmake
# The root holds the libraries of toolchains/packages.txt for arm64. Debian's multiarch needs none:
# dpkg --add-architecture arm64, then the same packages with :arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)

set(ENV{PKG_CONFIG_LIBDIR}
    ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
if(CMAKE_SYSROOT)
  set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
  set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link,${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu)
endif()
