#!/usr/bin/env bash
# check_package.bash BUILD VERSION: makes the Debian package from a build tree, lets lintian look at it where it is
# installed, and then installs, starts, upgrades, removes and purges it in a copy of this machine: with dpkg itself and,
# where one can be booted, under a systemd of the copy's own.
set -euo pipefail

build=$1 version=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$build/package_test
rm -rf "$work"
mkdir -p "$work"

fail() {
  printf '%s\n' "$*"
  exit 1
}

for program in cpack dpkg-deb dpkg-shlibdeps; do
  command -v $program >/dev/null || { printf 'skipped: this machine has no %s\n' $program; exit 0; }
done
(cd "$work" && cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/cpack") >"$work/cpack.log" 2>&1 ||
  fail "cpack failed: $(cat "$work/cpack.log")"
packages=("$work"/cpack/*.deb)
[ ${#packages[@]} -eq 1 ] || fail "cpack made ${#packages[@]} packages"
package=${packages[0]}
[ "$(dpkg-deb --field "$package" Version)" = "$version-1" ] || fail "wrong version: $(dpkg-deb --field "$package" Version)"
dpkg-deb --fsys-tarfile "$package" | tar -xO ./usr/share/doc/etld/changelog.Debian.gz | zcat | head -1 |
  grep -qF "etld ($version-1) " || fail "the first entry of cmake/debian/changelog is not of version $version-1"
if dpkg-deb --contents "$package" | awk '{print $2}' | grep -qv '^root/root$'; then fail "files that are not root's"; fi

if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error "$package" >"$work/lintian.log" 2>&1 ||
    fail "lintian has errors: $(cat "$work/lintian.log")"
  printf 'lintian: no errors\n'
else
  printf 'not tried: this machine has no lintian\n'
fi

# The same package once more, as if it were the next version.
dpkg-deb --raw-extract "$package" "$work/next"
sed -i "s/^Version: .*/Version: $version-2/" "$work/next/DEBIAN/control"
printf '\n# a new default\n' >>"$work/next/etc/etld/etld.toml"
dpkg-deb --root-owner-group --build "$work/next" "$work/next.deb" >/dev/null

# Called with what the life of the package changed: nothing of it may be left.
after_machine_copy() {
  local left
  # dpkg and its helpers may remember the name.
  left=$(cd "$1" && find . \( -path ./etld_test -o -path ./var/lib/dpkg -o -path ./var/log -o -path ./var/cache \) -prune -o \
    -name '*etl*' ! -name 'etld_test.service' ! -type c -print)
  if [ -n "$left" ]; then
    printf 'left behind by the purge:\n%s\n' "$left"
    return 1
  fi
}
cp "$package" "$work/this.deb"
# shellcheck source=tests/packaging/machine_copy.bash
. "$here/machine_copy.bash"
status=0
in_machine_copy "$work/space" "$here/package_inside.bash" "$work/this.deb" "$work/next.deb" || status=$?
[ "$status" -ne 77 ] || exit 0
[ "$status" -eq 0 ] || exit "$status"
rm -rf "$work"
