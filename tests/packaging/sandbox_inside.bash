#!/usr/bin/env bash
# Run by check_sandbox.bash inside of a copy of a machine.
set -euo pipefail
cd /etld_test
if [ ! -d /run/systemd/system ]; then
  printf 'skipped: without a systemd there is no sandbox\n'
  exit 0
fi
systemd-sysusers /etld_test/etld.conf 2>/dev/null
mkdir -p /etc/etld
touch /etc/etld/etld.toml /root/planted_outside /tmp/planted_outside
namespaces=$(readlink /proc/1/ns/mnt),$(readlink /proc/1/ns/ipc)

# unit NAME MODE SETTING...: etld.service with the probe in place of the daemon.
unit() {
  sed -e '/^ExecReload=/d; /^Restart/d; /^WatchdogSec=/d; s/^Type=.*/Type=oneshot/' \
    -e "s|^ExecStart=.*|ExecStart=/usr/bin/python3 -B /etld_test/sandbox_probe.py $2 $namespaces|" \
    etld.service >"/etc/systemd/system/$1.service"
  mkdir "/etc/systemd/system/$1.service.d"
  { echo '[Service]'; echo "StandardOutput=file:/etld_test/$1.log"; echo "StandardError=file:/etld_test/$1.log"
    printf '%s\n' "${@:3}"; } >"/etc/systemd/system/$1.service.d/test.conf"
}
unit needed needed
# As root, so that it is the sandbox that refuses, and not the rights of a user.
# The group is not root's, for which /proc hides nothing.
unit forbidden forbidden User=root Group=nogroup
unit possible possible User=root Group=root
# The same without a single restriction.
sed -i -nE '/^(\[|Type|ExecStart|StateDirectory|RuntimeDirectory)/p' /etc/systemd/system/possible.service
systemctl daemon-reload
status=0
for name in needed possible forbidden; do
  if ! systemctl start $name.service; then
    status=1
    systemctl status --no-pager $name.service || true
  fi
  cat $name.log
done
exit $status
