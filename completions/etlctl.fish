# fish completion for etlctl(1). What may come next is told by etlctl itself, live names included.

function __etlctl_complete
    # The words after the program, and the one at the cursor, which may be empty.
    set -l words (commandline --tokenize --current-process --cut-at-cursor)
    set -l last (commandline --current-token --cut-at-cursor)
    for line in ($words[1] complete -- $words[2..-1] "$last" 2>/dev/null)
        switch $line
            case @files
                __fish_complete_path "$last"
            case @folders
                __fish_complete_directories "$last"
            case '*'
                echo $line
        end
    end
end

complete --command etlctl --no-files --arguments '(__etlctl_complete)'
