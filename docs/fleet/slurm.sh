#!/bin/sh
# A weekly audit by an array of sixteen tasks into one ClickHouse, and a job that reports when all are
# done.  What the store has is not judged again, by whatever node.
#
#     parts=$(sbatch --parsable --array=0-15 docs/fleet/slurm.sh gs://fleet/runs)
#     sbatch --dependency=afterany:"$parts" docs/fleet/slurm.sh --report
#
# ROOFLINT_CLICKHOUSE_USER and _PASSWORD come from the environment of sbatch.
#SBATCH --job-name=rooflint-audit
#SBATCH --cpus-per-task=4
#SBATCH --time=01:00:00
set -eu
: "${STORE:=clickhouses://clickhouse.example/perf}"
if [ "${1:-}" = --report ]; then
	mkdir -p report
	exec rooflint audit --store "$STORE" --until "$(date -u +%F)" \
		--html report/weekly.html --json report/weekly.json
fi
exec rooflint audit "$@" --shard auto -j "${SLURM_CPUS_PER_TASK:-1}" --store "$STORE"
