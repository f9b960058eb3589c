# Completion of rooflint for fish.
for line in (string split \n -- '@LINES@')
    set -l field (string split \t -- $line)
    set -l seen "__fish_seen_subcommand_from $field[1]"
    if test $field[2] = -
        complete -c rooflint -f -n __fish_use_subcommand -a $field[1] -d $field[7]
        continue
    end
    set -l more
    test $field[3] = -; or set more -s $field[3]
    if test $field[5] != -
        set -a more -x -a $field[5]
    else if test $field[6] != -
        set -a more -r
    end
    complete -c rooflint -n $seen -l $field[2] $more -d $field[7]
end
