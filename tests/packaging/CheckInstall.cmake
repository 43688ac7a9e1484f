cmake_minimum_required(VERSION 3.25)
# cmake -DBUILD=<build tree> -DPREFIX=/usr -DVERSION=<x.y.z> -P CheckInstall.cmake: installs the build tree into an empty
# DESTDIR, checks that exactly the expected paths are there, runs the installed etlctl, and removes the folder again.
set(root ${BUILD}/install_layout)
file(REMOVE_RECURSE ${root})
set(ENV{DESTDIR} ${root})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}
  RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "cmake --install failed:\n${said}")
endif()

set(bad 0)
foreach(path bin/etlctl share/doc/etld/README.md share/doc/etld/CHANGELOG.md share/doc/etld/LICENSE
    share/man/man1/etlctl.1 share/man/man5/etld.toml.5 share/man/man8/etld.8 lib/sysusers.d/etld.conf
    lib/tmpfiles.d/etld.conf share/bash-completion/completions/etlctl share/zsh/vendor-completions/_etlctl
    share/fish/vendor_completions.d/etlctl.fish share/bash-completion/completions/etld
    share/zsh/vendor-completions/_etld share/fish/vendor_completions.d/etld.fish)
  if(NOT EXISTS ${root}${PREFIX}/${path})
    message("missing: ${PREFIX}/${path}")
    math(EXPR bad "${bad}+1")
  endif()
endforeach()
foreach(unit etld.service etld-api.socket etld-backup.service etld-backup.timer etld-verify.service etld-verify.timer)
  if(NOT EXISTS ${root}/lib/systemd/system/${unit})
    message("missing: /lib/systemd/system/${unit}")
    math(EXPR bad "${bad}+1")
  endif()
endforeach()

set(settings ${root}/etc/etld/etld.toml)
if(NOT EXISTS ${settings})
  message("missing: /etc/etld/etld.toml")
  math(EXPR bad "${bad}+1")
endif()

# An operator's settings outlive a second installation.
file(WRITE ${settings} "[log]\n")
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}
  RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
file(READ ${settings} kept)
if(NOT result EQUAL 0 OR NOT kept STREQUAL "[log]\n")
  message("installing again did not keep /etc/etld/etld.toml: ${said}")
  math(EXPR bad "${bad}+1")
endif()

# Nothing but the prefix, and below it nothing but the folders that the file system hierarchy names. /etc and systemd's
# folder lie outside of a /usr prefix by rule.
file(GLOB_RECURSE files RELATIVE ${root} ${root}/*)
foreach(path ${files})
  if(NOT path MATCHES "^(usr/(s?bin|lib|libexec|share/(doc/etld|man/man[0-9]|etld|bash-completion|zsh|fish))|etc/etld|lib/systemd)/")
    message("unexpected: /${path}")
    math(EXPR bad "${bad}+1")
  endif()
  if(path MATCHES "(_test|_tests|make_leaderboard|fuzz_.*|\\.h)$")
    message("not for installing: /${path}")
    math(EXPR bad "${bad}+1")
  endif()
endforeach()

execute_process(COMMAND ${root}${PREFIX}/bin/etlctl --version RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE error)
if(NOT result EQUAL 0 OR NOT said MATCHES "${VERSION}")
  message("the installed etlctl --version answered ${result}: ${said}${error}")
  math(EXPR bad "${bad}+1")
endif()
# Units name programs by their whole path, whatever the prefix.
file(REMOVE_RECURSE ${root})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix /opt/etld
  RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
set(unit ${root}/opt/etld/lib/systemd/system/etld.service)
if(NOT result EQUAL 0 OR NOT EXISTS ${unit})
  message("no unit below another prefix: ${said}")
  math(EXPR bad "${bad}+1")
else()
  file(READ ${unit} text)
  if(NOT text MATCHES "\nExecStart=/opt/etld/bin/etld\n" OR text MATCHES "/usr/bin/etl")
    message("the unit below another prefix names other paths:\n${text}")
    math(EXPR bad "${bad}+1")
  endif()
endif()

if(bad)
  message(FATAL_ERROR "${bad} faults in what cmake --install writes; see ${root}")
endif()
file(REMOVE_RECURSE ${root})
message("cmake --install writes the expected paths")
