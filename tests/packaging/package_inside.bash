#!/usr/bin/env bash
# Run by check_package.bash inside of a copy of a machine: the life of the package from installation to purge.
set -euo pipefail
cd /etld_test
export DEBIAN_FRONTEND=noninteractive

fail() {
  printf '%s\n' "$*"
  exit 1
}
is() { # WHAT EXPECTED ACTUAL
  [ "$2" = "$3" ] || fail "$1: expected \"$2\", got \"$3\""
}
enabled() {
  [ -L "/etc/systemd/system/$1" ]
}

# A machine that has it already is made one that never had it.
dpkg --purge etld >/dev/null 2>&1 || true
rm -rf /etc/etld /var/lib/etld
# Images for containers bring one that lets nothing start.
rm -f /usr/sbin/policy-rc.d

printf '== install\n'
dpkg --install this.deb >dpkg.log 2>&1 || fail "dpkg --install failed: $(cat dpkg.log)"
is "state of the package" "ii " "$(dpkg-query --show --showformat='${db:Status-Abbrev}' etld)"
is "the user's home and shell" "/var/lib/etld:/usr/sbin/nologin" "$(getent passwd etld | cut -d: -f6-)"
getent group etld-admin >/dev/null || fail "there is no group etld-admin"
is "the state's folder" "etld:etld 750" "$(stat -c '%U:%G %a' /var/lib/etld)"
is "the settings" "root:root 644" "$(stat -c '%U:%G %a' /etc/etld/etld.toml)"
enabled multi-user.target.wants/etld.service || fail "the service is not enabled"
enabled timers.target.wants/etld-backup.timer || fail "the backup is not enabled"
enabled timers.target.wants/etld-verify.timer || fail "the verify pass is not enabled"
if enabled sockets.target.wants/etld-api.socket; then fail "socket activation is enabled, which is the administrator's choice"; fi
etlctl --version >/dev/null
etlctl config check >check.log 2>&1 || fail "the shipped settings have faults: $(cat check.log)"

# The daemon is started by systemd where there is one, else by hand.
systemd=
if [ -d /run/systemd/system ]; then systemd=yes; fi
as_etld() { setpriv --reuid etld --regid etld --init-groups --no-new-privs "$@"; }
daemon_log() { if [ -n "$systemd" ]; then journalctl --no-pager --unit etld --lines 50; else cat etld.log; fi; }
pid_of_etld() { systemctl show --property MainPID --value etld.service; }
timer_is() { systemctl is-active "etld-$1.timer" 2>/dev/null || true; }

printf '== start\n'
as_etld etld --check >check.log 2>&1 || fail "etld --check failed: $(cat check.log)"
if [ -n "$systemd" ]; then
  # The package started it.
  is "the service" active "$(systemctl is-active etld.service || daemon_log)"
  is "the backup timer" active "$(timer_is backup)"
  is "the verify timer" active "$(timer_is verify)"
  first=$(pid_of_etld)
else
  install -d -o etld -g etld /run/etld
  as_etld etld >etld.log 2>&1 &
  daemon=$!
  # Up to a minute, which only a hang takes.
  for ((i = 0; i < 600; ++i)); do
    [ ! -S /run/etld/control.sock ] || break
    kill -0 "$daemon" 2>/dev/null || fail "etld ended early: $(daemon_log)"
    sleep 0.1
  done
fi
etlctl status >status.log 2>&1 || fail "etlctl status failed: $(cat status.log; daemon_log)"
etlctl sources >sources.log 2>&1 || fail "etlctl sources failed: $(cat sources.log; daemon_log)"
if [ -n "$systemd" ]; then
  printf '== reload\n'
  cp /etc/etld/etld.toml kept.toml
  echo 'nonsense = 1' >>/etc/etld/etld.toml
  if systemctl reload etld.service 2>/dev/null; then fail "wrong settings were reloaded"; fi
  is "the service with wrong settings in its file" active "$(systemctl is-active etld.service)"
  cat kept.toml >/etc/etld/etld.toml
  systemctl reload etld.service || fail "the reload failed: $(daemon_log)"
  is "the process after a reload" "$first" "$(pid_of_etld)"
  printf '== backup and verify\n'
  systemctl start etld-backup.service || fail "the backup failed: $(journalctl --no-pager --unit etld-backup)"
  systemctl start etld-verify.service || fail "verify failed: $(journalctl --no-pager --unit etld-verify)"
  [ -n "$(etlctl backup list -o jsonl)" ] || fail "there is no backup"
  printf '== socket activation\n'
  systemctl stop etld.service || fail "stopping failed: $(daemon_log)"
  systemctl start etld-api.socket || fail "the socket cannot be held"
  exec 3<>/dev/tcp/127.0.0.1/8417 || fail "nobody takes connections"
  # The client's connection starts the daemon. Up to a minute, which only a hang takes.
  for ((i = 0; i < 600; ++i)); do
    [ "$(systemctl is-active etld.service || true)" != active ] || break
    sleep 0.1
  done
  is "the service after a client came" active "$(systemctl is-active etld.service || daemon_log)"
  exec 3>&-
  first=$(pid_of_etld)
else
  kill -TERM "$daemon"
  wait "$daemon" || fail "etld ended with $? after SIGTERM: $(daemon_log)"
fi
is "what is not its user's below its state" "" "$(find /var/lib/etld ! -user etld)"

printf '== upgrade\n'
echo '# an operator was here' >>/etc/etld/etld.toml
touch /var/lib/etld/kept
systemctl disable etld-backup.timer 2>/dev/null
dpkg --force-confold --install next.deb >dpkg.log 2>&1 || fail "the upgrade failed: $(cat dpkg.log)"
grep -q 'an operator was here' /etc/etld/etld.toml || fail "the upgrade lost the operator's settings"
[ -e /var/lib/etld/kept ] || fail "the upgrade lost state"
if enabled timers.target.wants/etld-backup.timer; then fail "the upgrade enabled what had been disabled"; fi
enabled multi-user.target.wants/etld.service || fail "the upgrade disabled the service"
if [ -n "$systemd" ]; then
  is "the service after the upgrade" active "$(systemctl is-active etld.service || daemon_log)"
  [ "$(pid_of_etld)" != "$first" ] || fail "the upgrade did not restart the daemon"
fi

printf '== remove\n'
dpkg --remove etld >dpkg.log 2>&1 || fail "the removal failed: $(cat dpkg.log)"
grep -q 'the mirror stays in /var/lib/etld' dpkg.log || fail "the removal does not say what stays: $(cat dpkg.log)"
for program in etld etlctl; do [ ! -e /usr/bin/$program ] || fail "the removal left $program"; done
[ ! -e /lib/systemd/system/etld.service ] || fail "the removal left units"
[ -e /var/lib/etld/kept ] || fail "the removal took the state"
[ -e /etc/etld/etld.toml ] || fail "the removal took the settings"

if [ -n "$systemd" ]; then
  is "the service after the removal" inactive "$(systemctl is-active etld.service || true)"
  is "processes after the removal" "" "$(pgrep --exact etld || true)"
fi

printf '== install again after a removal\n'
dpkg --force-confold --install this.deb >dpkg.log 2>&1 || fail "installing again failed: $(cat dpkg.log)"
[ -e /var/lib/etld/kept ] || fail "installing again lost the state"
enabled multi-user.target.wants/etld.service || fail "the service is not enabled again"
[ "$(readlink /etc/systemd/system/etld.service 2>/dev/null)" != /dev/null ] || fail "the service stayed masked"

printf '== purge\n'
dpkg --purge etld >dpkg.log 2>&1 || fail "the purge failed: $(cat dpkg.log)"
grep -q 'removing the mirror in /var/lib/etld' dpkg.log || fail "the purge does not say what it removes: $(cat dpkg.log)"
[ ! -e /var/lib/etld ] || fail "the purge left state"
[ ! -e /etc/etld ] || fail "the purge left settings"
if dpkg-query --show etld >/dev/null 2>&1 && [ "$(dpkg-query --show --showformat='${db:Status-Abbrev}' etld)" != "un " ]; then
  fail "dpkg still knows the package"
fi
is "links of the units" "" "$(find /etc/systemd /var/lib/systemd -name '*etld*' ! -name etld_test.service)"
printf 'the package installs, upgrades, goes and leaves nothing\n'
