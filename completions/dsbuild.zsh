#compdef dsbuild
# zsh completion of dsbuild: `source <(dsbuild completion zsh)` behind compinit, or this file as _dsbuild in a
# folder of $fpath. `dsbuild complete` knows what may stand where.
_dsbuild() {
  local line word help
  local -a candidates
  line="${(j: :)words[1,CURRENT-1]} $QIPREFIX$PREFIX"
  [[ $PREFIX == --*=* ]] && compset -P '*='
  while IFS=$'\t' read -r word help; do
    case $word in
      :folders) _files -/ ;;
      :files) _files ;;
      *) candidates+=("${word//:/\\:}${help:+:$help}") ;;
    esac
  done < <(${(Q)words[1]} complete $line 2>/dev/null)
  _describe dsbuild candidates
}
if [[ $funcstack[1] == _dsbuild ]]; then
  _dsbuild "$@"
else
  compdef _dsbuild dsbuild
fi
