# Read by the other scripts, never run. Sets root and jobs, and goes to the root.
# shellcheck shell=bash
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck disable=SC2034  # used by who reads this
jobs=$(nproc)

# ccache makes a second build quick where it is installed; nothing asks for it.
if [ -z "${CMAKE_CXX_COMPILER_LAUNCHER:-}" ] && command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi

step=starting
# say WORDS...: names the step that begins.
say() {
  step="$*"
  printf '== %s\n' "$step"
}

# Names the step that stopped a script; a script that prints its own last line clears it with `trap - ERR`.
stopped() {
  printf '%s: stopped at "%s"\n' "$(basename "$0")" "$step" >&2
}
trap stopped ERR
