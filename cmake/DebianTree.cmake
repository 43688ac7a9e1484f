# Run by CPack on the tree that it is about to pack: compressed manual pages and changelog, the copyright file instead of
# a licence of its own. gzip -n leaves out times, so that equal trees give equal files.
set(root ${CPACK_TEMPORARY_DIRECTORY})
set(doc ${root}/usr/share/doc/etld)
file(REMOVE ${doc}/LICENSE)
file(COPY ${CPACK_ETL_DEBIAN_DIR}/copyright DESTINATION ${doc}
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
file(COPY ${CPACK_ETL_DEBIAN_DIR}/changelog DESTINATION ${doc}
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
file(RENAME ${doc}/changelog ${doc}/changelog.Debian)
file(GLOB pages ${root}/usr/share/man/man*/*)
execute_process(COMMAND gzip -9 -n ${pages} ${doc}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
