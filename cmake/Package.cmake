# `cpack -G DEB` in a build tree makes the Debian package etld. What belongs in it is what `cmake --install` writes with
# the prefix /usr; cmake/DebianTree.cmake then brings that into the form that Debian's policy asks for.
set(ETL_PACKAGE_CONTACT "etld maintainers <etld@example.org>" CACHE STRING "Who maintains the Debian package, with an address")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME etld)
set(CPACK_PACKAGE_VENDOR "")
set(CPACK_PACKAGE_CONTACT "${ETL_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "exact, versioned mirror of kernel leaderboards")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"etld reads what GPU kernel leaderboards publish, turns every submission into
canonical manifests with computed digests, keeps every version, and ranks the
runs of each comparison group. Other services read it over HTTP, by a change
feed, or from frozen copies of its store.
.
This package has the daemon etld, which keeps the mirror current, and the
command etlctl, which looks into it and works without a daemon too.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "ca-certificates, init-system-helpers (>= 1.54~), procps, systemd | systemd-standalone-sysusers, systemd | systemd-standalone-tmpfiles")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(debian ${CMAKE_CURRENT_LIST_DIR}/debian)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${debian}/conffiles ${debian}/postinst ${debian}/prerm ${debian}/postrm)
set(CPACK_STRIP_FILES ON)
# With a DESTDIR, as some files lie outside of the prefix.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/DebianTree.cmake)
set(CPACK_ETL_DEBIAN_DIR ${debian})
include(CPack)
