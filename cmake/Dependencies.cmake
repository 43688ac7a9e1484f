# Everything comes from Debian 12's packages; scripts/dependencies lists them.
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(spdlog 1.10 REQUIRED)
find_package(tl-expected 1.0 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd>=1.5)

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
