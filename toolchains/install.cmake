# What `cmake --install build --prefix P` puts where:
#   bin/engram                        the program
#   lib/libengram.so                  the library; headers in include/engram
#   lib/engram/                       the part of OpenVINO that it needs, so that P runs on a machine
#                                     without this checkout, and may be moved; the module for GStreamer
#   lib/systemd/system/engram.service the camera app as a service; share/engram/camera.conf its settings
#   lib/cmake/Engram, lib/pkgconfig   find_package(Engram) gives Engram::engram; pkg-config engram
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

file(RELATIVE_PATH LIB_FROM_BIN ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(engram_program PROPERTIES INSTALL_RPATH "$ORIGIN/${LIB_FROM_BIN}")
set_target_properties(engram PROPERTIES INSTALL_RPATH "$ORIGIN/engram")

install(TARGETS engram_program RUNTIME)
install(TARGETS engram EXPORT EngramTargets LIBRARY)
if(TARGET engram_gstreamer)
  install(TARGETS engram_gstreamer LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/engram)
endif()
foreach(layer platform kernels engine)
  install(DIRECTORY ${layer}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/engram/${layer}
          FILES_MATCHING PATTERN "*.h")
endforeach()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# ---- the service: `engram service enable` starts it, nothing here does --------------------------------
set(ENGRAM_PROGRAM ${CMAKE_INSTALL_FULL_BINDIR}/engram)
configure_file(toolchains/engram.service.in ${CMAKE_BINARY_DIR}/engram.service @ONLY)
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

# ---- how others find it --------------------------------------------------------------------------
set(ENGRAM_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Engram)
# The file's name is the package's: the target needs nothing but itself.
install(EXPORT EngramTargets NAMESPACE Engram:: FILE EngramConfig.cmake
        DESTINATION ${ENGRAM_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/EngramConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/EngramConfigVersion.cmake DESTINATION ${ENGRAM_CMAKE_DIR})

file(RELATIVE_PATH PREFIX_FROM_PKGCONFIG ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
     ${CMAKE_INSTALL_PREFIX})
configure_file(toolchains/engram.pc.in ${CMAKE_BINARY_DIR}/engram.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/engram.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
