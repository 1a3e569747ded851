# bash completion of dsbuild: `source <(dsbuild completion bash)`. `dsbuild complete` knows what may stand
# where; its words are whole values, bash itself ends words at "=".
_dsbuild() {
  local begun="${COMP_WORDS[COMP_CWORD]}" word
  [[ $begun == "=" ]] && begun=""
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    case "$word" in
      :folders | :files)
        compopt -o filenames
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(
          compgen "$([[ $word == :folders ]] && echo -d || echo -f)" -- "${begun#[\"\']}")
        ;;
      *) COMPREPLY+=("$word") ;;
    esac
  done < <("${1/#\~/$HOME}" complete "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -F _dsbuild dsbuild
