-- One table for each question, by its name: the columns of fleet_questions.c in their order, then the run
-- to look at and its profile; rows in the order in which they are shown.  What they read is made by
-- questions.sql and fleet.sql, and levels by change points.

CREATE TEMP TABLE coverage AS
WITH placed AS (
	SELECT *, row_number() OVER (PARTITION BY outcome ORDER BY profile, run) AS place FROM seen)
SELECT outcome, sum(runs) AS runs, sum(runs) * 1.0 / (SELECT sum(runs) FROM seen),
	max(CASE place WHEN 1 THEN because END),
	max(CASE WHEN place = 1 AND outcome <> 'judged' THEN run END),
	max(CASE place WHEN 1 THEN profile END)
FROM placed GROUP BY outcome ORDER BY outcome <> 'judged', runs DESC, outcome;

-- In how many windows before a rule was broken, of those in which the workload ran.
CREATE TEMP TABLE often AS
SELECT w.workload, w.rule, ifnull(b.windows, 0) AS seen, e.windows AS ran
FROM said AS w JOIN earlier AS e ON e.workload = w.workload
LEFT JOIN broke AS b ON b.workload = w.workload AND b.rule = w.rule
WHERE w.is_now AND w.verdict IN ('fail', 'warn') ORDER BY w.workload, w.rule;
CREATE INDEX often_of ON often (workload, rule);

CREATE TEMP TABLE ranking AS
SELECT row_number() OVER (
		ORDER BY CASE WHEN (SELECT by_money FROM weighing) THEN dollars * share END DESC NULLS LAST,
		nullif(chip_hours * share, 0) DESC NULLS LAST, chips * share DESC NULLS LAST,
		share DESC, f.workload) AS rank,
	f.workload, owner, chips * share, chip_hours * share, dollars * share, share,
	(SELECT share FROM fleet AS b WHERE b.workload = f.workload AND NOT b.is_now),
	w.rule, o.seen, o.ran, roofline_ratio, roofline_ratio_hi, mfu, step_time_s, chip, chips, model, runs,
	(SELECT strftime('%Y-%m-%d', min(usable_ns) / 1e9, 'unixepoch') FROM days
		WHERE days.workload = f.workload),
	run, profile
FROM fleet AS f LEFT JOIN worst AS w ON w.workload = f.workload
LEFT JOIN often AS o ON o.workload = f.workload AND o.rule = w.rule
WHERE is_now ORDER BY rank;

-- The run to look at is that of the workload that gives back most.
CREATE TEMP TABLE grouped AS
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

CREATE TEMP TABLE "by-chip" AS
SELECT grp, share, chips_back, chip_hours_back, dollars_back, priced_hours_back, roofline_ratio,
	roofline_ratio_hi, mfu, chips, workloads, runs, run, profile
FROM grouped WHERE kind = 'chip' ORDER BY rowid;
CREATE TEMP TABLE "by-owner" AS
SELECT grp, share, chips_back, chip_hours_back, dollars_back, priced_hours_back, roofline_ratio,
	roofline_ratio_hi, mfu, chips, workloads, runs, run, profile
FROM grouped WHERE kind = 'owner' ORDER BY rowid;
CREATE TEMP TABLE "by-model" AS
SELECT grp, share, chips_back, chip_hours_back, dollars_back, priced_hours_back, roofline_ratio,
	roofline_ratio_hi, mfu, chips, workloads, runs, run, profile
FROM grouped WHERE kind = 'model' ORDER BY rowid;
CREATE TEMP TABLE "by-size" AS
SELECT grp, share, chips_back, chip_hours_back, dollars_back, priced_hours_back, roofline_ratio,
	roofline_ratio_hi, mfu, chips, workloads, runs, run, profile
FROM grouped WHERE kind = 'size' ORDER BY rowid;

-- Each part is of the hours for which it is known, and those are a part of the one before it.
CREATE TEMP TABLE goodput AS
WITH hours AS (
	SELECT b.workload, b.chip_hours AS allocated, b.running_hours AS running,
		ifnull(b.running_hours, b.chip_hours) AS held, b.dollars / nullif(b.chip_hours, 0) AS price,
		f.steps_ratio, f.roofline_ratio AS lo, f.roofline_ratio_hi AS hi
	FROM bill AS b LEFT JOIN fleet AS f
		ON f.workload = b.workload AND f.is_now AND f.chip_hours IS NOT NULL
	ORDER BY b.workload),
parts AS (
	SELECT 1 AS place, 'allocated' AS part, sum(allocated) AS hours, sum(allocated) AS of_hours,
		NULL AS hours_hi, sum(allocated * price) AS money, count(*) AS workloads FROM hours
	UNION ALL SELECT 2, 'running', sum(running), sum(allocated), NULL, sum(running * price), count(*)
	FROM hours WHERE running IS NOT NULL
	UNION ALL SELECT 3, 'in steps', sum(held * steps_ratio), sum(held), NULL,
		sum(held * steps_ratio * price), count(*)
	FROM hours WHERE steps_ratio IS NOT NULL
	UNION ALL SELECT 4, 'at the roofline', sum(held * steps_ratio * lo), sum(held * steps_ratio),
		sum(held * steps_ratio * hi), sum(held * steps_ratio * lo * price), count(*)
	FROM hours WHERE steps_ratio IS NOT NULL AND lo IS NOT NULL)
SELECT part, hours, of_hours, hours / nullif(of_hours, 0), hours_hi / nullif(of_hours, 0), money,
	workloads, NULL, NULL
FROM parts WHERE workloads > 0 ORDER BY place;

-- Windows that were over before are told as they were: by chips, since hours are of this one alone.
-- A workload counts with the chips of its last usable run.
CREATE TEMP TABLE trend AS
WITH each AS (
	SELECT ago, workload, sum(usable) AS runs, sum(share_e12) / 1e12 / sum(shares) AS share,
		sum(lo_e12) / 1e12 / sum(los) AS lo,
		sum(ifnull(hi_e12, lo_e12)) / 1e12 / sum(los) AS hi
	FROM days WHERE usable > 0 AND ago < 12 GROUP BY ago, workload),
last AS (
	SELECT ago, workload, CASE WHEN NOT is_cpu THEN chips END AS chips, row_number() OVER (
		PARTITION BY ago, workload ORDER BY last_usable_ns DESC, chip, chips, global_batch,
		tokens_per_step) AS place
	FROM days WHERE usable > 0 AND ago < 12),
counted AS (
	SELECT e.*, l.chips FROM each AS e JOIN last AS l
		ON l.ago = e.ago AND l.workload = e.workload AND l.place = 1
	ORDER BY e.ago, e.workload)
SELECT strftime('%Y-%m-%d', (:to_ns - ago * :span_ns) / 1e9, 'unixepoch'), count(*), sum(runs),
	sum(chips), sum(chips * share),
	sum(chips * share) / sum(CASE WHEN share IS NOT NULL THEN chips END),
	sum(chips * lo) / sum(CASE WHEN lo IS NOT NULL THEN chips END),
	sum(chips * hi) / sum(CASE WHEN hi IS NOT NULL THEN chips END),
	(SELECT count(*) FROM levels WHERE ns > :to_ns - (ago + 1) * :span_ns
		AND ns <= :to_ns - ago * :span_ns), NULL, NULL
FROM counted GROUP BY ago ORDER BY ago;

CREATE TEMP TABLE rules AS
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

-- Slow in one job a host may only have more to do; in most of several it is the machine.
CREATE TEMP TABLE machines AS
WITH jobs AS (
	SELECT l.*, 2 * late > l.runs AS is_slow, lost_e12 / 1e12 / f.runs AS share, f.chips,
		f.chip_hours, f.dollars, row_number() OVER (PARTITION BY host
			ORDER BY f.chips * lost_e12 / f.runs DESC NULLS LAST, l.workload) AS place
	FROM late_hosts AS l JOIN fleet AS f ON f.workload = l.workload AND f.is_now
	ORDER BY host, l.workload)
SELECT host, CASE WHEN max(devices) = 1 AND min(first_device) = max(last_device)
		THEN min(first_device) END,
	sum(is_slow), count(*), sum(late), sum(runs), 1 + sum(excess_e12) / 1e12 / sum(late),
	sum(chips * share) AS back, sum(chip_hours * share) AS hours, sum(dollars * share) AS money,
	sum(CASE WHEN dollars IS NOT NULL THEN chip_hours END * share),
	max(CASE place WHEN 1 THEN run END), max(CASE place WHEN 1 THEN profile END)
FROM jobs GROUP BY host HAVING sum(is_slow) >= 2 AND 2 * sum(is_slow) > count(*)
ORDER BY money DESC NULLS LAST, hours DESC NULLS LAST, back DESC NULLS LAST, host;

-- Like is compared with like: the same batch on as many of the same chips; and what the noise of its
-- history does as well is no change.  Where the roofline time of the step moved as far, the batch may
-- be another that no job file tells: nothing is known to be lost.
CREATE TEMP TABLE movers AS
WITH moved AS (
	SELECT n.*, b.step_ns / 1e9 / b.runs AS before_s,
		n.step_time_s / (b.step_ns / 1e9 / b.runs) - 1 AS change,
		n.step_time_s * n.lo_e12 / n.los / (b.step_ns / 1e9 / b.runs * b.lo_e12 / b.los) - 1
			AS work_change,
		max(ln(1.01), ln(1 + least)) AS limit_ln
	FROM fleet AS n JOIN felt AS l ON l.workload = n.workload
	JOIN alike AS b ON b.workload = n.workload AND n.is_now AND NOT b.is_now
		AND b.chip IS n.device AND b.chips IS n.devices AND b.global_batch IS n.global_batch
		AND b.tokens_per_step IS n.tokens_per_step),
told AS (
	SELECT *, CASE WHEN sign(change) * ln((1 + change) / (1 + ifnull(work_change, 0))) < limit_ln
			THEN 'other-work' WHEN change > 0 THEN 'slower' ELSE 'faster' END AS state
	FROM moved WHERE abs(ln(1 + change)) >= limit_ln)
SELECT state, workload, owner, before_s, step_time_s, change, work_change,
	CASE WHEN state <> 'other-work' THEN chips * (1 - before_s / step_time_s) END AS lost,
	(SELECT rule FROM worst WHERE worst.workload = told.workload), run, profile
FROM told
ORDER BY abs(lost) DESC NULLS LAST, abs(change) DESC, workload;

CREATE TEMP TABLE changes AS
WITH spans AS (
	SELECT *, lag(ns, 1, 0) OVER turn AS begin_ns, lead(ns, 1, :to_ns + 1) OVER turn AS end_ns
	FROM levels WINDOW turn AS (PARTITION BY workload ORDER BY ns)),
beside AS (
	SELECT c.workload, c.ns, sum(CASE WHEN d.usable_ns >= c.ns THEN d.lo_e12 END) * 1.0
			/ sum(CASE WHEN d.usable_ns >= c.ns THEN d.los END) AS after_ratio,
		sum(CASE WHEN d.usable_ns < c.ns THEN d.lo_e12 END) * 1.0
			/ sum(CASE WHEN d.usable_ns < c.ns THEN d.los END) AS before_ratio
	FROM spans AS c JOIN series AS d ON d.workload = c.workload AND d.usable_ns >= c.begin_ns
		AND d.usable_ns < c.end_ns
	GROUP BY c.workload, c.ns)
SELECT c.workload, u.owner, strftime('%Y-%m-%dT%H:%M:%fZ', c.ns / 1e9, 'unixepoch') AS captured,
	c.ns > :from_ns, c.before_s, c.after_s, c.after_s / c.before_s - 1 AS change,
	c.after_s * b.after_ratio / (c.before_s * b.before_ratio) - 1, c.p_value,
	u.commit_id, u.run, u.profile
FROM levels AS c JOIN beside AS b USING (workload, ns)
LEFT JOIN looked_up AS u ON u.workload = c.workload AND u.captured_ns = c.ns
ORDER BY captured DESC, abs(change) DESC, c.workload;

-- For pictures, so of as many changes as are shown.
CREATE TEMP TABLE history AS
SELECT workload, strftime('%Y-%m-%dT%H:%M:%fZ', usable_ns / 1e9, 'unixepoch') AS captured,
	step_ns / 1e9, NULL, NULL
FROM days WHERE usable > 0 AND workload IN (SELECT workload FROM changes ORDER BY rowid LIMIT 100)
ORDER BY workload, usable_ns, step_ns;

-- Fixed is what now holds, or has nothing left to hold of; never what could not be judged.  Where rules,
-- options or rooflint changed in between, it is not known whether the run or its judge did it.
CREATE TEMP TABLE problems AS
SELECT CASE WHEN n.judge IS NOT b.judge THEN 'rejudged' WHEN n.verdict = 'fail' THEN 'new'
		ELSE 'fixed' END AS state, n.workload, n.rule,
	b.verdict, n.verdict,
	CASE n.verdict WHEN 'fail' THEN n.chips * n.share ELSE b.chips * b.share END AS cost,
	coalesce(n.message, b.message), o.seen, o.ran, n.run, n.profile
FROM said AS n JOIN said AS b
	ON b.workload = n.workload AND b.rule = n.rule AND n.is_now AND NOT b.is_now
LEFT JOIN often AS o ON o.workload = n.workload AND o.rule = n.rule
WHERE (n.verdict = 'fail' AND b.verdict IN ('pass', 'warn', 'not-applicable'))
	OR (b.verdict = 'fail' AND n.verdict IN ('pass', 'not-applicable'))
ORDER BY state = 'rejudged', state DESC, cost DESC NULLS LAST, n.workload, n.rule;

-- One that has expired excuses nothing, and what it excused was not a problem of the window before:
-- it stands here, where those are looked for that soon end.
CREATE TEMP TABLE waivers AS
SELECT workload, rule, note, waiver_ends, julianday(waiver_ends, '+1 day') - julianday(:to), share,
	message, run, profile
FROM said
WHERE is_now AND (verdict = 'waived' OR (verdict IN ('fail', 'warn') AND waiver_ends IS NOT NULL))
ORDER BY waiver_ends NULLS LAST, note, share DESC NULLS LAST, workload, rule;

CREATE TEMP TABLE quality AS
WITH placed AS (
	SELECT part.value, runs, workload, run, profile, row_number() OVER (
		PARTITION BY part.value ORDER BY captured_ns DESC, profile, workload) AS place
	FROM flaws, json_each('[' || replace(json_quote(quality), ',', '","') || ']') AS part)
SELECT value, sum(runs) AS runs, count(DISTINCT workload), max(CASE place WHEN 1 THEN run END),
	max(CASE place WHEN 1 THEN profile END)
FROM placed GROUP BY value
UNION ALL
-- A clock that is ahead: by a whole window, so that it is not a run that came while this one is told.
SELECT 'dated-after-window', sum(runs) AS runs, count(*), max(run), max(profile)
FROM later HAVING count(*) > 0
ORDER BY runs DESC, value;

-- It counts what others found.
CREATE TEMP TABLE totals AS
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
	CASE WHEN is_now THEN (SELECT sum(chip_hours) FROM bill) END,
	CASE WHEN is_now THEN (SELECT sum(dollars) FROM bill) END,
	CASE WHEN is_now THEN (SELECT sum(chip_hours) FROM absent WHERE what = 'billed') END,
	CASE WHEN is_now THEN (SELECT sum(dollars) FROM absent WHERE what = 'billed') END,
	CASE WHEN is_now THEN (SELECT count(*) FROM problems WHERE state = 'new') END,
	CASE WHEN is_now THEN (SELECT count(*) FROM problems WHERE state = 'fixed') END,
	CASE WHEN is_now THEN (SELECT count(*) FROM problems WHERE state = 'rejudged') END,
	CASE WHEN is_now THEN (SELECT count(*) FROM latest AS n JOIN latest AS b
		ON b.workload = n.workload AND n.is_now AND NOT b.is_now AND n.judge IS NOT b.judge) END,
	CASE WHEN is_now THEN (SELECT count(*) FROM movers WHERE state = 'slower') END,
	CASE WHEN is_now THEN (SELECT count(*) FROM movers WHERE state = 'faster') END,
	CASE WHEN is_now THEN (SELECT count(*) FROM movers WHERE state = 'other-work') END,
	CASE WHEN is_now THEN (SELECT count(*) FROM newest AS n WHERE n.is_now
		AND n.workload IN (SELECT workload FROM alike WHERE NOT is_now)
		AND NOT EXISTS (SELECT 1 FROM alike AS b WHERE b.workload = n.workload AND NOT b.is_now
			AND b.chip IS n.chip AND b.chips IS n.chips AND b.global_batch IS n.global_batch
			AND b.tokens_per_step IS n.tokens_per_step)) END,
	CASE WHEN is_now THEN (SELECT ifnull(sum(usable), 0) FROM days WHERE last_ns <= :before_ns) END, NULL, NULL
FROM fleet GROUP BY is_now ORDER BY is_now DESC;

CREATE TEMP TABLE missing AS
WITH placed AS (
	SELECT a.*, s.until, s.reason, row_number() OVER (
		PARTITION BY a.what, a.workload, a.due_ns ORDER BY s.until DESC, s.reason) AS place
	FROM absent AS a LEFT JOIN snoozed AS s
		ON a.workload GLOB s.pattern AND s.until >= substr(:to, 1, 10)),
last AS (
	SELECT *, row_number() OVER (
		PARTITION BY workload ORDER BY captured_ns DESC, owner IS NULL, profile, hash) AS place
	FROM turns)
SELECT p.what, p.workload, CASE p.what WHEN 'owner' THEN p.workload ELSE c.owner END,
	strftime('%Y-%m-%dT%H:%M:%fZ', p.due_ns / 1e9, 'unixepoch'),
	p.came, p.wanted, strftime('%Y-%m-%dT%H:%M:%fZ', c.captured_ns / 1e9, 'unixepoch'),
	p.chip_hours, p.dollars, CASE WHEN p.until IS NULL THEN p.is_new ELSE 0 END AS is_new, p.until,
	p.reason, c.run, c.profile
FROM placed AS p LEFT JOIN last AS c
	ON c.workload = p.workload AND c.place = 1 AND p.what <> 'owner'
WHERE p.place = 1
ORDER BY is_new DESC, p.what = 'night', p.what = 'billed', p.dollars DESC NULLS LAST,
	p.chip_hours DESC NULLS LAST, p.workload, p.due_ns;

-- Of an owner without a usable run nothing is known, and so nothing is broken.
CREATE TEMP TABLE budgets AS
WITH spent AS (
	SELECT b.*, CASE WHEN b.owner IS NULL THEN (SELECT sum(dollars * share) FROM fleet WHERE is_now)
			ELSE (SELECT dollars_back FROM "by-owner" WHERE grp = b.owner) END AS money,
		CASE WHEN b.owner IS NULL THEN (SELECT sum(chip_hours * share) FROM fleet WHERE is_now)
			ELSE (SELECT chip_hours_back FROM "by-owner" WHERE grp = b.owner) END AS hours
	FROM budget AS b WHERE :owner IS NULL OR owner = :owner)
SELECT ifnull(owner, 'the fleet'), CASE WHEN dollars IS NOT NULL THEN money END, dollars,
	CASE WHEN chip_hours IS NOT NULL THEN hours END, chip_hours,
	CASE WHEN dollars IS NOT NULL THEN money > dollars ELSE hours > chip_hours END AS is_broken,
	NULL, NULL
FROM spent ORDER BY is_broken DESC, owner IS NOT NULL, owner, dollars, chip_hours;
