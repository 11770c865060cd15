# Writes a C++ file with the bytes of the page: cmake -DOUTPUT=x.cpp -DFILES=a;b -P embed_assets.cmake
# tools/web/assets.h says what is in it.
set(TYPE_html "text/html; charset=utf-8")
set(TYPE_css "text/css; charset=utf-8")
set(TYPE_js "text/javascript; charset=utf-8")
set(TYPE_json "application/json")
set(TYPE_svg "image/svg+xml")
set(TYPE_webmanifest "application/manifest+json")

set(arrays "")
set(rows "")
set(number 0)
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  get_filename_component(extension ${file} LAST_EXT)
  string(SUBSTRING ${extension} 1 -1 extension)
  if(NOT DEFINED TYPE_${extension})
    message(FATAL_ERROR "${file}: no content type is known for .${extension}")
  endif()
  file(READ ${file} bytes HEX)
  file(SHA256 ${file} hash)
  string(SUBSTRING ${hash} 0 16 hash)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND arrays "constexpr char kBytes${number}[] = {${bytes}};\n")
  if(name STREQUAL "index.html")
    set(name "")
  endif()
  string(APPEND rows "    {\"/${name}\", \"${TYPE_${extension}}\", \"\\\"${hash}\\\"\",\n"
                     "     std::string_view(kBytes${number}, sizeof kBytes${number})},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"tools/web/assets.h\"\n\nnamespace engram {\nnamespace {\n\n${arrays}\n"
     "constexpr Asset kAssets[] = {\n${rows}};\n\n}  // namespace\n\n"
     "std::span<const Asset> assets() { return kAssets; }\n\n}  // namespace engram\n")
