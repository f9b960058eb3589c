-- What is asked of single runs.  question.h says what words these statements may use; each ends with
-- its line.
;
-- A page of runs, newest first, those without a date last.  The inner query says how far back it
-- reaches, from a few columns alone; so the others are read for these runs only, and not sorted for
-- all.
;
SELECT DISTINCT {columns}, captured_ns, {has_kept} AS is_kept
FROM {runs}
WHERE {left} AND captured_ns >= (
	SELECT min(captured_ns)
	FROM (SELECT captured_ns FROM {runs} WHERE {left} ORDER BY captured_ns DESC, hash LIMIT {most}) AS a
)
ORDER BY captured_ns DESC, hash, is_kept DESC
LIMIT {most}
;
-- What is behind a page's last run.
;
captured_ns <= {behind_ns} AND (captured_ns < {behind_ns} OR hash > {behind})
AND (captured_ns = 0 OR captured_ns >= {from} AND captured_ns <= {to}) {of_workload}
;
-- Rules or devices of some runs.
;
SELECT DISTINCT captured_ns, r.hash, {place} AS place, {columns}
FROM {of_part}
WHERE r.hash IN ({hashes}) AND captured_ns >= {from} AND captured_ns <= {to} {of_workload}
ORDER BY captured_ns DESC, r.hash, place
;
-- What is kept beside some runs.
;
SELECT r.hash, {kept} AS bytes
FROM {runs}
WHERE r.hash IN ({hashes}) AND captured_ns >= {from} AND captured_ns <= {to} {of_workload} AND {has_kept}
;
-- Captures of some profiles that one judge has judged.
;
SELECT DISTINCT profile, ifNull(listing, run)
FROM {runs}
WHERE error_id IS NULL AND judge = {judge} AND profile IN ({profiles})
;
-- Step times of the newest runs of each workload on the same chips, oldest first.  A run that was
-- judged twice has one.
;
SELECT workload, chip, chips, step
FROM (
	SELECT *, row_number() OVER (
		PARTITION BY workload, chip, chips ORDER BY captured_ns DESC, run) AS age
	FROM (
		SELECT workload, chip, chips, captured_ns, run, max(step_time_s) AS step
		FROM {runs}
		WHERE captured_ns >= {from} AND captured_ns < {to} AND step_time_s > 0 AND error_id IS NULL
		GROUP BY workload, chip, chips, captured_ns, run
	) AS a
) AS b
WHERE age <= {each}
ORDER BY ifNull(workload, ''), ifNull(chip, ''), ifNull(chips, 0), captured_ns, run
LIMIT {most}
;
