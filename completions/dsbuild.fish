# fish completion of dsbuild: `dsbuild completion fish | source`. `dsbuild complete` knows what may stand where;
# fish wants the "--ops=" of a token before each word.
function __dsbuild_complete
    set --local token (commandline --current-token --cut-at-cursor)
    set --local option (string match --regex -- '^--[^=]+=' $token)
    for line in (dsbuild complete (commandline --current-process --cut-at-cursor | string collect) 2>/dev/null)
        switch $line
            case ':folders'
                __fish_complete_directories $token
            case ':files'
                __fish_complete_path $token
            case '*'
                printf '%s%s\n' "$option" $line
        end
    end
end
complete --command dsbuild --no-files --arguments '(__dsbuild_complete)'
