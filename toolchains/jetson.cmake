# For a Jetson from x86_64: aarch64-linux.cmake, and nvcc with aarch64's CUDA from `tools/setup build jetson`.
# ENGRAM_CUDA_ARCHITECTURES says which: 87-real is Orin, 110-real is Thor (presets jetson-orin, jetson-thor).
include(${CMAKE_CURRENT_LIST_DIR}/aarch64-linux.cmake)
set(CUDA ${CMAKE_CURRENT_LIST_DIR}/../.deps/cuda)
set(CMAKE_CUDA_COMPILER ${CUDA}/bin/nvcc)
set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
set(CMAKE_CUDA_FLAGS_INIT "-target-dir aarch64-linux")
set(CUDAToolkit_ROOT ${CUDA})
# cuBLAS and cuSOLVER name libraries that are found on the device.
string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT ",-rpath-link,${CUDA}/targets/aarch64-linux/lib")
set(CMAKE_SHARED_LINKER_FLAGS_INIT ${CMAKE_EXE_LINKER_FLAGS_INIT})
