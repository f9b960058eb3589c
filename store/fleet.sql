-- A fleet's facts as the tables that answers.sql reads.
--
--   :to, :from, :before   this window is (from, to], the one before it (before, from]
--   :judge                whose judgement counts where there are several
--
-- Every table is made in an order of its own, so that sums and ties do not depend on the order in
-- which facts came.  Ratios of a group are weighted by chips, since what runs on more chips wastes
-- more; by chip-hours where those of every workload are known, so that none is left out of a ratio
-- unseen.
--
-- A CPU is no chip: what ran on CPUs alone is told of by itself, and adds to no chips or chip-hours.

-- One judgement of each capture: this judge's if there is one; copies elsewhere count once.  Of a
-- capture that was read in part, too, since not all hosts had come or a sample was asked for, the one
-- with most hosts counts; its parts begin within half a minute of one another.  A profile that could
-- not be read once and now can is no longer unreadable.
CREATE INDEX runs_place ON runs (profile);
CREATE TABLE judged AS
SELECT *
FROM (SELECT *, row_number() OVER (
	PARTITION BY run ORDER BY judge = :judge DESC, profile, hash) AS copy
	FROM runs AS r
	WHERE NOT EXISTS (
		SELECT 1 FROM runs AS o
		WHERE o.profile = r.profile AND o.run <> r.run AND o.error_id IS NULL
			AND abs(julianday(o.captured) - julianday(r.captured)) < 30.5 / 86400
			AND (o.judge = :judge, ifnull(o.hosts, 0), o.hash)
				> (r.judge = :judge, ifnull(r.hosts, 0), r.hash)))
WHERE copy = 1 AND (error_id IS NULL
	OR profile NOT IN (SELECT profile FROM runs WHERE error_id IS NULL))
ORDER BY captured, hash;

-- What a number can be made of: judged, on evidence, with steps.  No ranking of anything else.
CREATE TABLE usable AS
SELECT *, platform IS 'cpu' AS is_cpu, captured > :from AS is_now, captured > :before AS is_recent,
	min(1.0, max(0.0, gain_s / step_time_s)) AS share
FROM judged
WHERE error_id IS NULL AND verdict <> 'inconclusive' AND step_time_s > 0 AND captured <= :to
ORDER BY captured, hash;
CREATE INDEX usable_workload ON usable (workload, captured, hash);

-- The newest usable run of each workload in this window, and the newest before it.
CREATE TABLE latest AS
SELECT *
FROM (SELECT *, row_number() OVER (
	PARTITION BY workload, is_now ORDER BY captured DESC, hash) AS age FROM usable)
WHERE age = 1
ORDER BY workload, is_now;

-- Chip-hours of each workload, and what they cost where every line says so.
CREATE TABLE bill AS
SELECT workload, sum(chip_hours) AS chip_hours,
	CASE WHEN count(price) = count(*) THEN sum(chip_hours * price) END AS dollars
FROM (SELECT * FROM usage ORDER BY workload, chip_hours, price)
GROUP BY workload;

-- Whether the chip-hours of all workloads are known.
CREATE TABLE weighing AS
SELECT ifnull(min(workload IN (SELECT workload FROM bill WHERE chip_hours > 0)), 0) AS by_hours
FROM usable WHERE is_now AND NOT is_cpu;

-- A workload in a window: means over its runs, and what its newest run is.  A step on other chips, or
-- on more of them, is another step, so the mean step time is that of runs like the newest.  Where no
-- op's cost is known, neither is a ratio, rather than anything from 0 to 1.  Chip-hours are those of
-- this window; as weights they serve the one before, too, so that only its ratios differ.
CREATE TABLE fleet AS
SELECT means.*, r.run, r.profile, r.owner, r.model, r.is_cpu, r.chips AS devices,
	CASE WHEN r.is_cpu THEN 'cpu' ELSE r.chip END AS chip,
	CASE WHEN NOT r.is_cpu THEN r.chips END AS chips,
	(SELECT avg(step_time_s) FROM usable AS u
		WHERE u.workload = r.workload AND u.is_now = r.is_now AND u.is_recent
			AND u.chip IS r.chip AND u.chips IS r.chips) AS step_time_s,
	CASE WHEN means.is_now AND NOT r.is_cpu THEN b.chip_hours END AS chip_hours,
	CASE WHEN means.is_now AND NOT r.is_cpu THEN b.dollars END AS dollars,
	CASE WHEN r.is_cpu THEN NULL WHEN (SELECT by_hours FROM weighing) THEN b.chip_hours
		ELSE r.chips END AS weight,
	CASE
		WHEN r.is_cpu THEN 'CPUs only'
		WHEN r.chips IS NULL THEN 'unknown'
		WHEN r.chips <= 1 THEN '1 chip'
		WHEN r.chips <= 8 THEN '2 to 8 chips'
		WHEN r.chips <= 64 THEN '9 to 64 chips'
		WHEN r.chips <= 512 THEN '65 to 512 chips'
		ELSE 'more than 512 chips'
	END AS size
FROM (
	SELECT workload, is_now, count(*) AS runs,
		avg(share) AS share, avg(lo) AS roofline_ratio, avg(ifnull(hi, lo)) AS roofline_ratio_hi,
		avg(mfu) AS mfu
	FROM (SELECT *, CASE WHEN judged_ratio IS NOT 0 THEN roofline_ratio_lo END AS lo,
			CASE WHEN judged_ratio IS NOT 0 THEN roofline_ratio_hi END AS hi
		FROM usable WHERE is_recent ORDER BY captured, hash)
	GROUP BY workload, is_now) AS means
JOIN (
	SELECT *, row_number() OVER (
		PARTITION BY workload, is_now ORDER BY captured DESC, hash) AS age
	FROM usable WHERE is_recent) AS r
	ON r.workload = means.workload AND r.is_now = means.is_now AND r.age = 1
LEFT JOIN bill AS b ON b.workload = means.workload
ORDER BY means.is_now, means.workload;
CREATE INDEX fleet_workload ON fleet (workload, is_now);

-- What rules said of the newest runs, with the share of a step that each costs.
CREATE TABLE said AS
SELECT l.workload, l.is_now, l.run, l.profile, CASE WHEN NOT l.is_cpu THEN l.chips END AS chips,
	v.rule, v.title, v.verdict, v.message, v.note, v.waiver_ends, v.source_file, v.source_line,
	v.gain_s / l.step_time_s AS share
FROM latest AS l JOIN verdicts AS v ON v.run_id = l.id
ORDER BY l.workload, l.is_now, v.rule;
CREATE INDEX said_rule ON said (workload, rule, is_now);

-- The rule that costs a workload most now.
CREATE TABLE worst AS
SELECT workload, rule
FROM (SELECT *, row_number() OVER (
	PARTITION BY workload ORDER BY share DESC NULLS LAST, verdict, rule) AS place
	FROM said WHERE is_now AND verdict IN ('fail', 'warn'))
WHERE place = 1
ORDER BY workload;
CREATE INDEX worst_workload ON worst (workload);

-- The share of a step that each rule costs a workload, mean over its runs in this window as the
-- workload's own share is: all rules together never cost more than settling every finding gives back.
CREATE TABLE costs AS
SELECT u.workload, v.rule, sum(v.gain_s / u.step_time_s) / f.runs AS share
FROM (SELECT * FROM usable WHERE is_now ORDER BY workload, captured, hash) AS u
JOIN verdicts AS v ON v.run_id = u.id AND v.verdict IN ('fail', 'warn')
JOIN fleet AS f ON f.workload = u.workload AND f.is_now
GROUP BY u.workload, v.rule ORDER BY u.workload, v.rule;
CREATE INDEX costs_rule ON costs (workload, rule);
