-- One table for each question, by its name: the columns of fleet_questions.c in their order, then the run
-- to look at and its profile; rows in the order in which they are shown.  What they read is made by
-- fleet.sql, and levels by change points.

-- The gate that kept most rules of an inconclusive run from judging, and in its own words why.
CREATE TABLE blocked AS
WITH blocks AS (
	SELECT id, v.closed_gate AS gate
	FROM judged CROSS JOIN verdicts AS v ON v.run_id = judged.id
	WHERE judged.verdict = 'inconclusive' AND v.closed_gate IS NOT NULL
		AND captured > :from AND captured <= :to)
SELECT id, gate, (SELECT reason FROM verdicts WHERE run_id = id AND rule = gate) AS gate_reason
FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY count(*) DESC, gate) AS place
	FROM blocks GROUP BY id, gate)
WHERE place = 1 ORDER BY id;
CREATE INDEX blocked_run ON blocked (id);

CREATE TABLE coverage AS
WITH seen AS (
	SELECT *, CASE
		WHEN error_id IS NOT NULL THEN 'unreadable: ' || error_id
		WHEN captured IS NULL THEN 'no date'
		WHEN verdict = 'inconclusive' THEN 'inconclusive' || ifnull(': ' || gate, '')
		WHEN step_time_s IS NULL OR step_time_s <= 0 THEN 'no steps'
		ELSE 'judged'
	END AS outcome
	FROM judged LEFT JOIN blocked USING (id)
	WHERE captured IS NULL OR (captured > :from AND captured <= :to)),
placed AS (
	SELECT *, row_number() OVER (PARTITION BY outcome ORDER BY profile, hash) AS place,
		count(*) OVER (PARTITION BY outcome) AS alike
	FROM seen)
SELECT outcome, alike, alike * 1.0 / (SELECT count(*) FROM seen), CASE outcome
		WHEN 'judged' THEN NULL
		WHEN 'no date' THEN 'neither the profile nor its directory says when it was captured'
		WHEN 'no steps' THEN 'the profile shows no step'
		ELSE coalesce(error, gate_reason, (
			SELECT reason FROM verdicts
			WHERE run_id = placed.id AND verdict = 'inconclusive' AND reason IS NOT NULL
			ORDER BY rule LIMIT 1))
	END, CASE WHEN outcome <> 'judged' THEN run END, profile
FROM placed WHERE place = 1 ORDER BY outcome <> 'judged', alike DESC, outcome;

CREATE TABLE ranking AS
SELECT row_number() OVER (
		ORDER BY nullif(chip_hours * share, 0) DESC NULLS LAST, chips * share DESC NULLS LAST,
		share DESC, workload) AS rank,
	workload, owner, chips * share, chip_hours * share, dollars * share, share,
	(SELECT share FROM fleet AS b WHERE b.workload = f.workload AND NOT b.is_now),
	(SELECT rule FROM worst WHERE worst.workload = f.workload),
	roofline_ratio, roofline_ratio_hi, mfu, step_time_s, chip, chips, model, runs,
	(SELECT substr(min(captured), 1, 10) FROM usable WHERE usable.workload = f.workload),
	run, profile
FROM fleet AS f WHERE is_now ORDER BY rank;

-- The run to look at is that of the workload that gives back most.
CREATE TABLE grouped AS
WITH kinds AS (
	SELECT 'chip' AS kind, coalesce(chip, 'unknown') AS grp, * FROM fleet WHERE is_now
	UNION ALL SELECT 'owner', coalesce(owner, 'unknown'), * FROM fleet WHERE is_now
	UNION ALL SELECT 'model', coalesce(model, 'unknown'), * FROM fleet WHERE is_now
	UNION ALL SELECT 'size', size, * FROM fleet WHERE is_now),
placed AS (
	SELECT *, row_number() OVER (
		PARTITION BY kind, grp ORDER BY weight * share DESC NULLS LAST, workload) AS place
	FROM kinds ORDER BY kind, grp, workload)
SELECT kind, grp, sum(weight * share) / sum(CASE WHEN share IS NOT NULL THEN weight END) AS share,
	sum(chips * share) AS chips_back, sum(chip_hours * share) AS chip_hours_back,
	sum(dollars * share) AS dollars_back,
	sum(CASE WHEN dollars IS NOT NULL THEN chip_hours END * share) AS priced_hours_back,
	sum(weight * roofline_ratio) / sum(CASE WHEN roofline_ratio IS NOT NULL THEN weight END)
		AS roofline_ratio,
	sum(weight * roofline_ratio_hi)
		/ sum(CASE WHEN roofline_ratio_hi IS NOT NULL THEN weight END) AS roofline_ratio_hi,
	sum(weight * mfu) / sum(CASE WHEN mfu IS NOT NULL THEN weight END) AS mfu,
	sum(chips) AS chips, count(*) AS workloads, sum(runs) AS runs,
	max(CASE place WHEN 1 THEN run END) AS run,
	max(CASE place WHEN 1 THEN profile END) AS profile
FROM placed GROUP BY kind, grp ORDER BY kind, sum(weight * share) DESC NULLS LAST, grp;

CREATE TABLE "by-chip" AS
SELECT grp, share, chips_back, chip_hours_back, dollars_back, priced_hours_back, roofline_ratio,
	roofline_ratio_hi, mfu, chips, workloads, runs, run, profile
FROM grouped WHERE kind = 'chip' ORDER BY rowid;
CREATE TABLE "by-owner" AS
SELECT grp, share, chips_back, chip_hours_back, dollars_back, priced_hours_back, roofline_ratio,
	roofline_ratio_hi, mfu, chips, workloads, runs, run, profile
FROM grouped WHERE kind = 'owner' ORDER BY rowid;
CREATE TABLE "by-model" AS
SELECT grp, share, chips_back, chip_hours_back, dollars_back, priced_hours_back, roofline_ratio,
	roofline_ratio_hi, mfu, chips, workloads, runs, run, profile
FROM grouped WHERE kind = 'model' ORDER BY rowid;
CREATE TABLE "by-size" AS
SELECT grp, share, chips_back, chip_hours_back, dollars_back, priced_hours_back, roofline_ratio,
	roofline_ratio_hi, mfu, chips, workloads, runs, run, profile
FROM grouped WHERE kind = 'size' ORDER BY rowid;

CREATE TABLE rules AS
WITH broken AS (
	SELECT s.rule, s.title, s.verdict, s.message, s.run, s.profile, c.share, f.chips, f.chip_hours,
		f.dollars, row_number() OVER (
		PARTITION BY s.rule ORDER BY f.chips * c.share DESC NULLS LAST, s.workload) AS place
	FROM said AS s JOIN fleet AS f ON f.workload = s.workload AND f.is_now
	LEFT JOIN costs AS c ON c.workload = s.workload AND c.rule = s.rule
	WHERE s.is_now AND verdict IN ('fail', 'warn')
	ORDER BY s.rule, s.workload)
SELECT rule, max(title), count(*), sum(verdict = 'fail'), sum(chips * share) AS back,
	sum(chip_hours * share) AS hours, sum(dollars * share),
	sum(CASE WHEN dollars IS NOT NULL THEN chip_hours END * share),
	max(CASE place WHEN 1 THEN message END),
	max(CASE place WHEN 1 THEN run END), max(CASE place WHEN 1 THEN profile END)
FROM broken GROUP BY rule ORDER BY hours DESC NULLS LAST, back DESC NULLS LAST, count(*) DESC, rule;

CREATE TABLE movers AS
SELECT n.workload, n.owner, b.step_time_s, n.step_time_s,
	n.step_time_s / b.step_time_s - 1 AS change,
	n.chips * (1 - b.step_time_s / n.step_time_s) AS lost,
	(SELECT rule FROM worst WHERE worst.workload = n.workload), n.run, n.profile
FROM fleet AS n JOIN fleet AS b ON b.workload = n.workload AND n.is_now AND NOT b.is_now
	AND b.chip IS n.chip AND b.devices IS n.devices
WHERE abs(change) >= 0.01
ORDER BY abs(lost) DESC NULLS LAST, abs(change) DESC, n.workload;

CREATE TABLE changes AS
SELECT c.workload, u.owner, u.captured, u.is_now, c.before_s, c.after_s,
	c.after_s / c.before_s - 1 AS change, c.p_value, u.commit_id, u.run, u.profile
FROM levels AS c JOIN usable AS u ON u.id = c.run_id
ORDER BY u.captured DESC, abs(change) DESC, c.workload;

-- For pictures, so of as many changes as are shown.
CREATE TABLE history AS
SELECT workload, captured, step_time_s, run, profile
FROM usable WHERE workload IN (SELECT workload FROM changes ORDER BY rowid LIMIT 100)
ORDER BY workload, captured, hash;

-- Fixed is what now holds, or has nothing left to hold of; never what could not be judged.
CREATE TABLE problems AS
SELECT CASE n.verdict WHEN 'fail' THEN 'new' ELSE 'fixed' END AS state, n.workload, n.rule,
	b.verdict, n.verdict,
	CASE n.verdict WHEN 'fail' THEN n.chips * n.share ELSE b.chips * b.share END AS cost,
	coalesce(n.message, b.message), n.run, n.profile
FROM said AS n JOIN said AS b
	ON b.workload = n.workload AND b.rule = n.rule AND n.is_now AND NOT b.is_now
WHERE (n.verdict = 'fail' AND b.verdict IN ('pass', 'warn', 'not-applicable'))
	OR (b.verdict = 'fail' AND n.verdict IN ('pass', 'not-applicable'))
ORDER BY state DESC, cost DESC NULLS LAST, n.workload, n.rule;

-- One that has expired excuses nothing, and what it excused was not a problem of the window before:
-- it stands here, where those are looked for that soon end.
CREATE TABLE waivers AS
SELECT workload, rule, note, waiver_ends, julianday(waiver_ends, '+1 day') - julianday(:to), share,
	message, run, profile
FROM said
WHERE is_now AND (verdict = 'waived' OR (verdict IN ('fail', 'warn') AND waiver_ends IS NOT NULL))
ORDER BY waiver_ends NULLS LAST, note, share DESC NULLS LAST, workload, rule;

CREATE TABLE quality AS
WITH placed AS (
	SELECT part.value, workload, run, profile, row_number() OVER (
		PARTITION BY part.value ORDER BY captured DESC, profile, hash) AS place
	FROM judged, json_each('[' || replace(json_quote(quality), ',', '","') || ']') AS part
	WHERE quality IS NOT NULL AND captured > :from AND captured <= :to)
SELECT value, count(*) AS runs, count(DISTINCT workload), max(CASE place WHEN 1 THEN run END),
	max(CASE place WHEN 1 THEN profile END)
FROM placed GROUP BY value
UNION ALL
-- A clock that is ahead: by a whole window, so that it is not a run that came while this one is told.
SELECT 'dated-after-window', count(*), count(DISTINCT workload), max(run), max(profile)
FROM judged WHERE julianday(captured) > 2 * julianday(:to) - julianday(:from) HAVING count(*) > 0
ORDER BY runs DESC, value;

-- It counts what others found.
CREATE TABLE totals AS
SELECT CASE is_now WHEN 1 THEN 'this' ELSE 'before' END, count(*), sum(is_cpu), sum(runs), sum(chips),
	sum(weight * roofline_ratio) / sum(CASE WHEN roofline_ratio IS NOT NULL THEN weight END),
	sum(weight * roofline_ratio_hi)
		/ sum(CASE WHEN roofline_ratio_hi IS NOT NULL THEN weight END),
	count(weight * roofline_ratio),
	sum(weight * mfu) / sum(CASE WHEN mfu IS NOT NULL THEN weight END), count(weight * mfu),
	sum(weight * share) / sum(CASE WHEN share IS NOT NULL THEN weight END),
	sum(chips * share), sum(chip_hours * share), sum(dollars * share),
	sum(CASE WHEN dollars IS NOT NULL THEN chip_hours END * share),
	CASE WHEN is_now THEN (SELECT by_hours FROM weighing) END, count(chip_hours),
	nullif((SELECT count(*) FROM bill), 0),
	CASE WHEN is_now THEN (SELECT count(*) FROM problems WHERE state = 'new') END,
	CASE WHEN is_now THEN (SELECT count(*) FROM problems WHERE state = 'fixed') END,
	CASE WHEN is_now THEN (SELECT count(*) FROM movers WHERE change > 0) END,
	CASE WHEN is_now THEN (SELECT count(*) FROM movers WHERE change < 0) END,
	CASE WHEN is_now THEN (SELECT count(*) FROM usable WHERE NOT is_recent) END, NULL, NULL
FROM fleet GROUP BY is_now ORDER BY is_now DESC;

-- Captures of this window and the five before it: `ago` is in windows, `at` in days.  One that cannot
-- be read came, too.
CREATE TABLE came AS
SELECT workload, owner, captured, hash, run, profile, julianday(captured) AS at,
	CAST((julianday(:to) - julianday(captured)) / (julianday(:to) - julianday(:from)) AS INTEGER) AS ago
FROM judged WHERE captured <= :to AND workload IS NOT NULL
ORDER BY workload, captured, hash;
CREATE INDEX came_at ON came (workload, at);
CREATE TABLE attendance AS
SELECT workload, ago, count(*) AS runs, count(DISTINCT substr(captured, 1, 10)) AS days
FROM came GROUP BY workload, ago ORDER BY workload, ago;
CREATE INDEX attendance_of ON attendance (workload, ago);

-- A workload or a night counts as usual when it was there in four windows running.  A night has half a
-- day to come late, and a workload that has as many days as before did not lose one, it moved.
CREATE TABLE absent AS
WITH
wanted AS (
	SELECT pattern, (SELECT count(*) FROM came WHERE ago = 0 AND workload GLOB pattern) AS runs,
		max(1, CAST((julianday(:to) - julianday(:from)) / every_days + 1e-6 AS INTEGER)) AS least
	FROM (SELECT pattern, ifnull(every_days, julianday(:to) - julianday(:from)) AS every_days
		FROM expected)),
last AS (SELECT workload, min(ago) AS ago FROM attendance GROUP BY workload),
span AS (SELECT julianday(:to) - julianday(:from) AS days),
due AS (
	SELECT c.workload, max(c.at) + span.days AS at
	FROM came AS c, span
	WHERE span.days >= 2 AND c.at + span.days > julianday(:from) - 0.5
		AND c.at + span.days <= julianday(:to) - 0.5
		AND (SELECT runs FROM attendance AS a WHERE a.workload = c.workload AND a.ago = 0) > 0
		AND (SELECT min(days) FROM attendance AS a
			WHERE a.workload = c.workload AND a.ago BETWEEN 1 AND 4)
			> (SELECT days FROM attendance AS a WHERE a.workload = c.workload AND a.ago = 0)
		AND NOT EXISTS (SELECT 1 FROM came AS n WHERE n.workload = c.workload
			AND n.at > c.at + span.days - 0.5 AND n.at < c.at + span.days + 0.5)
		AND EXISTS (SELECT 1 FROM came AS n WHERE n.workload = c.workload
			AND n.at > c.at - span.days - 0.5 AND n.at < c.at - span.days + 0.5)
		AND EXISTS (SELECT 1 FROM came AS n WHERE n.workload = c.workload
			AND n.at > c.at - 2 * span.days - 0.5 AND n.at < c.at - 2 * span.days + 0.5)
		AND EXISTS (SELECT 1 FROM came AS n WHERE n.workload = c.workload
			AND n.at > c.at - 3 * span.days - 0.5 AND n.at < c.at - 3 * span.days + 0.5)
	GROUP BY c.workload, CAST(c.at + 0.5 AS INTEGER))
SELECT 'expected' AS what, pattern AS workload, NULL AS due, runs AS came, least AS wanted,
	NULL AS chip_hours, NULL AS dollars, 1 AS is_new
FROM wanted WHERE runs < least
UNION ALL
SELECT 'workload', workload, NULL, 0, NULL, NULL, NULL, ago = 1
FROM last WHERE ago > 0 AND (SELECT count(*) FROM attendance AS a
	WHERE a.workload = last.workload AND a.ago BETWEEN last.ago AND last.ago + 3) = 4
	AND NOT EXISTS (SELECT 1 FROM wanted WHERE runs < least AND last.workload GLOB pattern)
UNION ALL
SELECT 'night', workload, strftime('%Y-%m-%dT%H:%M:%fZ', at), NULL, NULL, NULL, NULL, 1 FROM due
UNION ALL
SELECT 'billed', workload, NULL, (SELECT runs FROM attendance AS a
		WHERE a.workload = bill.workload AND ago = 0), NULL, chip_hours, dollars, NULL
FROM bill WHERE chip_hours > 0 AND workload NOT IN (SELECT workload FROM usable WHERE is_now);

CREATE TABLE missing AS
WITH placed AS (
	SELECT a.*, s.until, s.reason, row_number() OVER (
		PARTITION BY a.what, a.workload, a.due ORDER BY s.until DESC, s.reason) AS place
	FROM absent AS a LEFT JOIN snoozed AS s
		ON a.workload GLOB s.pattern AND s.until >= substr(:to, 1, 10))
SELECT p.what, p.workload, c.owner, p.due, p.came, p.wanted, c.captured, p.chip_hours, p.dollars,
	CASE WHEN p.until IS NULL THEN p.is_new ELSE 0 END AS is_new, p.until, p.reason, c.run, c.profile
FROM placed AS p LEFT JOIN came AS c ON c.workload = p.workload AND c.rowid = (
	SELECT max(n.rowid) FROM came AS n WHERE n.workload = p.workload)
WHERE p.place = 1
ORDER BY is_new DESC, p.what = 'night', p.what = 'billed', p.dollars DESC NULLS LAST,
	p.chip_hours DESC NULLS LAST, p.workload, p.due;
