# A Debian package of the program, for machines that have nothing but the system itself:
#
#     cmake --preset x86_64-linux && cmake --build --preset x86_64-linux
#     cpack --config build-x86_64/CPackConfig.cmake -B build-x86_64/package      engram_0.1.0_amd64.deb
#
# With SOURCE_DATE_EPOCH set, the same build gives the same bytes. `engram bundle build --deb` takes the file along.
#
# Its settings are a conffile, its service is installed but not started: `engram service enable` does that.
# What was learned (/var/lib/engram) stays when the package goes.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME engram)
set(CPACK_PACKAGE_VENDOR Engram)
set(CPACK_PACKAGE_CONTACT "Engram <engram@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "teach a camera new things, on the device, in seconds")
set(CPACK_PACKAGE_DESCRIPTION
    "Engram learns to recognise things from a few pictures each, and takes in new ones at any time without losing the old. Everything runs on this machine, with or without a GPU; nothing is sent anywhere.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
# The library's headers are for who builds; they stay at home.
set(CPACK_COMPONENTS_ALL runtime package)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS tuxpaint-stamps-default)  # what stage:// shows
if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
endif()
if(ENGRAM_BUNDLE_LIBRARIES)
  # The rest comes along (install.cmake). g++ 12 needs no newer libraries than these.
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.35), libgcc-s1 (>= 3.3.1), libstdc++6 (>= 12)")
else()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${OPENVINO_LIBS} ${CMAKE_BINARY_DIR})
endif()
if(ENGRAM_CUDA AND CUDA_STAYS)
  # JetPack's, which differ by release in their packages' names. A program that is linked with them does not even start
  # without, so the package refuses to be installed (deb/preinst.in).
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "nvidia-jetpack-runtime | nvidia-jetpack")
  set(CUDA_SONAMES)
  foreach(library cudart cublas cusolver)
    get_target_property(file CUDA::${library} IMPORTED_LOCATION)
    get_filename_component(file ${file} REALPATH)
    get_filename_component(file ${file} NAME)
    string(REGEX MATCH "^lib[A-Za-z]+\\.so\\.[0-9]+" soname ${file})  # libcublas.so.13 of libcublas.so.13.0.2.14
    list(APPEND CUDA_SONAMES ${soname})
  endforeach()
  list(JOIN CUDA_SONAMES " " CUDA_SONAMES)
  configure_file(toolchains/deb/preinst.in ${CMAKE_BINARY_DIR}/deb/preinst @ONLY)
  list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/deb/preinst)
endif()
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
foreach(script postinst prerm postrm)
  list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/toolchains/deb/${script})
endforeach()
list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/toolchains/deb/conffiles)

# From the prefix /usr this is /etc; only the package has it: a plain `cmake --install` stays in its prefix.
install(FILES toolchains/camera.conf DESTINATION ../etc/engram COMPONENT package EXCLUDE_FROM_ALL)
install(FILES toolchains/deb/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/engram COMPONENT package EXCLUDE_FROM_ALL)

include(CPack)
