#!/bin/sh
# A weekly audit by an array of sixteen tasks, and a job that merges when all are done:
#
#     parts=$(sbatch --parsable --array=0-15 docs/fleet/slurm.sh runs)
#     sbatch --dependency=afterok:"$parts" docs/fleet/slurm.sh --merge
#
# Run both from a directory that all nodes see; profiles lie below it.  Parts of weeks before this one
# stay, and are what it is compared with.
#SBATCH --job-name=rooflint-audit
#SBATCH --cpus-per-task=4
#SBATCH --time=01:00:00
set -eu
week=parts/$(date -u +%G-W%V)
mkdir -p "$week" report
if [ "${1:-}" = --merge ]; then
	exec rooflint audit --merge parts/*/*.ndjson --until "$(date -u +%F)" \
		--html report/weekly.html --json report/weekly.json
fi
exec rooflint audit "$@" --shard auto -j "${SLURM_CPUS_PER_TASK:-1}" \
	--facts "$week/$SLURM_ARRAY_TASK_ID.ndjson"
