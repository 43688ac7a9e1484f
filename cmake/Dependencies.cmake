# Everything comes from Debian 12's packages; scripts/dependencies lists them.
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(spdlog 1.10 REQUIRED)
find_package(tl-expected 1.0 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd>=1.5)
pkg_check_modules(prometheus REQUIRED IMPORTED_TARGET prometheus-cpp-core>=1.0)  # without its HTTP server and client
pkg_check_modules(systemd REQUIRED IMPORTED_TARGET libsystemd>=252)
find_package(CURL 7.87 REQUIRED)  # CURLOPT_QUICK_EXIT
find_package(ZLIB 1.2.11 REQUIRED)

# Asio is headers alone. clang 14 has coroutines of the standard, and Boost 1.81 does not know it.
find_package(Boost 1.81 REQUIRED)
add_library(etl_asio INTERFACE)
target_link_libraries(etl_asio INTERFACE Boost::headers Threads::Threads)
target_compile_definitions(etl_asio INTERFACE BOOST_ASIO_NO_DEPRECATED
  $<$<CXX_COMPILER_ID:Clang>:BOOST_ASIO_HAS_CO_AWAIT=1 BOOST_ASIO_HAS_STD_COROUTINE=1>)
# g++ 12 inlines one half of the frames' operator new and delete and then misses the other.
target_compile_options(etl_asio INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>)

find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)  # used as a header alone

# Debian's RapidJSON package ships variables, not a target.
find_package(RapidJSON 1.1 REQUIRED)
add_library(etl_rapidjson INTERFACE)
target_include_directories(etl_rapidjson SYSTEM INTERFACE ${RAPIDJSON_INCLUDE_DIRS})

# The shared RocksDB: it gets its fixes from apt, and its CMake package asks for the -dev files of every codec.
find_library(ROCKSDB_LIBRARY rocksdb REQUIRED)
find_path(ROCKSDB_INCLUDE_DIR rocksdb/db.h REQUIRED)
add_library(etl_rocksdb INTERFACE)
target_include_directories(etl_rocksdb SYSTEM INTERFACE ${ROCKSDB_INCLUDE_DIR})
target_link_libraries(etl_rocksdb INTERFACE ${ROCKSDB_LIBRARY} Threads::Threads)

# toml++ is headers alone; one file of config/ includes them.
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
add_library(etl_tomlplusplus INTERFACE)
target_include_directories(etl_tomlplusplus SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE_DIR})
