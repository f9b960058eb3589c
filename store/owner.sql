-- One owner's part: his workloads' rows of what a store answered, in place of all rows.  A temporary
-- table hides the table of its name, so that gather.sql and what follows it need not know.
CREATE TEMP TABLE days AS SELECT * FROM main.days
WHERE workload IN (SELECT workload FROM owned WHERE owner = :owner) ORDER BY rowid;
CREATE TEMP TABLE alike AS SELECT * FROM main.alike
WHERE workload IN (SELECT workload FROM owned WHERE owner = :owner) ORDER BY rowid;
CREATE TEMP TABLE seen AS SELECT * FROM main.seen
WHERE workload IN (SELECT workload FROM owned WHERE owner = :owner) ORDER BY rowid;
CREATE TEMP TABLE claims AS SELECT * FROM main.claims
WHERE workload IN (SELECT workload FROM owned WHERE owner = :owner) ORDER BY rowid;
CREATE TEMP TABLE late_hosts AS SELECT * FROM main.late_hosts
WHERE workload IN (SELECT workload FROM owned WHERE owner = :owner) ORDER BY rowid;
CREATE TEMP TABLE flaws AS SELECT * FROM main.flaws
WHERE workload IN (SELECT workload FROM owned WHERE owner = :owner) ORDER BY rowid;
CREATE TEMP TABLE later AS SELECT * FROM main.later
WHERE workload IN (SELECT workload FROM owned WHERE owner = :owner) ORDER BY rowid;
CREATE TEMP TABLE turns AS SELECT * FROM main.turns
WHERE workload IN (SELECT workload FROM owned WHERE owner = :owner) ORDER BY rowid;
CREATE TEMP TABLE felt AS SELECT * FROM main.felt
WHERE workload IN (SELECT workload FROM owned WHERE owner = :owner) ORDER BY rowid;
CREATE TEMP TABLE levels AS SELECT * FROM main.levels
WHERE workload IN (SELECT workload FROM owned WHERE owner = :owner) ORDER BY rowid;
CREATE TEMP TABLE broke AS SELECT * FROM main.broke
WHERE workload IN (SELECT workload FROM owned WHERE owner = :owner) ORDER BY rowid;
