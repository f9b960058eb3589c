#!/bin/sh
# Speed and memory as ratios measured in one run, so that they mean the same on any machine.
#
# A real TPU profile is grown to BENCH_BYTES over eight device planes (grow.py); `rooflint check` of
# it is compared with adding up its mapped bytes on two threads, in turns, medians of BENCH_RUNS.  So
# is a real GPU profile grown to BENCH_PLANE_BYTES on one device plane, with the host's lines and
# without, and the TPU's on one plane.
# The same file at BENCH_HOST_BYTES as one host's and as those of ever more hosts of one job, up to
# BENCH_HOSTS, shows what a host adds; and so do hosts of 20,000 ops each, the same program, which
# are read once (tests/builder's many-ops); and BENCH_PROGRAMS of them, each with a program of its
# own (hosts.py).  Then a small profile, start to exit, beside `true`; and a real HLO
# module grown to BENCH_HLO_BYTES, as text and as proto (grow_hlo.py), beside the sum of its bytes, on
# one thread and by processor time, which other work hardly changes.  Last a trace viewer's export,
# grown to BENCH_TRACE_BYTES packed (grow_trace.py), beside `igzip -dc` of it.
# From the environment: O, ROOFLINT, PROFILES, BENCH_BYTES, BENCH_PLANE_BYTES, BENCH_HOSTS,
# BENCH_HOST_BYTES, BENCH_PROGRAMS, BENCH_HLO_BYTES, BENCH_TRACE_BYTES, BENCH_RUNS, BENCH_PROFILE
# (the file to grow), BENCH_HLO_MOST (how many times the sum of its bytes HLO may take).
set -eu
export LC_ALL=C
cd "$(dirname "$0")/../.."
top=$(pwd)
: "${O:?}" "${ROOFLINT:?}"
[ -n "${BENCH_BYTES:-}" ] || BENCH_BYTES=1000000000
[ -n "${BENCH_PLANE_BYTES:-}" ] || BENCH_PLANE_BYTES=300000000
[ -n "${BENCH_HOSTS:-}" ] || BENCH_HOSTS=64
[ -n "${BENCH_HOST_BYTES:-}" ] || BENCH_HOST_BYTES=20000000
[ -n "${BENCH_PROGRAMS:-}" ] || BENCH_PROGRAMS=64
[ -n "${BENCH_HLO_BYTES:-}" ] || BENCH_HLO_BYTES=40000000
[ -n "${BENCH_HLO_MOST:-}" ] || BENCH_HLO_MOST=150
[ -n "${BENCH_TRACE_BYTES:-}" ] || BENCH_TRACE_BYTES=66000000 # 500 MB as JSON
[ -n "${BENCH_RUNS:-}" ] || BENCH_RUNS=5
PROFILES=${PROFILES:-$top/../shared/profiles}
case $O in
/*) tools=$O/tests/bench ;;
*) tools=$top/$O/tests/bench ;;
esac

# The real capture where it is, else the one that the project carries.
first()
{
	for file in "$@"; do
		if [ -f "$file" ]; then
			printf '%s\n' "$file"
			return
		fi
	done
	echo "bench: no profile to measure with" >&2
	return 1
}
set -- "$top"/tests/profiles/demo/plugins/profile/*/*.xplane.pb
large=$(first ${BENCH_PROFILE:+"$BENCH_PROFILE"} \
	"$PROFILES"/tpu-inference-2/plugins/profile/*/*.xplane.pb "$@")
gpu=$(first "$PROFILES"/mi300-gemm-08/plugins/profile/*/*.xplane.pb "$large")
small=$(first "$PROFILES"/mi300-conv-08/plugins/profile/*/*.xplane.pb "$@")

box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
trap 'exit 130' INT TERM
cd "$box"

# Two processors for everything, as in the targets.
two=
if [ "$(getconf _NPROCESSORS_ONLN)" -gt 2 ] && command -v taskset >/dev/null 2>&1; then
	two='taskset -c 0,1'
fi

printf 'input: %s\n       ' "${large##*/}, grown"
python3 "$top/tests/bench/grow.py" "$large" "$BENCH_BYTES" "$box/large.xplane.pb"
bytes=$(($(wc -c <"$box/large.xplane.pb")))
sync # the kernel writes the gigabyte back now and not while others are timed
# shellcheck disable=SC2086 # a command or nothing
$two "$tools/cost" "$BENCH_RUNS" "$tools/sumbytes" large.xplane.pb 2 \
	-- "$ROOFLINT" check large.xplane.pb >"$box/large.txt"
rm -f "$box/large.xplane.pb"

# one TITLE FILE [host]: its ratio on one device plane.
one()
{
	python3 "$top/tests/bench/grow.py" "$2" "$BENCH_PLANE_BYTES" "$box/one.xplane.pb" 1 \
		${3:+"$3"} >/dev/null
	sync
	# shellcheck disable=SC2086
	$two "$tools/cost" "$BENCH_RUNS" "$tools/sumbytes" one.xplane.pb 2 \
		-- "$ROOFLINT" check one.xplane.pb >"$box/one.txt"
	awk -v title="$1" -v bytes="$(($(wc -c <"$box/one.xplane.pb")))" '
	{ seconds[FNR] = $1; mib[FNR] = $2 / 1024; status[FNR] = $3 }
	END {
		printf "  %-24s %8.3f s  %7.1f GB/s  peak %6.0f MiB  exit %d  ratio %5.1f x\n", title,
			seconds[2], bytes / 1e9 / seconds[2], mib[2], status[2], seconds[2] / seconds[1]
		exit !(status[2] ~ /^[014]$/)
	}' "$box/one.txt"
	rm -f "$box/one.xplane.pb"
}
set --
for hosts in 1 $((BENCH_HOSTS / 8)) $((BENCH_HOSTS / 4)) $((BENCH_HOSTS / 2)) "$BENCH_HOSTS"; do
	set -- "$@" ${1:+--} "$ROOFLINT" check "hosts-$hosts"
	run=$box/hosts-$hosts/plugins/profile/run
	mkdir -p "$run"
	[ -f "$box/host.pb" ] || python3 "$top/tests/bench/grow.py" "$large" "$BENCH_HOST_BYTES" \
		"$box/host.pb" >/dev/null
	host=0
	while [ "$host" -lt "$hosts" ]; do
		ln "$box/host.pb" "$run/host-$host.xplane.pb"
		host=$((host + 1))
	done
done
# shellcheck disable=SC2086
$two "$tools/cost" "$BENCH_RUNS" "$@" >"$box/hosts.txt"
python3 "$top/tests/builder/build.py" "$top/tests/builder/scenarios/many-ops.toml" "$box/many"
for hosts in 1 "$BENCH_HOSTS"; do
	run=$box/ops-$hosts/plugins/profile/run
	mkdir -p "$run"
	host=0
	while [ "$host" -lt "$hosts" ]; do
		ln "$box"/many/plugins/profile/*/*.xplane.pb "$run/host-$host.xplane.pb"
		host=$((host + 1))
	done
done
# shellcheck disable=SC2086
$two "$tools/cost" 1 "$ROOFLINT" check ops-1 -- "$ROOFLINT" check "ops-$BENCH_HOSTS" >"$box/ops.txt"
if [ "$BENCH_PROGRAMS" -gt 1 ]; then
	python3 "$top/tests/bench/hosts.py" "$BENCH_PROGRAMS" "$box/programs"
	# shellcheck disable=SC2086
	$two "$tools/cost" 1 "$ROOFLINT" check programs | awk -v hosts="$BENCH_PROGRAMS" '
	{ printf "  %-3d, each its own        %8.3f s                peak %6.0f MiB  exit %d\n",
		hosts, $1, $2 / 1024, $3 }'
	rm -rf "$box/programs"
fi
# shellcheck disable=SC2086
$two "$tools/cost" 50 true -- "$ROOFLINT" --version -- "$ROOFLINT" check "$small" >"$box/small.txt"

hlo=$top/tests/profiles/hlo/fsdp_scan.v5e-2x4.hlo
for form in txt pb; do
	python3 "$top/tests/bench/grow_hlo.py" "$hlo.$form" "$BENCH_HLO_BYTES" "$box/large.hlo.$form" \
		>/dev/null
done
# shellcheck disable=SC2086
$two "$tools/cost" "$BENCH_RUNS" "$tools/sumbytes" large.hlo.txt \
	-- "$ROOFLINT" hlo --hardware tpu_v5e large.hlo.txt -- "$tools/sumbytes" large.hlo.pb \
	-- "$ROOFLINT" hlo --hardware tpu_v5e large.hlo.pb >"$box/hlo.txt"

awk -v most="$BENCH_HLO_MOST" -v text="$(($(wc -c <"$box/large.hlo.txt")))" -v proto="$(($(wc -c <"$box/large.hlo.pb")))" \
	-v hosts="$BENCH_HOSTS" -v host_bytes="$(($(wc -c <"$box/host.pb")))" -v bytes="$bytes" -v small="$(($(wc -c <"$small")))" -v runs="$BENCH_RUNS" '
FILENAME ~ /large/ { seconds[FNR] = $1; mib[FNR] = $2 / 1024; status[FNR] = $3 }
FILENAME ~ /hlo.txt$/ { hlo_mib[FNR] = $2 / 1024; done[FNR] = $3; hlo_cpu[FNR] = $4; next }
FILENAME ~ /hosts.txt$/ { host_s[FNR] = $1; host_mib[FNR] = $2 / 1024; said[FNR] = $3; next }
FILENAME ~ /ops.txt$/ { ops_s[FNR] = $1; ops_mib[FNR] = $2 / 1024; judged[FNR] = $3; next }
FILENAME ~ /small/ { ms[FNR] = $1 * 1000; code[FNR] = $3 }
END {
	printf "%.2f GB, median of %d in turns, two threads\n", bytes / 1e9, runs
	printf "  sum of the mapped bytes  %8.3f s  %7.1f GB/s  peak %6.0f MiB\n",
		seconds[1], bytes / 1e9 / seconds[1], mib[1]
	printf "  rooflint check           %8.3f s  %7.1f GB/s  peak %6.0f MiB  exit %d\n",
		seconds[2], bytes / 1e9 / seconds[2], mib[2], status[2]
	printf "  ratio                    %8.1f x\n", seconds[2] / seconds[1]
	printf "hosts of %d MB and eight planes each\n", host_bytes / 1e6
	for (i = 1; i in host_s; i++) {
		n = i == 1 ? 1 : int(hosts / 2 ^ (5 - i))
		printf "  %-3d                      %8.3f s  %7.1f GB/s  peak %6.0f MiB  exit %d\n", n,
			host_s[i], n * host_bytes / 1e9 / host_s[i], host_mib[i], said[i]
	}
	# The steps and gaps kept of eight devices, and where things stand in the file.
	more = (host_mib[5] - host_mib[1]) / (hosts - 1)
	printf "  a host more                                     %8.1f MiB\n", more
	printf "hosts of 20,000 ops and two planes each\n"
	for (i = 1; i in ops_s; i++)
		printf "  %-3d                      %8.3f s                peak %6.0f MiB  exit %d\n",
			i == 1 ? 1 : hosts, ops_s[i], ops_mib[i], judged[i]
	more_ops = (ops_mib[2] - ops_mib[1]) / (hosts - 1)
	printf "  a host more                                     %8.1f MiB\n", more_ops
	printf "%d kB, start to exit, median of 50\n", small / 1000
	printf "  true                     %8.2f ms\n", ms[1]
	printf "  rooflint --version       %8.2f ms\n", ms[2]
	printf "  rooflint check           %8.2f ms  exit %d\n", ms[3], code[3]
	printf "HLO read and costed, one thread, beside the sum of its bytes by processor time\n"
	text_ratio = hlo_cpu[2] / hlo_cpu[1]
	proto_ratio = hlo_cpu[4] / hlo_cpu[3]
	printf "  text  %4.0f MB            %8.3f s  %7.0f MB/s  peak %6.0f MiB          ratio %5.1f x\n",
		text / 1e6, hlo_cpu[2], text / 1e6 / hlo_cpu[2], hlo_mib[2], text_ratio
	printf "  proto %4.0f MB            %8.3f s  %7.0f MB/s  peak %6.0f MiB          ratio %5.1f x\n",
		proto / 1e6, hlo_cpu[4], proto / 1e6 / hlo_cpu[4], hlo_mib[4], proto_ratio
	slow = text_ratio > most || proto_ratio > most
	if (slow)
		printf "bench: HLO takes more than %d times the sum of its bytes\n", most
	# 0, 1 and 4 are verdicts; anything else measured a failure.
	exit !(status[2] ~ /^[014]$/ && more < 3 && more_ops < 3 && judged[1] judged[2] ~ /^[014][014]$/ && code[3] ~ /^[014]$/ && done[2] done[4] == "00" &&
		!slow)
}' "$box/large.txt" "$box/small.txt" "$box/hlo.txt" "$box/hosts.txt" "$box/ops.txt"

printf '%d MB on one device plane, beside the sum of its bytes\n' $((BENCH_PLANE_BYTES / 1000000))
one 'a GPU, host lines too' "$gpu" host
one 'a GPU alone' "$gpu"
one 'a TPU alone' "$large"

set -- "$PROFILES"/tpu-vllm-qwen-trace/plugins/profile/*/*.trace.json.gz
if [ ! -f "$1" ] || ! command -v igzip >/dev/null 2>&1; then
	echo 'trace: skipped, needs a real one in PROFILES and igzip (package isal)'
	exit 0
fi
printf 'input: %s\n       ' "${1##*/}, grown"
python3 "$top/tests/bench/grow_trace.py" "$1" "$BENCH_TRACE_BYTES" "$box/large.trace.json.gz"
# shellcheck disable=SC2086
$two "$tools/cost" "$BENCH_RUNS" igzip -dc large.trace.json.gz \
	-- "$ROOFLINT" check large.trace.json.gz >"$box/trace.txt"
awk -v bytes="$(($(wc -c <"$box/large.trace.json.gz")))" -v runs="$BENCH_RUNS" '
{ seconds[FNR] = $1; mib[FNR] = $2 / 1024; status[FNR] = $3 }
END {
	printf "%.2f GB packed, median of %d in turns, two threads\n", bytes / 1e9, runs
	printf "  igzip -dc                %8.3f s                peak %6.0f MiB\n", seconds[1], mib[1]
	printf "  rooflint check           %8.3f s                peak %6.0f MiB  exit %d\n",
		seconds[2], mib[2], status[2]
	printf "  ratio                    %8.1f x\n", seconds[2] / seconds[1]
	exit !(status[2] ~ /^[014]$/)
}' "$box/trace.txt"
