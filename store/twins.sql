-- Days that two workloads have, to the nanosecond: the one with fewer days, else the longer name, may be an
-- archive of the other.  Whether their captures are the same is looked up.
CREATE INDEX days_at ON days (first_ns, last_ns);
CREATE TABLE spans AS
SELECT workload, count(*) AS days, length(hex(workload)) AS bytes FROM days GROUP BY workload;
CREATE UNIQUE INDEX spans_of ON spans (workload);
CREATE TABLE twins AS
SELECT c.rowid AS day, c.workload AS copy, o.workload AS original, c.last_ns AS ns
FROM days AS c JOIN days AS o ON o.first_ns = c.first_ns AND o.last_ns = c.last_ns
	AND o.workload <> c.workload AND o.runs = c.runs AND o.step_ns IS c.step_ns
	AND o.chip IS c.chip AND o.chips IS c.chips
JOIN spans AS cs ON cs.workload = c.workload JOIN spans AS os ON os.workload = o.workload
WHERE (os.days, -os.bytes, c.workload) > (cs.days, -cs.bytes, o.workload);
