# The CUDA kernels, kernels/*.cu. One text, compiled
#   by the host compiler   engram_simt: runs on the CPU, thread by thread, for tests (platform/simt.h)
#   by nvcc                engram_cuda: with ENGRAM_CUDA=ON; needs no GPU to compile. Part of libengram,
#                          with platform/*_cuda.cpp, cuBLAS and cuSOLVER
option(ENGRAM_CUDA "Compile the CUDA kernels with nvcc" OFF)
file(GLOB KERNEL_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/*.cu)
file(GLOB SIMT_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/platform/simt_*.cpp
     ${CMAKE_SOURCE_DIR}/platform/*_simt.cpp)

# What nvcc made of them, for estimates (kernels/kernel_code.h): as text in the library.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/budget.json)
file(READ ${CMAKE_SOURCE_DIR}/kernels/budget.json BUDGET)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/kernel_budget.cpp @ONLY CONTENT
     "namespace engram {\nextern const char* const kBudgetJson;\nconst char* const kBudgetJson = R\"budget(@BUDGET@)budget\";\n}\n")
target_sources(engram PRIVATE ${CMAKE_BINARY_DIR}/kernel_budget.cpp)

# CMake calls a file one language only, so the host compiler gets a twin of one line.
set(SIMT_TWINS)
foreach(kernel ${KERNEL_SOURCES})
  get_filename_component(name ${kernel} NAME_WE)
  set(twin ${CMAKE_BINARY_DIR}/simt/${name}_simt.cpp)
  file(CONFIGURE OUTPUT ${twin} CONTENT "#include \"kernels/${name}.cu\"\n")
  list(APPEND SIMT_TWINS ${twin})
endforeach()

# Bits are compared, so no a * b + c is fused but where the text says so. ThreadSanitizer does not
# know our fibers.
set(SIMT_OPTIONS -Wno-unknown-pragmas -ffp-contract=off)
add_library(engram_simt STATIC ${SIMT_SOURCES} ${SIMT_TWINS})
target_include_directories(engram_simt PUBLIC ${CMAKE_SOURCE_DIR})
target_link_libraries(engram_simt PUBLIC engram PRIVATE PkgConfig::OPENBLAS)
target_compile_options(engram_simt PRIVATE ${SIMT_OPTIONS})
if(ENGRAM_SANITIZE MATCHES "thread")
  target_compile_options(engram_simt PRIVATE -fno-sanitize=thread)
endif()

if(ENGRAM_CUDA)
  # Orin and Thor, then the cards of a desk; PTX of the oldest as fallback for what comes later.
  if(NOT DEFINED ENV{CUDACXX})  # in the order of tools/setup
    find_program(CMAKE_CUDA_COMPILER nvcc PATHS /usr/local/cuda/bin ${CMAKE_SOURCE_DIR}/.deps/cuda/bin)
  endif()
  enable_language(CUDA)
  set(targets 87-real 86 89-real)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.0)  # JetPack 6 has CUDA 12.6
    list(APPEND targets 110-real 120-real)
  endif()
  set(ENGRAM_CUDA_ARCHITECTURES ${targets} CACHE STRING "What nvcc compiles for")
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)  # CMake 3.25 does not know it
  find_package(CUDAToolkit REQUIRED)
  add_library(engram_cuda OBJECT ${KERNEL_SOURCES})
  target_include_directories(engram_cuda PUBLIC ${CMAKE_SOURCE_DIR})
  set_target_properties(engram_cuda PROPERTIES CUDA_ARCHITECTURES "${ENGRAM_CUDA_ARCHITECTURES}"
                        CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON)
  # In place of the host compiler's options. No a * b + c is fused but where the text says so.
  set_target_properties(engram_cuda PROPERTIES COMPILE_OPTIONS
      "-Werror=all-warnings;-Xcompiler=-Wall,-Wextra,-Werror;-Xptxas=-warn-spills,-Werror;--fmad=false")
  file(GLOB CUDA_HOST_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/platform/*_cuda.cpp)
  target_sources(engram PRIVATE $<TARGET_OBJECTS:engram_cuda> ${CUDA_HOST_SOURCES})
  set_source_files_properties(kernels/backend.cpp PROPERTIES COMPILE_DEFINITIONS ENGRAM_CUDA)
  string(REPLACE ";" "," CODE "${ENGRAM_CUDA_ARCHITECTURES}")  # so that a GPU without any is told
  set_source_files_properties(platform/device_code.cpp PROPERTIES COMPILE_DEFINITIONS ENGRAM_CUDA_CODE="${CODE}")
  target_link_libraries(engram PRIVATE CUDA::cudart CUDA::cublas CUDA::cusolver)
  set_target_properties(engram PROPERTIES LINKER_LANGUAGE CXX)
endif()
