#!/usr/bin/env bash
# check_completions.bash ETLCTL REPO FOLDER: runs the completion function of each shell that is there, on a store that was
# filled from the example leaderboard, and compares what it offers.
set -euo pipefail

etlctl=$1 repo=$2 folder=$3
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/typed_in/subfolder"
ln -s "$etlctl" "$folder/bin/etlctl"
PATH=$folder/bin:$PATH
export ETL_STORE=$folder/store
etlctl backfill --source sol-execbench --from "$repo/fixtures/leaderboard/1" >/dev/null
cd "$folder/typed_in"
touch a_file
faults=0

# same WHAT EXPECTED ACTUAL
same() {
  if [ "$2" != "$3" ]; then
    printf '%s: expected "%s", got "%s"\n' "$1" "$2" "$3"
    faults=$((faults + 1))
  fi
}

# shellcheck source=completions/etlctl.bash
. "$repo/completions/etlctl.bash"
same "the function is bound" "complete -F _etlctl etlctl" "$(complete -p etlctl)"

# in_bash WORD...: what bash offers with the cursor behind the last word, on one line.
in_bash() {
  COMP_WORDS=(etlctl "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  _etlctl etlctl "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
  printf '%s\n' "${COMPREPLY[*]}"
}

# in_zsh WORD...: the same in zsh, with its own functions for offering replaced by ones that print.
in_zsh() {
  zsh -f -c '
    compadd() { print -r -- "${offered[*]}" }
    _files() { print -r -- "files $*" }
    file=$1; shift
    words=(etlctl "$@"); CURRENT=$#words
    source $file' zsh "$repo/completions/_etlctl" "$@"
}

# in_fish WORD...: what fish offers for such a line.
in_fish() {
  local line="etlctl $*"
  fish --no-config --command "source $repo/completions/etlctl.fish; complete --do-complete '$line'" | cut -f1 | paste -sd' '
}

for shell in bash zsh fish; do
  if ! command -v $shell >/dev/null; then
    printf 'not tried: there is no %s here\n' $shell
    continue
  fi
  same "$shell: a command" "records" "$(in_$shell recor)"
  same "$shell: commands of a command" "entry object run" "$(in_$shell get '' | tr ' ' '\n' | sort | paste -sd' ')"
  same "$shell: an option" "--as-of" "$(in_$shell ranks --as)"
  same "$shell: an option before a command" "--store" "$(in_$shell --st)"
  same "$shell: a source" "sol-execbench" "$(in_$shell backfill --source so)"
  same "$shell: a kernel" "005_scalar_drift_adam" "$(in_$shell ranks --kernel 005)"
  same "$shell: a format" "json jsonl" "$(in_$shell status -o js)"
  same "$shell: nothing after nonsense" "" "$(in_$shell nonsense x)"
done
same "bash: files" "a_file" "$(in_bash digest a_)"
same "bash: folders" "subfolder" "$(in_bash rebuild '')"
same "bash: a value behind =" "json jsonl" "$(in_bash status --output = js)"

# etld has options alone; they are compared with those of its manual page.
options=$(sed -n 's/^\.It Fl.* Fl -\([a-z]*\).*/--\1/p; s/^\.It Fl -\([a-z]*\).*/--\1/p' "$repo/docs/man/etld.8" | sort -u | paste -sd' ')
# shellcheck source=completions/etld.bash
. "$repo/completions/etld.bash"
COMP_WORDS=(etld '') COMP_CWORD=1
_etld || true  # compopt works in a real completion only
same "bash: the options of etld" "$options" "$(printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd' ')"
COMP_WORDS=(etld --config a_) COMP_CWORD=2
_etld || true  # compopt works in a real completion only
same "bash: the file of etld" "a_file" "${COMPREPLY[*]}"
same "zsh: the options of etld" "$options" "$(grep -oE -- "'?--[a-z]+(\[|\})|,--[a-z]+\}" "$repo/completions/_etld" | tr -dc 'a-z\n-' | sort -u | paste -sd' ')"
if command -v fish >/dev/null; then
  same "fish: the options of etld" "$options" \
    "$(fish --no-config --command "source $repo/completions/etld.fish; complete --do-complete 'etld --'" | cut -f1 | sort | paste -sd' ')"
fi

if command -v zsh >/dev/null; then same "zsh: files" "files " "$(in_zsh digest a_)"; fi
if command -v fish >/dev/null; then same "fish: folders" "subfolder/" "$(in_fish rebuild sub)"; fi

if [ "$faults" -gt 0 ]; then
  printf '%d faults\n' "$faults"
  exit 1
fi
rm -rf "$folder"
printf 'completions offer what they should\n'
