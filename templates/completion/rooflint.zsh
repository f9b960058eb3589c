#compdef rooflint
# Completion of rooflint for zsh.
_rooflint()
{
	setopt local_options extended_glob
	local lines='@LINES@' line spec MATCH MBEGIN MEND
	local -a commands options fields
	for line in "${(@f)lines}"; do
		fields=("${(@ps:\t:)line}")
		if [[ $fields[2] == - ]]; then
			commands+=("$fields[1]:${fields[7]//:/\\:}")
			continue
		fi
		[[ $fields[1] == $words[2] ]] || continue
		spec="--$fields[2][${fields[7]//(#m)[][:\\]/\\$MATCH}]"
		[[ $fields[4] == - ]] || spec="*$spec"
		if [[ $fields[5] != - ]]; then
			spec+=":word:($fields[5])"
		elif [[ $fields[6] != - ]]; then
			spec+=":${fields[6]//:/\\:}:_files"
		fi
		options+=("$spec")
	done
	if (( CURRENT == 2 )) || [[ $words[2] == help && CURRENT -eq 3 ]]; then
		_describe command commands
		return
	fi
	shift words
	(( CURRENT-- ))
	_arguments $options '*:file:_files'
}
_rooflint "$@"
