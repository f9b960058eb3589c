-- The newest usable run of each workload in this window, and the newest before it: what the rules said
-- of them is looked up.
CREATE TABLE newest AS
SELECT *
FROM (SELECT *, row_number() OVER (
	PARTITION BY workload, is_now ORDER BY captured_ns DESC, hash) AS age FROM alike)
WHERE age = 1
ORDER BY workload, is_now;
CREATE TABLE latest AS
SELECT workload, is_now, hash, run, profile, platform IS 'cpu' AS is_cpu, chips, judge, rules FROM newest
UNION ALL
SELECT workload, 0, hash, run, profile, platform IS 'cpu', chips, judge, rules
FROM (SELECT *, row_number() OVER (PARTITION BY workload
	ORDER BY captured_ns DESC, judge IS :judge DESC, profile, hash) AS age
	FROM turns WHERE outcome = 'judged' AND captured_ns <= :from_ns
		AND workload IN (SELECT workload FROM alike WHERE is_now)
		AND workload NOT IN (SELECT workload FROM alike WHERE NOT is_now))
WHERE age = 1
ORDER BY workload, is_now;
