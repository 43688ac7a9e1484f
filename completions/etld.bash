# bash completion for etld(8).

_etld() {
  local word=${COMP_WORDS[COMP_CWORD]:-} before=${COMP_WORDS[COMP_CWORD-1]:-}
  COMPREPLY=()
  case $before in
    --config) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --store) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -W '--config --store --check --help --version' -- "$word") ;;
  esac
}

complete -F _etld etld
