-- The newest usable run of each workload in this window, and the newest before it: what the rules said
-- of them is looked up.  Of several judgements and copies of one capture, this judge's first.
CREATE TEMP TABLE looked_up AS
SELECT *
FROM (SELECT *, row_number() OVER (
	PARTITION BY workload, captured_ns ORDER BY judge IS :judge DESC, profile, hash) AS place
	FROM turns WHERE outcome = 'judged')
WHERE place = 1
ORDER BY workload, captured_ns;
CREATE UNIQUE INDEX looked_up_at ON looked_up (workload, captured_ns);

CREATE TEMP TABLE newest AS
SELECT a.*, t.hash, t.run, t.profile, t.owner, t.model, t.platform, t.judge, t.rules
FROM (SELECT *, row_number() OVER (PARTITION BY workload, is_now
	ORDER BY captured_ns DESC, chip, chips, global_batch, tokens_per_step) AS age FROM alike) AS a
JOIN looked_up AS t ON t.workload = a.workload AND t.captured_ns = a.captured_ns
WHERE age = 1
ORDER BY a.workload, is_now;

-- With those that are older than the window before, of workloads that did not run in it.
CREATE TEMP TABLE latest AS
SELECT workload, is_now, hash, run, profile, platform IS 'cpu' AS is_cpu, chips, judge, rules FROM newest
UNION ALL
SELECT workload, 0, hash, run, profile, platform IS 'cpu', chips, judge, rules
FROM (SELECT *, row_number() OVER (PARTITION BY workload ORDER BY captured_ns DESC) AS age
	FROM looked_up WHERE captured_ns <= :from_ns
		AND workload IN (SELECT workload FROM alike WHERE is_now)
		AND workload NOT IN (SELECT workload FROM alike WHERE NOT is_now))
WHERE age = 1
ORDER BY workload, is_now;

-- Whose a workload is: by its newest capture that says so.  Known of all when one owner is asked for.
CREATE TABLE IF NOT EXISTS owned AS
SELECT workload, owner
FROM (SELECT workload, owner, row_number() OVER (
	PARTITION BY workload ORDER BY captured_ns DESC, profile, hash) AS age
	FROM turns WHERE owner IS NOT NULL)
WHERE age = 1
ORDER BY workload;

-- Whom the fleet file names and no run does is misspelt there, or has stopped: a budget without
-- runs never breaks.
INSERT INTO absent
SELECT 'owner', owner, NULL, 0, NULL, NULL, NULL, 1
FROM (SELECT owner FROM budget WHERE owner IS NOT NULL UNION SELECT owner FROM route)
WHERE owner NOT IN (SELECT owner FROM owned) AND (:owner IS NULL OR owner = :owner);
