#!/usr/bin/env bash
# check_sandbox.bash REPO FOLDER: runs sandbox_probe.py under a real systemd, with the restrictions of etld.service and
# without them, in a copy of this machine.
# What it cannot try, as a container forbids it anyway: setting the clock, kernel modules, logs and settings, devices.
set -euo pipefail
repo=$1 folder=$2
here=$repo/tests/packaging
# shellcheck source=tests/packaging/machine_copy.bash
. "$here/machine_copy.bash"

status=0
in_machine_copy "$folder" "$here/sandbox_inside.bash" "$here/sandbox_probe.py" "$repo/systemd/etld.service" \
  "$repo/systemd/sysusers.d/etld.conf" || status=$?
[ "$status" -ne 77 ] || exit 0
exit "$status"
