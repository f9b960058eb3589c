-- Answers of a store as the tables that answers.sql reads.
--
-- Every table is made in an order of its own, so that sums and ties do not depend on the order in
-- which rows came.  Ratios of a group are weighted by chips, since what runs on more chips wastes
-- more; by chip-hours where those of every workload are known, so that none is left out of a ratio
-- unseen.
--
-- A CPU is no chip: what ran on CPUs alone is told of by itself, and adds to no chips or chip-hours.

-- Whether the chip-hours of all workloads are known, and what all of them cost.
CREATE TEMP TABLE weighing AS
SELECT ifnull(min(workload IN (SELECT workload FROM bill WHERE chip_hours > 0)), 0) AS by_hours,
	ifnull(min(workload IN (SELECT workload FROM bill WHERE dollars > 0)), 0) AS by_money
FROM newest WHERE is_now AND platform IS NOT 'cpu';

-- A workload in a window: means over its runs, and what its newest run is.  A step on other chips, on
-- more of them or of another batch is another step, so the mean step time is that of runs like the
-- newest.  Chip-hours are those of this window; as weights they serve the one before, too, so that only
-- its ratios differ.
CREATE TEMP TABLE fleet AS
SELECT m.*, r.run, r.profile, r.owner, r.model, r.platform IS 'cpu' AS is_cpu, r.chips AS devices,
	r.chip AS device, r.global_batch, r.tokens_per_step, r.step_ns / 1e9 / r.runs AS step_time_s, r.lo_e12, r.los,
	CASE WHEN r.platform IS 'cpu' THEN 'cpu' ELSE r.chip END AS chip,
	CASE WHEN r.platform IS NOT 'cpu' THEN r.chips END AS chips,
	CASE WHEN m.is_now AND r.platform IS NOT 'cpu' THEN b.chip_hours END AS chip_hours,
	CASE WHEN m.is_now AND r.platform IS NOT 'cpu' THEN b.dollars END AS dollars,
	CASE WHEN m.is_now AND r.platform IS NOT 'cpu' THEN b.running_hours END AS running_hours,
	CASE WHEN r.platform IS 'cpu' THEN NULL WHEN (SELECT by_hours FROM weighing) THEN b.chip_hours
		ELSE r.chips END AS weight,
	CASE
		WHEN r.platform IS 'cpu' THEN 'CPUs only'
		WHEN r.chips IS NULL THEN 'unknown'
		WHEN r.chips <= 1 THEN '1 chip'
		WHEN r.chips <= 8 THEN '2 to 8 chips'
		WHEN r.chips <= 64 THEN '9 to 64 chips'
		WHEN r.chips <= 512 THEN '65 to 512 chips'
		ELSE 'more than 512 chips'
	END AS size
FROM (
	SELECT workload, is_now, sum(runs) AS runs, sum(share_e12) / 1e12 / sum(shares) AS share,
		sum(lo_e12) / 1e12 / sum(los) AS roofline_ratio,
		sum(hi_e12) / 1e12 / sum(his) AS roofline_ratio_hi, sum(mfu_e12) / 1e12 / sum(mfus) AS mfu,
		sum(steps_e12) / 1e12 / sum(known_steps) AS steps_ratio
	FROM alike GROUP BY workload, is_now) AS m
JOIN newest AS r ON r.workload = m.workload AND r.is_now = m.is_now
LEFT JOIN bill AS b ON b.workload = m.workload
ORDER BY m.is_now, m.workload;
CREATE INDEX fleet_workload ON fleet (workload, is_now);

-- What rules said of the newest runs, with the share of a step that each costs.
CREATE TEMP TABLE said AS
SELECT l.workload, l.is_now, l.judge, l.run, l.profile, CASE WHEN NOT l.is_cpu THEN l.chips END AS chips,
	s.rule, s.title, s.verdict, s.message, s.note, s.waiver_ends, s.gain_e12 / 1e12 AS share
FROM latest AS l JOIN sayings AS s ON s.hash = l.hash
ORDER BY l.workload, l.is_now, s.rule;
CREATE INDEX said_rule ON said (workload, rule, is_now);

-- The rule that costs a workload most now.
CREATE TEMP TABLE worst AS
SELECT workload, rule
FROM (SELECT *, row_number() OVER (
	PARTITION BY workload ORDER BY share DESC NULLS LAST, verdict, rule) AS place
	FROM said WHERE is_now AND verdict IN ('fail', 'warn'))
WHERE place = 1
ORDER BY workload;
CREATE INDEX worst_workload ON worst (workload);

-- What messages and tables tell first, and the windows before in which it ran: a problem that was there
-- then is an old one.  As many as a page has lines, and three of each owner.
CREATE TEMP TABLE earlier AS
SELECT workload, count(DISTINCT ago) AS windows FROM days
WHERE ago > 0 AND usable > 0 AND workload IN (
	SELECT workload FROM (
		SELECT workload, row_number() OVER (ORDER BY weight * share DESC, workload) AS place,
			row_number() OVER (PARTITION BY owner ORDER BY weight * share DESC, workload)
				AS of_owner
		FROM fleet WHERE is_now)
	WHERE place <= 50 OR of_owner <= 3)
GROUP BY workload ORDER BY workload;

-- The share of a step that each rule costs a workload, mean over its runs in this window as the
-- workload's own share is: all rules together never cost more than settling every finding gives back.
CREATE TEMP TABLE costs AS
SELECT c.workload, c.rule, c.gain_e12 / 1e12 / f.runs AS share
FROM claims AS c JOIN fleet AS f ON f.workload = c.workload AND f.is_now
ORDER BY c.workload, c.rule;
CREATE INDEX costs_rule ON costs (workload, rule);
