# bash completion for etlctl(1). What may come next is told by etlctl itself, live names included.

_etlctl() {
  local line text
  local -a words=()
  COMPREPLY=()
  # The words up to the cursor; the last may be empty.
  words=("${COMP_WORDS[@]:1:COMP_CWORD-1}" "${COMP_WORDS[COMP_CWORD]:-}")
  [ "${words[-1]}" = = ] && words[-1]=
  while IFS= read -r line; do
    text=${line%%$'\t'*}
    case $text in
      @files)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "${words[-1]}")
        ;;
      @folders)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "${words[-1]}")
        ;;
      *) COMPREPLY+=("$text") ;;
    esac
  done < <("${COMP_WORDS[0]}" complete -- "${words[@]}" 2>/dev/null)
}

complete -F _etlctl etlctl
