-- What a fleet's report asks of a store: pairs of a table that is made here, and the question whose
-- rows it takes.  question.h says what words they may use; each statement ends with its line.
--
--   {to}, {from}, {before}   this window is (from, to], the one before it (before, from]
--   {begin}, {end}           of one window, of those that make up the history; it is {ago} windows ago
--   {judge}                  whose judgement counts where there are several

-- One judgement of each capture: this judge's if there is one.  Copies count once, for the workload
-- that has most captures of its own, else the shortest path: an archive does not take a run from the
-- real one.  Of a capture that was
-- read in part, too, since not all hosts had come or a sample was asked for, the one with most hosts
-- counts; its parts begin within half a minute of one another.  A profile that could not be read once
-- and now can is no longer unreadable.
-- (The frame of one row before may be empty; then ClickHouse has 0 where SQLite has NULL.)
;
SELECT * FROM (
	SELECT *,
		max(is_ok) OVER (PARTITION BY profile) AS any_ok,
		max(is_ok) OVER prev AS prev_ok, max(captured_ns) OVER prev AS prev_ns,
		max(weight) OVER prev AS prev_weight,
		max(is_ok) OVER next AS next_ok, max(captured_ns) OVER next AS next_ns,
		max(weight) OVER next AS next_weight
	FROM (
		SELECT *, row_number() OVER (
			PARTITION BY run ORDER BY is_judge DESC, owns DESC, length(hex(profile)), profile,
				hash) AS copy
		FROM (SELECT *, sum(is_own) OVER (PARTITION BY name) AS owns FROM (SELECT *,
			CASE WHEN min(name) OVER (PARTITION BY run) = max(name) OVER (PARTITION BY run)
				THEN 1 ELSE 0 END AS is_own, is_judge * 1000000 + ifNull(hosts, 0) AS weight
			FROM (
			SELECT hash, run, profile, {workload} AS name, chip, chips, global_batch,
				tokens_per_step, quality, captured_ns, step_ns, share_e12, lo_e12, hi_e12, mfu_e12,
				steps_e12, outcome, because,
				CASE WHEN error_id IS NULL THEN 1 ELSE 0 END AS is_ok,
				CASE WHEN judge = {judge} THEN 1 ELSE 0 END AS is_judge, hosts
			FROM {runs}
			WHERE captured_ns = 0 OR (captured_ns > {before} AND captured_ns <= {to})
		) AS a) AS aa) AS ab
	) AS b
	WHERE copy = 1
	WINDOW prev AS (PARTITION BY profile ORDER BY captured_ns, hash
			ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING),
		next AS (PARTITION BY profile ORDER BY captured_ns, hash
			ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING)
) AS c
WHERE (is_ok = 1 OR any_ok = 0)
	AND CASE WHEN captured_ns > 0
		AND (prev_ok = 1 AND captured_ns - prev_ns <= 30500000000 AND prev_weight >= weight
			OR next_ok = 1 AND next_ns - captured_ns <= 30500000000 AND next_weight > weight)
		THEN 0 ELSE 1 END = 1
;
-- Days of a history: captures that came, and the median step of those that are usable.  A capture
-- that was judged several times, or lies in several places of a workload, is one by its moment.
-- hi_e12 is NULL where it is lo_e12.
CREATE TABLE days (workload TEXT, chip TEXT, chips REAL, global_batch REAL, tokens_per_step REAL,
	ago INTEGER, day INTEGER, runs INTEGER, usable INTEGER, step_ns INTEGER, first_ns INTEGER,
	last_ns INTEGER, usable_ns INTEGER, last_usable_ns INTEGER, is_cpu INTEGER, share_e12 INTEGER,
	shares INTEGER, lo_e12 INTEGER, los INTEGER, hi_e12 INTEGER)
;
SELECT name, chip, chips, global_batch, tokens_per_step, {ago}, day, count(*), ifNull(sum(ok), 0),
	medianExactLow(step), min(captured_ns), max(captured_ns), min(captured_ns * ok),
	max(captured_ns * ok), max(cpus), sum(share), count(share), sum(lo), count(lo),
	nullIf(sum(hi), sum(lo))
FROM (
	SELECT name, chip, chips, global_batch, tokens_per_step, captured_ns,
		intDiv(captured_ns, 86400000000000) AS day, max(good) AS ok, max(cpu) AS cpus,
		min(step_ns * good) AS step, min(share_e12 * good) AS share,
		min(lo_e12 * good) AS lo, min(hi_e12 * good) AS hi
	FROM (
		SELECT *, {workload} AS name, CASE WHEN outcome = 'judged' THEN 1 END AS good,
			CASE WHEN platform = 'cpu' THEN 1 ELSE 0 END AS cpu
		FROM {runs} WHERE captured_ns > {begin} AND captured_ns <= {end}
	) AS a
	GROUP BY name, chip, chips, global_batch, tokens_per_step, captured_ns
) AS b
GROUP BY name, chip, chips, global_batch, tokens_per_step, day
;
-- What is alike in a workload: usable runs of one window on as many of the same chips, with the same
-- batch.  Sums, and the moment of the newest of them.
CREATE TABLE alike (workload TEXT, is_now INTEGER, chip TEXT, chips REAL, global_batch REAL,
	tokens_per_step REAL, runs INTEGER, share_e12 INTEGER, shares INTEGER, lo_e12 INTEGER,
	los INTEGER, hi_e12 INTEGER, his INTEGER, mfu_e12 INTEGER, mfus INTEGER, steps_e12 INTEGER,
	known_steps INTEGER, step_ns INTEGER, captured_ns INTEGER)
;
SELECT name, is_now, chip, chips, global_batch, tokens_per_step, count(*), sum(share_e12),
	count(share_e12), sum(lo_e12), count(lo_e12), sum(hi_e12), count(hi_e12), sum(mfu_e12),
	count(mfu_e12), sum(steps_e12), count(steps_e12), sum(step_ns), max(captured_ns)
FROM (SELECT *, CASE WHEN captured_ns > {from} THEN 1 ELSE 0 END AS is_now FROM ({judged}) AS j
	WHERE outcome = 'judged') AS k
GROUP BY name, is_now, chip, chips, global_batch, tokens_per_step
;
CREATE TABLE seen (outcome TEXT, workload TEXT, runs INTEGER, because TEXT, run TEXT, profile TEXT)
;
SELECT outcome, name, many, because, run, profile
FROM (
	SELECT outcome, name, because, run, profile,
		count(*) OVER (PARTITION BY outcome, name) AS many,
		row_number() OVER (PARTITION BY outcome, name ORDER BY profile, hash) AS place
	FROM ({judged}) AS j WHERE captured_ns = 0 OR captured_ns > {from}
) AS s
WHERE place = 1
;
-- What each rule's findings cost in this window, summed over usable runs.
CREATE TABLE claims (workload TEXT, rule TEXT, gain_e12 INTEGER)
;
SELECT name, rule, sum(gain)
FROM (
	SELECT DISTINCT r.hash AS id, {workload} AS name, v.rule AS rule, v.gain_e12 AS gain
	FROM {of_rules}
	WHERE v.verdict IN ('fail', 'warn') AND captured_ns > {from} AND captured_ns <= {to}
) AS a
WHERE id IN (SELECT hash FROM ({judged}) AS j WHERE outcome = 'judged' AND captured_ns > {from})
GROUP BY name, rule
;
-- Hosts that were late at least once, in every workload that ran on them in this window: late is a
-- host whose slowest device takes 5% longer than the median of its job.  What a run loses counts
-- once, with its slowest device.  Of a run to look at, the one place is 1.
CREATE TABLE late_hosts (workload TEXT, host TEXT, runs INTEGER, late INTEGER, excess_e12 INTEGER,
	lost_e12 INTEGER, devices INTEGER, first_device TEXT, last_device TEXT, run TEXT, profile TEXT)
;
SELECT name, host, runs, late, excess, lost, devices, first_device, last_device, run, profile
FROM (
	SELECT *, sum(late) OVER (PARTITION BY host) AS ever
	FROM (
		SELECT name, host, count(*) AS runs, sum(is_late) AS late,
			sum(is_late * excess) AS excess,
			sum(CASE WHEN of_run = 1 THEN is_late * lost ELSE 0 END) AS lost,
			max(devices) AS devices,
			min(CASE WHEN is_late = 1 THEN device END) AS first_device,
			max(CASE WHEN is_late = 1 THEN device END) AS last_device,
			max(CASE WHEN place = 1 THEN run END) AS run,
			max(CASE WHEN place = 1 THEN profile END) AS profile
		FROM (
			SELECT *, row_number() OVER (PARTITION BY name, host
				ORDER BY is_late DESC, captured_ns DESC, profile, id) AS place
			FROM (
				SELECT *,
					row_number() OVER (PARTITION BY id
						ORDER BY excess DESC, host, device) AS of_run,
					row_number() OVER (PARTITION BY id, host
						ORDER BY excess DESC, device) AS of_host,
					sum(is_late) OVER (PARTITION BY id, host) AS devices
				FROM (
					SELECT DISTINCT r.hash AS id, {workload} AS name, run, profile,
						captured_ns, v.host AS host, v.device AS device,
						v.excess_e12 AS excess, v.lost_e12 AS lost,
						CASE WHEN v.excess_e12 >= 50000000000 THEN 1 ELSE 0 END
							AS is_late
					FROM {of_devices}
					WHERE captured_ns > {from} AND captured_ns <= {to}
				) AS a
				WHERE id IN (SELECT hash FROM ({judged}) AS j
					WHERE outcome = 'judged' AND captured_ns > {from})
			) AS b
			WHERE of_host = 1
		) AS c
		GROUP BY name, host
	) AS d
) AS e
WHERE ever > 0
;
CREATE TABLE flaws (quality TEXT, workload TEXT, runs INTEGER, run TEXT, profile TEXT, captured_ns INTEGER)
;
SELECT quality, name, many, run, profile, captured_ns
FROM (
	SELECT quality, name, run, profile, captured_ns,
		count(*) OVER (PARTITION BY quality, name) AS many,
		row_number() OVER (PARTITION BY quality, name
			ORDER BY captured_ns DESC, profile, hash) AS place
	FROM ({judged}) AS j WHERE quality IS NOT NULL AND captured_ns > {from}
) AS s
WHERE place = 1
;
CREATE TABLE later (workload TEXT, runs INTEGER, run TEXT, profile TEXT)
;
SELECT {workload} AS name, count(DISTINCT run), max(run), max(profile)
FROM {runs} WHERE captured_ns > {later}
GROUP BY name
;
-- Captures of certain moments: the newest ones, of a change point, of a workload that is missing.
CREATE TABLE turns (workload TEXT, captured_ns INTEGER, outcome TEXT, hash TEXT, run TEXT, profile TEXT,
	owner TEXT, model TEXT, commit_id TEXT, platform TEXT, chip TEXT, chips REAL, global_batch REAL,
	tokens_per_step REAL, judge TEXT, rules TEXT)
;
SELECT DISTINCT {workload} AS name, captured_ns, outcome, hash, run, profile, owner, model, commit_id,
	platform, chip, chips, global_batch, tokens_per_step, judge, rules
FROM {runs} WHERE captured_ns IN ({moments})
;
-- What the rules said of certain runs.
CREATE TABLE sayings (hash TEXT, rule TEXT, title TEXT, verdict TEXT, message TEXT, note TEXT,
	waiver_ends TEXT, gain_e12 INTEGER)
;
SELECT DISTINCT r.hash, v.rule, v.title, v.verdict, v.message, v.note, v.waiver_ends, v.gain_e12
FROM {of_rules} WHERE r.hash IN ({hashes})
;
CREATE TABLE captures (workload TEXT, captured_ns INTEGER, run TEXT)
;
SELECT DISTINCT {workload} AS name, captured_ns, run FROM {runs} WHERE captured_ns IN ({moments})
;
-- In how many windows before this one usable runs of certain workloads broke which rules.
CREATE TABLE broke (workload TEXT, rule TEXT, windows INTEGER)
;
SELECT name, rule, count(DISTINCT ago)
FROM (
	SELECT {workload} AS name, v.rule AS rule, intDiv({to} - captured_ns, {span}) AS ago
	FROM {of_rules} WHERE {workload} IN ({names}) AND captured_ns > {begin} AND captured_ns <= {from}
		AND outcome = 'judged' AND v.verdict IN ('fail', 'warn')
) AS a
GROUP BY name, rule
;
CREATE TABLE newest_moment (captured_ns INTEGER)
;
SELECT max(captured_ns) FROM {runs} WHERE captured_ns <= {end}
;
