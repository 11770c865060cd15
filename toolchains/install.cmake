# What `cmake --install build --prefix P` puts where:
#   bin/engram                        the program
#   lib/libengram.so                  the library; headers in include/engram
#   lib/engram/                       the part of OpenVINO that it needs, so that P runs on a machine
#                                     without this checkout, and may be moved; the module for GStreamer
#   lib/systemd/system/engram.service the camera app as a service
#   lib/cmake/Engram, lib/pkgconfig   find_package(Engram) gives Engram::engram; pkg-config engram
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
option(ENGRAM_BUNDLE_LIBRARIES "Install the system's libraries that it needs along with it, but for libc and libstdc++" OFF)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME runtime)

file(RELATIVE_PATH LIB_FROM_BIN ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(engram_program PROPERTIES INSTALL_RPATH "$ORIGIN/${LIB_FROM_BIN};$ORIGIN/${LIB_FROM_BIN}/engram")
set_target_properties(engram PROPERTIES INSTALL_RPATH "$ORIGIN/engram")

install(TARGETS engram_program RUNTIME)
install(TARGETS engram EXPORT EngramTargets LIBRARY NAMELINK_COMPONENT development)
if(TARGET engram_gstreamer)
  install(TARGETS engram_gstreamer LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/engram)
endif()
foreach(layer platform kernels engine)
  install(DIRECTORY ${layer}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/engram/${layer}
          COMPONENT development FILES_MATCHING PATTERN "*.h")
endforeach()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# ---- the service: `engram service enable` starts it, nothing here does --------------------------------
# The prefix is known only when it is installed.
install(CODE "
  set(ENGRAM_PROGRAM \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/engram)
  configure_file(${CMAKE_SOURCE_DIR}/toolchains/engram.service.in ${CMAKE_BINARY_DIR}/engram.service @ONLY)")
install(FILES ${CMAKE_BINARY_DIR}/engram.service DESTINATION lib/systemd/system)

# ---- OpenVINO: from a wheel it comes along, from the system it stays there ------------------------
get_target_property(OPENVINO_LIBRARY openvino::runtime LOCATION)
get_filename_component(OPENVINO_LIBS ${OPENVINO_LIBRARY} DIRECTORY)
if(OPENVINO_LIBS MATCHES "/openvino/libs$")
  # The CPU plug-in is called after the maker: intel or arm. Nothing for GPUs, NPUs or other formats.
  file(GLOB OPENVINO_FILES ${OPENVINO_LIBS}/libopenvino.so.* ${OPENVINO_LIBS}/libtbb*.so.*
       ${OPENVINO_LIBS}/libopenvino_onnx_frontend.so.* ${OPENVINO_LIBS}/libopenvino_*_cpu_plugin.so
       ${OPENVINO_LIBS}/libhwloc.so.*)
  install(FILES ${OPENVINO_FILES} DESTINATION ${CMAKE_INSTALL_LIBDIR}/engram)
  file(GLOB OPENVINO_LICENCES ${OPENVINO_LIBS}/../../openvino-*.dist-info/licenses)
  install(DIRECTORY ${OPENVINO_LICENCES}/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/openvino)
endif()

# ---- libraries of the system, where the machine that runs it may have none ------------------------
if(ENGRAM_BUNDLE_LIBRARIES)
  # The old kind of RPATH also holds for what those libraries need in turn.
  target_link_options(engram PRIVATE -Wl,--disable-new-dtags)
  target_link_options(engram_program PRIVATE -Wl,--disable-new-dtags)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
    set(CUDA_STAYS [["^lib(cudart|cublas|cublasLt|cusolver|cusparse|nvJitLink)\\.so"]])
  endif()
  configure_file(toolchains/bundle_libraries.cmake.in ${CMAKE_BINARY_DIR}/bundle_libraries.cmake.in @ONLY)
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/bundle_libraries.cmake INPUT ${CMAKE_BINARY_DIR}/bundle_libraries.cmake.in)
  install(SCRIPT ${CMAKE_BINARY_DIR}/bundle_libraries.cmake)
endif()

# ---- how others find it --------------------------------------------------------------------------
set(ENGRAM_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Engram)
# The file's name is the package's: the target needs nothing but itself.
install(EXPORT EngramTargets NAMESPACE Engram:: FILE EngramConfig.cmake
        DESTINATION ${ENGRAM_CMAKE_DIR} COMPONENT development)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/EngramConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/EngramConfigVersion.cmake DESTINATION ${ENGRAM_CMAKE_DIR}
        COMPONENT development)

file(RELATIVE_PATH PREFIX_FROM_PKGCONFIG ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
     ${CMAKE_INSTALL_PREFIX})
configure_file(toolchains/engram.pc.in ${CMAKE_BINARY_DIR}/engram.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/engram.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)
