# etl_room(<name> DEPS ... PRIVATE_DEPS ...): the static library etl_<name> (alias etl::<name>) from every .cc and .h
# below the calling folder except main.cc. Includes are written from the repository root.
function(etl_room name)
  cmake_parse_arguments(A "" "" "DEPS;PRIVATE_DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  add_library(etl_${name} STATIC ${sources})
  add_library(etl::${name} ALIAS etl_${name})
  set_target_properties(etl_${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_sources(etl_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  target_include_directories(etl_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_link_libraries(etl_${name} PUBLIC ${A_DEPS} PRIVATE etl_flags ${A_PRIVATE_DEPS})
endfunction()
