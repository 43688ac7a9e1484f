# Read by the tests that need a machine to spoil; never run. A copy-on-write copy of this one: an overlay over / in a mount
# namespace of its own, with systemd as its first process where systemd-nspawn can boot it. Nothing of it stays.
# shellcheck shell=bash

# in_machine_copy FOLDER SCRIPT FILE...: runs SCRIPT with bash as root in such a copy, with its FILEs beside it in
# /etld_test, and prints what it says. Its status is the script's; 77 when no copy can be made, after a line that says why.
# FOLDER is a mount point, made where it is missing; what the copy changed is left to `after_machine_copy`, where that is a
# function: it is called with the folder of the changes.
# The script finds a systemd where /run/systemd/system is, and no network but loopback.
in_machine_copy() {
  if [ "$(id -u)" -ne 0 ]; then
    printf 'skipped: a copy of the machine needs root\n'
    return 77
  fi
  if ! unshare --mount true 2>/dev/null; then
    printf 'skipped: no mount namespace can be made here\n'
    return 77
  fi
  export -f _in_copy
  if declare -F after_machine_copy >/dev/null; then export -f after_machine_copy; fi
  unshare --mount --net --pid --fork bash -euo pipefail -c '_in_copy "$@"' bash "$@"
}

_in_copy() {
  local space=$1 script=$2 root=$1/root status=0
  shift 2
  mkdir -p "$space"
  mount -t tmpfs -o mode=755 tmpfs "$space"
  mkdir "$space/upper" "$space/work" "$root"
  if ! mount -t overlay overlay -o "lowerdir=/,upperdir=$space/upper,workdir=$space/work" "$root" 2>/dev/null; then
    printf 'skipped: no overlay can be mounted here\n'
    return 77
  fi
  mkdir "$root/etld_test"
  cp "$script" "$root/etld_test/script"
  [ $# -eq 0 ] || cp "$@" "$root/etld_test/"

  # Booted, the script is the one service of the machine, and turns it off when it ends.
  rm -f "$root/etc/machine-id"
  tr -d - </proc/sys/kernel/random/uuid >"$root/etc/machine-id"
  cat >"$root/etc/systemd/system/etld_test.service" <<'UNIT'
[Unit]
Requires=basic.target
After=basic.target
SuccessAction=poweroff-immediate
FailureAction=poweroff-immediate
[Service]
Type=oneshot
Environment=PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root
WorkingDirectory=/etld_test
ExecStart=/bin/sh -c 'bash script >output 2>&1; echo $? >status'
TimeoutStartSec=300
UNIT
  if command -v systemd-nspawn >/dev/null; then
    # What it keeps for this machine's own systemd goes with the namespace.
    mkdir -p /run/systemd
    mount -t tmpfs -o mode=755 tmpfs /run/systemd
    # The limit only catches a hang.
    timeout --kill-after=10 400 systemd-nspawn --quiet --register=no --keep-unit --link-journal=no --private-network \
      --directory="$root" --boot -- --unit=etld_test.service </dev/null >"$space/boot.log" 2>&1 || true
  fi
  if [ ! -e "$root/etld_test/output" ]; then
    printf 'not tried: systemd, which cannot be booted here\n'
    mkdir -p "$root/proc" "$root/dev"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/run"
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
      sh -c 'cd /etld_test; bash script >output 2>&1; echo $? >status'
  fi
  cat "$root/etld_test/output"
  if [ ! -s "$root/etld_test/status" ]; then
    printf 'the script did not come to its end; the console said:\n'
    tail -50 "$space/boot.log"
    return 1
  fi
  status=$(cat "$root/etld_test/status")
  if [ "$status" -eq 0 ] && declare -F after_machine_copy >/dev/null; then after_machine_copy "$space/upper" || status=$?; fi
  return "$status"
}
