-- From the days of a history: who did not come, and which moments have to be looked up.
--
--   :to_ns, :from_ns   this window is (from, to]; :span_ns is how long it is, :to its end as a text

-- Chip-hours of each workload, what they cost and how many it was running, where every line says so.
CREATE TEMP TABLE bill AS
SELECT workload, sum(chip_hours) AS chip_hours,
	CASE WHEN count(price) = count(*) THEN sum(chip_hours * price) END AS dollars,
	CASE WHEN count(running_hours) = count(*) THEN sum(running_hours) END AS running_hours
FROM (SELECT * FROM usage
	WHERE :owner IS NULL OR workload IN (SELECT workload FROM days)
	ORDER BY workload, chip_hours, price, running_hours)
GROUP BY workload;

CREATE INDEX days_of ON days (workload, last_usable_ns);

-- What the newest usable run of a workload is like: with it runs are one history.
CREATE TEMP TABLE lines AS
SELECT workload, chip, chips, global_batch, tokens_per_step, max(last_usable_ns)
FROM days WHERE usable > 0 GROUP BY workload ORDER BY workload;

-- Only runs on the same chips, and with the same batch, as the newest are one history.
CREATE TEMP TABLE series AS
SELECT d.* FROM lines AS l CROSS JOIN days AS d ON d.workload = l.workload AND d.chip IS l.chip
	AND d.chips IS l.chips AND d.global_batch IS l.global_batch
	AND d.tokens_per_step IS l.tokens_per_step
WHERE d.usable > 0 ORDER BY d.workload, d.usable_ns;
CREATE INDEX series_of ON series (workload, usable_ns);

-- Captures that cannot be read came, too.
CREATE TEMP TABLE visits AS
SELECT workload, ago, first_ns AS at FROM days UNION SELECT workload, ago, last_ns FROM days
ORDER BY workload, at;
CREATE INDEX visits_at ON visits (workload, at);
CREATE TEMP TABLE attendance AS
SELECT workload, ago, sum(runs) AS runs, count(DISTINCT day) AS days
FROM days GROUP BY workload, ago ORDER BY workload, ago;
CREATE INDEX attendance_of ON attendance (workload, ago);

-- A workload or a night counts as usual when it was there in four windows running.  A night has half a
-- day to come late, and a workload that has as many days as before did not lose one, it moved.
CREATE TEMP TABLE absent AS
WITH
wanted AS (
	SELECT pattern, (SELECT ifnull(sum(runs), 0) FROM attendance
			WHERE ago = 0 AND workload GLOB pattern) AS runs,
		max(1, CAST(:span_ns / every_ns + 1e-6 AS INTEGER)) AS least
	FROM (SELECT pattern, ifnull(every_ns, :span_ns) * 1.0 AS every_ns FROM expected
		WHERE :owner IS NULL OR EXISTS (SELECT 1 FROM attendance WHERE workload GLOB pattern))),
last AS (SELECT workload, min(ago) AS ago FROM attendance GROUP BY workload),
slack AS (SELECT :span_ns AS span, 43200000000000 AS half),
due AS (
	SELECT c.workload, max(c.at) + span AS at
	FROM visits AS c, slack
	WHERE c.ago <= 2 AND span >= 4 * half
		AND c.at + span > :from_ns - half AND c.at + span <= :to_ns - half
		AND (SELECT runs FROM attendance AS a WHERE a.workload = c.workload AND a.ago = 0) > 0
		AND (SELECT min(days) FROM attendance AS a
			WHERE a.workload = c.workload AND a.ago BETWEEN 1 AND 4)
			> (SELECT days FROM attendance AS a WHERE a.workload = c.workload AND a.ago = 0)
		AND NOT EXISTS (SELECT 1 FROM visits AS n WHERE n.workload = c.workload
			AND n.at > c.at + span - half AND n.at < c.at + span + half)
		AND EXISTS (SELECT 1 FROM visits AS n WHERE n.workload = c.workload
			AND n.at > c.at - span - half AND n.at < c.at - span + half)
		AND EXISTS (SELECT 1 FROM visits AS n WHERE n.workload = c.workload
			AND n.at > c.at - 2 * span - half AND n.at < c.at - 2 * span + half)
		AND EXISTS (SELECT 1 FROM visits AS n WHERE n.workload = c.workload
			AND n.at > c.at - 3 * span - half AND n.at < c.at - 3 * span + half)
	GROUP BY c.workload, (c.at + half) / (2 * half))
SELECT 'expected' AS what, pattern AS workload, NULL AS due_ns, runs AS came, least AS wanted,
	NULL AS chip_hours, NULL AS dollars, 1 AS is_new
FROM wanted WHERE runs < least
UNION ALL
SELECT 'workload', workload, NULL, 0, NULL, NULL, NULL, ago = 1
FROM last WHERE ago > 0 AND (SELECT count(*) FROM attendance AS a
	WHERE a.workload = last.workload AND a.ago BETWEEN last.ago AND last.ago + 3) = 4
	AND NOT EXISTS (SELECT 1 FROM wanted WHERE runs < least AND last.workload GLOB pattern)
UNION ALL
SELECT 'night', workload, at, NULL, NULL, NULL, NULL, 1 FROM due
UNION ALL
SELECT 'billed', workload, NULL, (SELECT runs FROM attendance AS a
		WHERE a.workload = bill.workload AND ago = 0), NULL, chip_hours, dollars, NULL
FROM bill WHERE chip_hours > 0 AND workload NOT IN (SELECT workload FROM alike WHERE is_now);

-- Moments to look up: the newest runs; when what is missing was there last; the newest run of a workload before this
-- window where it is older than the window before.
CREATE TEMP TABLE moments AS
SELECT max(last_ns) AS ns FROM days WHERE workload IN (SELECT workload FROM absent) GROUP BY workload
UNION
SELECT max(last_usable_ns) FROM days
WHERE last_usable_ns <= :from_ns AND workload IN (SELECT workload FROM alike WHERE is_now)
	AND workload NOT IN (SELECT workload FROM alike WHERE NOT is_now)
GROUP BY workload
UNION
SELECT captured_ns FROM alike;
