# One interface target carries our warnings and sanitizers; dependencies never see it.
add_library(etl_flags INTERFACE)
target_compile_options(etl_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
  -Wimplicit-fallthrough -Wswitch-enum
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op -Wno-tsan>
  $<$<CXX_COMPILER_ID:Clang>:-Wreserved-identifier -Wno-ambiguous-reversed-operator>)
if(ETL_SANITIZE)
  target_compile_options(etl_flags INTERFACE -fsanitize=${ETL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(etl_flags INTERFACE -fsanitize=${ETL_SANITIZE})
  # Under sanitizers g++ 12 takes the insides of std::regex, std::function and std::optional for uninitialized.
  target_compile_options(etl_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND ETL_SANITIZE MATCHES "undefined")
    # clang 14 cannot emit -fsanitize=function prologues for coroutines; RapidJSON 1.1 does pointer arithmetic on
    # a null stack (harmless, but UBSan is right), so its headers are exempted by name.
    target_compile_options(etl_flags INTERFACE -fno-sanitize=function
      -fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/ubsan_ignore.txt)
  endif()
endif()
