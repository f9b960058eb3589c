# Completion of rooflint for bash.
_rooflint()
{
	local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
	local words='' name option letter often choices argument help
	if [ "$COMP_CWORD" -eq 1 ] || { [ "$command" = help ] && [ "$COMP_CWORD" -eq 2 ]; }; then
		command=-
	fi
	while IFS=$'\t' read -r name option letter often choices argument help; do
		if [ "$command" = - ] && [ "$option" = - ]; then
			words+=" $name"
		elif [ "$name" = "$command" ] && [ "$choices" != - ] && [ "$before" = "--$option" ]; then
			words=$choices
			break
		elif [ "$name" = "$command" ] && [ "$option" != - ] && [[ $now == -* ]]; then
			words+=" --$option"
		fi
	done <<< '@LINES@'
	if [ -n "$words" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$now")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$now")
	fi
}
complete -o filenames -F _rooflint rooflint
