cmake_minimum_required(VERSION 3.25)
# cmake -DSOURCE=<repo> -DBUILD=<folder> -DSYSTEMD_ANALYZE=<program> -P CheckUnits.cmake: the units are understood by
# systemd, expose no more than is allowed, and hold every restriction below, each with what it forbids. A restriction that
# goes, comes or changes has to do so here too.
set(bad 0)
function(fault)
  message(${ARGV})
  math(EXPR more "${bad}+1")
  set(bad ${more} PARENT_SCOPE)
endfunction()

# Of every service: directive, value, what it keeps a service that has been broken into from doing.
set(restrictions
  "AmbientCapabilities||having a right of root's"
  "CapabilityBoundingSet||gaining one, by whatever program"
  "DevicePolicy|closed|opening devices other than null, zero, full and random"
  "Group|etld|reading what other services own"
  "KeyringMode|private|reading the keys of other services"
  "LockPersonality|yes|choosing an execution domain with weaker protection"
  "MemoryDenyWriteExecute|yes|running code that it wrote into memory"
  "NoNewPrivileges|yes|becoming another user by a set-user-ID program"
  "PrivateDevices|yes|seeing disks and other hardware"
  "PrivateIPC|yes|reaching the shared memory of others"
  "PrivateMounts|yes|mounting what others would see"
  "PrivateTmp|yes|reading or planting files in the common /tmp"
  "ProcSubset|pid|reading what /proc tells of the kernel"
  "ProtectClock|yes|setting the clock, by which records are dated"
  "ProtectControlGroups|yes|lifting its own limits"
  "ProtectHome|yes|reading the files of people"
  "ProtectHostname|yes|renaming the host"
  "ProtectKernelLogs|yes|reading or clearing the kernel's log"
  "ProtectKernelModules|yes|loading code into the kernel"
  "ProtectKernelTunables|yes|changing settings of the kernel"
  "ProtectProc|invisible|seeing the processes of others"
  "ProtectSystem|strict|writing anywhere but to its own state"
  "RemoveIPC|yes|leaving shared memory behind"
  "RestrictNamespaces|yes|reaching the kernel code behind new namespaces"
  "RestrictRealtime|yes|taking all processor time"
  "RestrictSUIDSGID|yes|leaving set-user-ID files behind"
  "SystemCallArchitectures|native|calling the kernel by its less tested 32-bit door"
  "SystemCallErrorNumber|EPERM|(a refused call is an error, not the end)"
  "SystemCallFilter|@system-service|calling the kernel for anything that services do not need"
  "SystemCallFilter|~@privileged @resources|calling it for what root does, or for more than its share"
  "UMask|0027|making files that everybody can read"
  "User|etld|being root")
set(daemon_restrictions ${restrictions}
  "LimitNOFILE|65536|(room for connections_max and the files of the store)"
  "MemoryHigh|224M|(gives memory back before the limit)"
  "MemoryMax|256M|taking the memory of others"
  "NoExecPaths|/var/lib/etld /run/etld /tmp /var/tmp|running a program that it wrote to disk"
  "RestrictAddressFamilies|AF_UNIX AF_INET AF_INET6|raw packets, Bluetooth, netlink and the like"
  "TasksMax|128|forking without end")
set(job_restrictions ${restrictions}
  "NoExecPaths|/tmp /var/tmp|running a program that it wrote to disk"
  "PrivateNetwork|yes|any network"
  "RestrictAddressFamilies|AF_UNIX|any socket but the control socket's kind"
  "SupplementaryGroups|etld-admin|(lets it ask the daemon)")

# Lines of [Service] that are no restriction.
set(ordinary Type ExecStart ExecReload Restart RestartSec RestartPreventExitStatus TimeoutStartSec TimeoutStopSec
  WatchdogSec StateDirectory StateDirectoryMode RuntimeDirectory RuntimeDirectoryMode ConfigurationDirectory
  ConfigurationDirectoryMode Nice)

function(check_restrictions unit)
  file(STRINGS ${SOURCE}/systemd/${unit} lines)
  set(section "")
  set(found "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^\\[(.*)\\]$")
      set(section ${CMAKE_MATCH_1})
    elseif(section STREQUAL "Service" AND line MATCHES "^([A-Za-z]+)=(.*)$" AND NOT CMAKE_MATCH_1 IN_LIST ordinary)
      list(APPEND found "${CMAKE_MATCH_1}|${CMAKE_MATCH_2}")
    endif()
  endforeach()
  foreach(restriction IN LISTS ARGN)
    string(REGEX MATCH "^([^|]*[|][^|]*)[|](.*)$" all "${restriction}")
    set(setting "${CMAKE_MATCH_1}")
    if(setting IN_LIST found)
      list(REMOVE_ITEM found "${setting}")
    else()
      string(REPLACE "|" "=" setting "${setting}")
      fault("${unit}: ${setting} is missing, which keeps it from ${CMAKE_MATCH_2}")
    endif()
  endforeach()
  foreach(setting IN LISTS found)
    string(REPLACE "|" "=" setting "${setting}")
    fault("${unit}: ${setting} is not among the known restrictions of tests/packaging/CheckUnits.cmake")
  endforeach()
  set(bad ${bad} PARENT_SCOPE)
endfunction()
check_restrictions(etld.service ${daemon_restrictions})
check_restrictions(etld-backup.service ${job_restrictions})
check_restrictions(etld-verify.service ${job_restrictions})

# What systemd itself says, with the exposure in tenths that each service may have.
if(SYSTEMD_ANALYZE)
  foreach(limit etld.service=16 etld-backup.service=8 etld-verify.service=8)
    string(REGEX MATCH "^(.*)=(.*)$" all ${limit})
    set(unit ${CMAKE_MATCH_1})
    execute_process(COMMAND ${SYSTEMD_ANALYZE} security --offline=true --threshold=${CMAKE_MATCH_2} --no-pager
        ${SOURCE}/systemd/${unit}
      RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(NOT result EQUAL 0)
      fault("${unit} is too exposed:\n${said}")
    endif()
  endforeach()

  # Units are verified in a root where their programs are, with the targets of this machine.
  set(root ${BUILD}/units_root)
  set(dir ${root}/lib/systemd/system)
  file(REMOVE_RECURSE ${root})
  file(GLOB targets /lib/systemd/system/*.target)
  file(GLOB units ${SOURCE}/systemd/*.service ${SOURCE}/systemd/*.socket ${SOURCE}/systemd/*.timer)
  file(COPY ${targets} ${units} DESTINATION ${dir})
  foreach(program etld etlctl kill)
    configure_file(/usr/bin/env ${root}/usr/bin/${program} COPYONLY)
  endforeach()
  list(TRANSFORM units REPLACE "^.*/" "${dir}/")
  execute_process(COMMAND ${SYSTEMD_ANALYZE} --root=${root} --man=no verify ${units}
    RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
  string(STRIP "${said}" said)
  if(NOT result EQUAL 0 OR said)
    fault("systemd-analyze verify ended with ${result}:\n${said}")
  endif()
  file(REMOVE_RECURSE ${root})
endif()

# The same in a few words: what the daemon tells by its exit status must stop the restarts.
file(READ ${SOURCE}/systemd/etld.service text)
if(NOT text MATCHES "\nRestartPreventExitStatus=2 5 6\n")
  fault("etld.service: statuses 2, 5 and 6 must not be tried again")
endif()
if(bad)
  message(FATAL_ERROR "${bad} faults in the units")
endif()
if(SYSTEMD_ANALYZE)
  message("the units hold")
else()
  message("skipped: this machine has no systemd-analyze; the restrictions are all there")
endif()
