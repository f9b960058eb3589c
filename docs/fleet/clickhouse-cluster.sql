CREATE TABLE rooflint_facts_shard ON CLUSTER '{cluster}'
(
    version Nullable(String),
    hash String,
    run Nullable(String),
    profile Nullable(String),
    captured Nullable(String),
    captured_source Nullable(String),
    workload Nullable(String),
    owner Nullable(String),
    model Nullable(String),
    commit_id Nullable(String),
    platform Nullable(String),
    chip Nullable(String),
    chips Nullable(Float64),
    phase Nullable(String),
    judge Nullable(String),
    rules Nullable(String),
    tool Nullable(String),
    verdict Nullable(String),
    gain_s Nullable(Float64),
    hosts Nullable(Float64),
    hosts_expected Nullable(Float64),
    devices Nullable(Float64),
    steps Nullable(Float64),
    step_time_s Nullable(Float64),
    step_time_lo_s Nullable(Float64),
    step_time_hi_s Nullable(Float64),
    busy_ratio Nullable(Float64),
    idle_ratio Nullable(Float64),
    compute_ratio Nullable(Float64),
    comms_exposed_ratio Nullable(Float64),
    layout_copy_ratio Nullable(Float64),
    transfer_ratio Nullable(Float64),
    op_util Nullable(Float64),
    mfu Nullable(Float64),
    hfu Nullable(Float64),
    hbm_util Nullable(Float64),
    roofline_ratio_lo Nullable(Float64),
    roofline_ratio_hi Nullable(Float64),
    judged_ratio Nullable(Float64),
    unattributed_ratio Nullable(Float64),
    quality Nullable(String),
    labels Nullable(String),
    error_id Nullable(String),
    error Nullable(String),
    verdicts Nested
    (
        verdict Nullable(String),
        gain_s Nullable(Float64),
        rule Nullable(String),
        title Nullable(String),
        reason Nullable(String),
        subjects Nullable(Float64),
        findings Nullable(Float64),
        message Nullable(String),
        note Nullable(String),
        source_file Nullable(String),
        source_line Nullable(Float64)
    )
)
ENGINE = ReplicatedReplacingMergeTree(
    '/clickhouse/tables/{shard}/rooflint_facts', '{replica}')
ORDER BY (ifNull(captured, ''), hash);

-- Rows of the same hash go to the same shard, and become one there.
CREATE TABLE rooflint_facts ON CLUSTER '{cluster}' AS rooflint_facts_shard
ENGINE = Distributed('{cluster}', currentDatabase(), rooflint_facts_shard, cityHash64(hash));
