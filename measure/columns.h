/*
 * Every table and column rooflint knows, once: name, unit, allowed words, meaning.
 *
 * The row structs, the virtual tables of the rule engine, `rooflint tables`, docs/tables.md, the
 * JSON schema and the rule linter are all made from this list, so it is the public contract
 * between measuring and judging (TABLES_VERSION).
 *
 *   TEXT(name, words, meaning)   words: NULL, or the allowed values separated by '|'
 *   REAL(name, unit, meaning)    base units; NaN is NULL
 *
 * "Per device" figures are averages over devices unless the meaning says otherwise.
 */
#ifndef MEASURE_COLUMNS_H
#define MEASURE_COLUMNS_H

/* Major: a column changed its meaning or went away.  Minor: a column came. */
#define TABLES_VERSION "2.0"

#define KIND_WORDS                                                                                 \
	"unknown|matmul|convolution|attention|elementwise|reduce|gather|scatter|sort|rng|update|"  \
	"custom|control|copy|all-gather|all-reduce|reduce-scatter|all-to-all|permute|broadcast|"   \
	"send|recv|barrier|transfer|infeed|outfeed|callback"
#define PHASE_WORDS	   "unknown|train|inference"
#define BOUND_WORDS	   "compute|memory|communication|host"
#define COST_WORDS	   "exact|upper|lower"
#define CORE_WORDS	   "compute|sparse"
#define LINK_WORDS	   "ici|nvlink|xgmi|dcn"
#define CAUSE_WORDS	   "layout|prefetch|offload|donation|d2d"
#define FLOPS_SOURCE_WORDS "profile|hlo|rules|kernels|author"
#define WORK_WORDS	   "step|other|serving"
#define DIRECTION_WORDS	   "h2d|d2h|d2d|p2p|unknown"
#define CHANGE_WORDS	   "new|gone|changed|split|slower|faster|more-runs|fewer-runs"
#define PLATFORM_WORDS	   "unknown|tpu|nvidia|amd|cpu"
#define STEPS_WORDS	   "window|program|annotation|steps-line"
#define GAP_WORDS	   "unknown|input|compile|checkpoint|transfer|sync|request|host|program"
/*
 * What a run is compared by: table, column, how it moves from step to step (enum series), for a
 * share its part of a step, for what is known in part the most that it may be, whether more is
 * worse, what it says of the step (enum loss), what it is called, and how a sentence about it
 * begins.  F: the first one, whose baselines tell which lie beyond the others; M: the rest.
 */
#define METRICS(F, M)                                                                              \
	F(run, step_time_s, TIME, "", true, STEP, "the step time", "a step takes")                 \
	M(run, roofline_ratio_lo, INVERSE, "roofline_ratio_hi", false, WORK, "the roofline share", \
		"the roofline share is")                                                           \
	M(run, mfu, INVERSE, "", false, RATE, "the MFU", "the MFU is")                             \
	M(run, comms_exposed_ratio, SHARE, "comms_exposed_s", true, PART,                          \
		"the exposed communication", "waiting for communication takes")                    \
	M(run, idle_ratio, SHARE, "idle_s", true, NONE, "the idle time", "idle time is")           \
	M(run, transfer_ratio, SHARE, "transfer_s", true, NONE, "the time in transfers",           \
		"moving data to or from the host takes")                                           \
	M(memory, window_peak_bytes, CONSTANT, "", true, NONE, "the peak memory",                  \
		"memory peaks at")                                                                 \
	M(run, step_flops, CONSTANT, "", true, NONE, "the work of a step",                         \
		"the ops of a step compute")                                                       \
	M(run, predicted_step_s, PLANNED, "", true, STEP, "the predicted step time",               \
		"a step is predicted to take at least")                                            \
	M(memory, compiled_bytes, PLANNED, "", true, NONE, "the planned memory",                   \
		"the compiler plans for")
#define METRIC_WORD(table, column, ...)	     #table "." #column
#define METRIC_WORD_MORE(table, column, ...) "|" #table "." #column
#define METRIC_WORDS			     METRICS(METRIC_WORD, METRIC_WORD_MORE)
#define WORK_SOURCE_WORDS		     "job|ops"
#define FRAMEWORK_WORDS			     "jax|tensorflow|pytorch"
#define ATTRIBUTION_WORDS		     "profile|name|schedule|none"

#define RUN_COLUMNS(TEXT, REAL)                                                                    \
	TEXT(name, 0, "name of the run: its directory, or --job's workload")                       \
	TEXT(fingerprint, 0,                                                                       \
		"identity of the capture: hosts, sizes and both ends of its files; its place and " \
		"name where it could not be read")                                                 \
	TEXT(listing, 0, "names and versions of its files, where a bucket's list has them")        \
	TEXT(captured, 0, "when the profiler was started, UTC: 2027-01-31T12:00:00Z")              \
	TEXT(inputs, 0, "what was read: files by format, their size, HLO modules")                 \
	TEXT(platform, PLATFORM_WORDS, "what wrote the profile")                                   \
	TEXT(compiler, "xla|none",                                                                 \
		"whose programs the steps ran; none: kernels of no program, as PyTorch and "       \
		"TensorFlow launch them")                                                          \
	TEXT(framework, FRAMEWORK_WORDS,                                                           \
		"whose job it is, by its programs' or kernels' names; missing: unknown")           \
	TEXT(evidence, "measured|planned",                                                         \
		"measured: it ran; planned: all there is is a compiler's dump")                    \
	TEXT(chip, 0, "id of the chip, as `rooflint hardware` lists it")                           \
	TEXT(chip_why, 0, "how the chip was recognised, or why it was not")                        \
	TEXT(chip_name, 0, "what the device calls itself; missing: it does not say")               \
	REAL(chips, COUNT, "chips that took part, as far as the profile says")                     \
	REAL(devices, COUNT, "device planes with events")                                          \
	REAL(hosts, COUNT,                                                                         \
		"hosts whose profile was read; where a host has several processes, those")         \
	REAL(hosts_expected, COUNT, "the same of the job by its file or the device assignment")    \
	REAL(all_hosts_read, BOOL,                                                                 \
		"whether these are all hosts of the job; NULL: some are missing, or nothing says " \
		"how many there are")                                                              \
	REAL(machines, COUNT, "hosts that the profiles name; NULL where one names none")           \
	TEXT(phase, PHASE_WORDS, "training, inference, or not known")                              \
	REAL(steps, COUNT,                                                                         \
		"steady steps: complete, without warm-up, compilation or profiler start")          \
	TEXT(steps_source, STEPS_WORDS, "where the steps come from")                               \
	TEXT(main_program, 0, "the program whose executions are the steps")                        \
	REAL(is_server, BOOL,                                                                      \
		"a step is an execution of that program, without the wait for the next request")   \
	REAL(whole_hlo, BOOL,                                                                      \
		"whether the profile holds the HLO of its program; NULL: it does not, or not all " \
		"of it")                                                                           \
	REAL(programs_per_step, COUNT,                                                             \
		"executions of programs in a step, on the device that ends last")                  \
	TEXT(jax_version, 0, "version of JAX, by the capture, else by the job file")               \
	TEXT(jaxlib_version, 0, "version of jaxlib, which holds XLA, by the same")                 \
	TEXT(runtime_version, 0,                                                                   \
		"libtpu's build, or CUDA or ROCm and the driver, in its own words, by the same")   \
	REAL(step_time_s, SECONDS,                                                                 \
		"median steady step, on the device that ends last; without steps, what was "       \
		"captured of the longest device")                                                  \
	REAL(step_time_lo_s, SECONDS, "low end of the 95% interval of that median")                \
	REAL(step_time_hi_s, SECONDS, "high end of that interval")                                 \
	REAL(step_mean_s, SECONDS,                                                                 \
		"mean steady step over all devices: shares, and seconds per step, are of it")      \
	REAL(step_interval_s, SECONDS,                                                             \
		"from the begin of a steady step to the next one's on the first device, median: "  \
		"a server's steps leave out the time between its requests")                        \
	REAL(predicted_step_s, SECONDS,                                                            \
		"what a step's programs take at least (programs.floor_s), one after another; "     \
		"without unpredicted_ops")                                                         \
	REAL(unpredicted_ops, COUNT,                                                               \
		"ops of a step's programs whose cost is unknown: predicted_step_s is without "     \
		"them")                                                                            \
	REAL(window_s, SECONDS, "first to last device event, the longest over devices")            \
	REAL(verdict_share, RATIO,                                                                 \
		"of the time that the device that ends last ran programs, the share of the "       \
		"steps and of other work that rules judge: the verdict speaks for them")           \
	REAL(busy_ratio, RATIO, "share of steady-step time with anything running on the device")   \
	REAL(idle_ratio, RATIO, "1 - busy_ratio")                                                  \
	REAL(compute_ratio, RATIO, "share of steady-step time with compute running")               \
	REAL(comms_exposed_ratio, RATIO, "share with communication and no compute running")        \
	REAL(comms_hidden_ratio, RATIO, "share with communication behind compute")                 \
	REAL(layout_copy_ratio, RATIO, "share taken by copies that only change a layout")          \
	REAL(update_excess_ratio, RATIO,                                                           \
		"share taken by in-place updates beyond their own roofline")                       \
	REAL(transfer_ratio, RATIO, "share with host-device transfers and nothing else running")   \
	REAL(step_flops, FLOPS,                                                                    \
		"FLOPs of a step on a device, repeated ones too; NULL when more than 5% of "       \
		"the compute time has none")                                                       \
	REAL(op_util, RATIO,                                                                       \
		"counted FLOPs of the steady steps over peak FLOPs in that time: a lower bound, "  \
		"by uncounted_ratio")                                                              \
	REAL(mfu, RATIO, "model FLOPs utilisation; needs the job file's model")                    \
	REAL(hfu, RATIO, "hardware FLOPs utilisation; needs the job file's model")                 \
	REAL(hbm_util, RATIO,                                                                      \
		"counted HBM bytes of the steady steps over what the memory could move: a lower "  \
		"bound, by unknown_bytes_ratio")                                                   \
	REAL(roofline_ratio_lo, RATIO,                                                             \
		"ideal over measured step time, ops of unknown cost taken as free")                \
	REAL(roofline_ratio_hi, RATIO, "the same, ops of unknown cost taken as ideal")             \
	REAL(useful_flops_ratio, RATIO,                                                            \
		"model FLOPs over counted FLOPs; needs the job file, and nearly all to be "        \
		"counted")                                                                         \
	REAL(uncounted_ratio, RATIO,                                                               \
		"of the time in compute and copies, the share in ops whose FLOPs are unknown")     \
	REAL(unknown_bytes_ratio, RATIO,                                                           \
		"of the time in compute and copies, the share in ops whose HBM bytes are unknown") \
	REAL(unattributed_ratio, RATIO,                                                            \
		"device time of kernels that no HLO instruction claims; 0 of an export of Nsight " \
		"Systems in which no program of XLA ran")                                          \
	REAL(unknown_kind_ratio, RATIO, "device time of ops whose work is unknown")                \
	REAL(unclear_comms_ratio, RATIO,                                                           \
		"share of the step in ops that may or may not communicate")                        \
	REAL(judged_ratio, RATIO,                                                                  \
		"of the time in compute and copies, the share in ops whose roofline is known")     \
	REAL(remat_flops_ratio, RATIO,                                                             \
		"of the counted FLOPs, those that recompute the forward pass")                     \
	REAL(input_wait_ratio, RATIO,                                                              \
		"share of the step idle while the host gets the next batch, or in infeeds")        \
	REAL(sync_wait_ratio, RATIO,                                                               \
		"share idle while the host waits for a result, or in outfeeds")                    \
	REAL(tiny_ops_ratio, RATIO, "device busy time in ops shorter than 10 us")                  \
	REAL(tiny_ops_count_ratio, RATIO, "share of op executions shorter than 10 us")             \
	REAL(compiles_in_steps, COUNT, "compilations inside steps after the warm-up")              \
	REAL(gain_s, SECONDS,                                                                      \
		"step time all findings together would give back; set after judging")              \
	TEXT(model, 0, "name of the model; this and what follows is the job file's")               \
	TEXT(owner, 0, "whom to ask about the job")                                                \
	TEXT(commit_id, 0, "version of the source that ran")                                       \
	TEXT(labels, 0, "key=value pairs, separated by commas")                                    \
	TEXT(mesh, 0, "axes and sizes of the device mesh, axis=size")                              \
	TEXT(topology, 0, "how the chips are joined, in the owner's words")                        \
	REAL(slices, COUNT, "TPU slices that the program joins, else by the job file")             \
	REAL(global_batch, COUNT, "sequences of a step, over all devices")                         \
	REAL(tokens_per_step, COUNT, "tokens of a step, over all devices")                         \
	REAL(model_flops, FLOPS, "what the model's formula makes of a step, over all devices")     \
	REAL(pipeline_stages, COUNT, "stages of pipeline parallelism")                             \
	REAL(microbatches, COUNT, "microbatches a step pushes through the pipeline")               \
	REAL(bubble_ratio, RATIO, "share of the pipeline's ticks without a microbatch")

#define DEVICES_COLUMNS(TEXT, REAL)                                                                \
	TEXT(host, 0, "host that recorded it")                                                     \
	TEXT(device, 0, "plane name, e.g. /device:TPU:0")                                          \
	TEXT(chip_id, 0, "chip the plane belongs to; two planes may share one")                    \
	TEXT(core_type, CORE_WORDS, "tensor cores or GPU, or SparseCore")                          \
	TEXT(chip, 0, "id of the chip")                                                            \
	TEXT(phase, PHASE_WORDS, "the run's phase")                                                \
	REAL(cores, COUNT, "cores on this plane")                                                  \
	REAL(peak_flops, FLOPS_PER_SECOND,                                                         \
		"dense bf16 peak of the plane, fp16 where there is no bf16")                       \
	REAL(hbm_bytes, BYTES, "memory of the plane by the chip's table")                          \
	REAL(hbm_bps, BYTES_PER_SECOND, "memory bandwidth of the plane")                           \
	REAL(link_bps, BYTES_PER_SECOND, "one link between chips, one way")                        \
	TEXT(peaks_source, 0, "table, or what the plane said")                                     \
	REAL(events, COUNT, "op or kernel events recorded")                                        \
	REAL(steps, COUNT, "steady steps on this device; a SparseCore's are its chip's")           \
	REAL(busy_s, SECONDS, "union of all activity in the whole window")                         \
	REAL(window_s, SECONDS, "first to last event")                                             \
	REAL(busy_ratio, RATIO, "share of steady-step time with anything running")                 \
	REAL(idle_ratio, RATIO, "1 - busy_ratio")                                                  \
	REAL(wait_ratio, RATIO,                                                                    \
		"share of it idle outside every execution, on CPU also of the same program on "    \
		"other devices: the host may be late")                                             \
	REAL(other_wait_ratio, RATIO,                                                              \
		"of the time of the steady steps and of the other work between them, the share "   \
		"that it is idle between that work's executions")                                  \
	REAL(slowness, NONE,                                                                       \
		"in three quarters of its compute time, and in its matmuls, it takes at least "    \
		"this "                                                                            \
		"many times as long as the median device")

#define PROGRAMS_COLUMNS(TEXT, REAL)                                                               \
	TEXT(program, 0, "program id as the profile prints it")                                    \
	TEXT(module, 0, "module name")                                                             \
	TEXT(role, WORK_WORDS, "what it ran for")                                                  \
	TEXT(phase, PHASE_WORDS, "by its name and its gradients")                                  \
	REAL(executions, COUNT, "executions over all devices in the whole window")                 \
	REAL(time_s, SECONDS, "device time of all of them")                                        \
	REAL(time_share, RATIO, "share of the window of all devices")                              \
	REAL(p50_s, SECONDS, "median execution")                                                   \
	REAL(floor_s, SECONDS,                                                                     \
		"what an execution takes at least: the longest of what the core, memory, each "    \
		"link in each direction, the network and the way to the host have to do, NULL if " \
		"no op's cost is known")                                                           \
	REAL(serial_s, SECONDS,                                                                    \
		"the same with nothing overlapped: its ops' rooflines one after another")          \
	REAL(unpredicted_ops, COUNT,                                                               \
		"its ops whose cost is unknown: floor_s and serial_s are without them")            \
	REAL(judged_ratio, RATIO,                                                                  \
		"of its time in compute and copies, the share in ops whose roofline is known")     \
	REAL(compiled_bytes, BYTES, "device memory the compiler planned for it")                   \
	REAL(undonated_bytes, BYTES,                                                               \
		"outputs that could live in a parameter's memory, which was not donated")          \
	REAL(has_hlo, BOOL, "its HLO is in the profile, or in the compiler's dump")

#define PHASES_COLUMNS(TEXT, REAL)                                                                 \
	TEXT(name, 0,                                                                              \
		"of steps what marks them, else their module; of a wait its cause, as in gaps")    \
	TEXT(role, WORK_WORDS "|wait", "step: it is judged; wait: no program runs on the device")  \
	REAL(is_judged, BOOL, "its role is step")                                                  \
	REAL(judged_share, RATIO,                                                                  \
		"of its time, what rules judge: all of steps, of other work "                      \
		"programs.judged_ratio, "                                                          \
		"of waits none")                                                                   \
	REAL(is_wait, BOOL, "its role is wait")                                                    \
	TEXT(modules, 0, "modules that make it, separated by ' + '; NULL of a wait")               \
	REAL(marks, COUNT, "annotations of it on the host; 0 where there are none")                \
	REAL(count, COUNT,                                                                         \
		"how often it came; NULL of a wait where programs ran more than 100000 times")     \
	REAL(p50_s, SECONDS,                                                                       \
		"median; of steps from the begin of one to the begin of the next, less other "     \
		"work between")                                                                    \
	REAL(time_s, SECONDS, "of the window; that of all phases is the window")                   \
	REAL(time_share, RATIO, "of the window")                                                   \
	TEXT(step, 0, "what --step takes to judge it; NULL where nothing does")

#define STEPS_COLUMNS(TEXT, REAL)                                                                  \
	TEXT(host, 0, "host")                                                                      \
	TEXT(device, 0, "plane name")                                                              \
	REAL(step, COUNT, "number of the step: as marked, else from 0")                            \
	REAL(start_s, SECONDS, "since the first event of the device")                              \
	REAL(time_s, SECONDS, "length")                                                            \
	REAL(global_s, SECONDS, "of a steady step: its length on the device that ends last")       \
	REAL(compute_s, SECONDS, "compute running")                                                \
	REAL(comms_exposed_s, SECONDS, "communication without compute")                            \
	REAL(comms_hidden_s, SECONDS, "communication behind compute")                              \
	REAL(copy_s, SECONDS, "copies with neither compute nor communication")                     \
	REAL(transfer_s, SECONDS, "host transfers and nothing else")                               \
	REAL(idle_s, SECONDS, "nothing running")                                                   \
	REAL(is_warmup, BOOL, "first step, or disturbed by compilation or profiler start")         \
	REAL(is_complete, BOOL, "both ends were seen")

/*
 * Shared by ops and families.  COMMON_ are the columns of what an op is and what that costs: many
 * ops of a program are alike in them, and differ in their names and times.
 */
#define OP_MEASURES(TEXT, REAL, COMMON_TEXT, COMMON_REAL)                                          \
	COMMON_TEXT(role, WORK_WORDS, "what its program ran for")                                  \
	COMMON_REAL(count, COUNT,                                                                  \
		"executions over all devices and steady steps; of other roles, in the window")     \
	COMMON_REAL(per_step, COUNT, "executions per device and step; 0 outside the steps")        \
	COMMON_REAL(rate, COUNT,                                                                   \
		"executions per device and step; outside the steps in as much of the window as "   \
		"a step lasts")                                                                    \
	COMMON_REAL(recurs, BOOL, "part of a step, or its program ran more than once on a device") \
	REAL(time_s, SECONDS, "self time of all those executions")                                 \
	REAL(time_share, RATIO,                                                                    \
		"share of the steady-step time of all devices; 0 outside the steps")               \
	REAL(window_share, RATIO, "share of the window of all devices")                            \
	REAL(mean_s, SECONDS, "time_s / count")                                                    \
	REAL(p50_s, SECONDS, "median execution; within 0.1% beyond 256 executions")                \
	REAL(lo_s, SECONDS, "low end of the 95% interval of the median; n = steady steps")         \
	REAL(hi_s, SECONDS, "high end of that interval")                                           \
	REAL(max_s, SECONDS, "longest execution")                                                  \
	REAL(skew, NONE, "largest over (lower) median of the devices' time in this op")            \
	REAL(overlap_ratio, RATIO,                                                                 \
		"share of its time with other compute or communication on the device")             \
	COMMON_REAL(flops, FLOPS, "FLOPs per execution on one device")                             \
	COMMON_TEXT(flops_source, FLOPS_SOURCE_WORDS, "where the FLOPs come from")                 \
	COMMON_TEXT(cost_bound, COST_WORDS,                                                        \
		"exact, at most (masks, ragged, dynamic shapes), at least; NULL: not counted")     \
	COMMON_REAL(hbm_bytes, BYTES, "HBM bytes per execution on one device, dense")              \
	COMMON_REAL(t_math_s, SECONDS, "flops over its units' peak for its type")                  \
	COMMON_REAL(t_hbm_s, SECONDS, "hbm_bytes over the memory bandwidth")                       \
	COMMON_REAL(t_comms_s, SECONDS, "low end of the expected time of a collective")            \
	COMMON_REAL(t_host_s, SECONDS,                                                             \
		"bytes in host memory over the PCIe bandwidth; of a pair, its start's")            \
	COMMON_REAL(roofline_s, SECONDS, "the largest of the four")                                \
	COMMON_REAL(attainable_s, SECONDS,                                                         \
		"roofline with the share of each peak that good code reaches, and what an op "     \
		"takes to start")                                                                  \
	COMMON_TEXT(bound, BOUND_WORDS, "which of the four")                                       \
	REAL(efficiency, RATIO, "roofline_s / p50_s")                                              \
	REAL(gain_s, SECONDS, "per step and device: what reaching attainable_s would give back")   \
	COMMON_REAL(logical_bytes, BYTES, "operands and result, elements alone")                   \
	COMMON_REAL(padded_bytes, BYTES, "operands and result as laid out")                        \
	COMMON_REAL(padding_ratio, NONE, "padded_bytes / logical_bytes")                           \
	COMMON_REAL(rows_ratio, NONE,                                                              \
		"of one product: with so many times the rows, its smallest dimension, it takes "   \
		"as long to multiply as to move; NULL of batched ones and where no number does")   \
	COMMON_REAL(aligned_to, NONE,                                                              \
		"of one product: the largest power of two, at most 1024, that all three of its "   \
		"dimensions are multiples of")

#define OP_CELLS(TEXT, REAL, COMMON_TEXT, COMMON_REAL)                                             \
	COMMON_TEXT(program, 0, "program id")                                                      \
	COMMON_TEXT(module, 0, "module name")                                                      \
	TEXT(name, 0, "HLO instruction, or kernel where there is none")                            \
	TEXT(key, 0, "identity that survives a recompile: kind, shapes, scope, source function")   \
	COMMON_TEXT(family, 0, "key without layer numbers")                                        \
	COMMON_TEXT(opcode, 0, "HLO opcode")                                                       \
	COMMON_TEXT(inside, 0, "opcodes in a fusion, each once: add, exponential, multiply")       \
	COMMON_TEXT(kind, KIND_WORDS, "rooflint's own small vocabulary")                           \
	COMMON_TEXT(category, 0, "the profiler's category, where it gives one")                    \
	COMMON_TEXT(attribution, ATTRIBUTION_WORDS, "how the event was tied to the instruction")   \
	TEXT(scope, 0, "JAX name stack")                                                           \
	COMMON_TEXT(source_file, 0,                                                                \
		"Python file of the innermost frame outside of installed packages")                \
	COMMON_REAL(source_line, COUNT, "its line")                                                \
	COMMON_TEXT(user_file, 0, "first frame in the user's repository, from its top on")         \
	COMMON_REAL(user_line, COUNT, "its line")                                                  \
	COMMON_TEXT(dtype, 0, "operand type of the heaviest matmul, else the result's type")       \
	COMMON_TEXT(shape, 0, "result shape with layout")                                          \
	OP_MEASURES(TEXT, REAL, COMMON_TEXT, COMMON_REAL)                                          \
	COMMON_TEXT(copy_cause, CAUSE_WORDS,                                                       \
		"why a copy exists; donation: same layout on both sides, so no input was reused")  \
	COMMON_REAL(is_remat, BOOL, "recomputes what a forward pass had")                          \
	COMMON_REAL(is_async, BOOL, "a start or done of a pair")                                   \
	REAL(least_s, SECONDS, "shortest execution on a device, mean of devices")                  \
	REAL(most_s, SECONDS, "longest execution on a device, mean of devices")
#define OPS_COLUMNS(TEXT, REAL) OP_CELLS(TEXT, REAL, TEXT, REAL)

#define FAMILIES_COLUMNS(TEXT, REAL)                                                               \
	TEXT(module, 0, "module name")                                                             \
	TEXT(family, 0, "what the members share")                                                  \
	TEXT(name, 0, "the heaviest member's name")                                                \
	TEXT(key, 0, "the heaviest member's key")                                                  \
	TEXT(opcode, 0, "HLO opcode")                                                              \
	TEXT(kind, KIND_WORDS, "as in ops")                                                        \
	TEXT(scope, 0, "the heaviest member's scope")                                              \
	TEXT(source_file, 0, "as in ops, of the heaviest member")                                  \
	REAL(source_line, COUNT, "its line")                                                       \
	TEXT(user_file, 0, "as in ops, of the heaviest member")                                    \
	REAL(user_line, COUNT, "its line")                                                         \
	TEXT(dtype, 0, "as in ops")                                                                \
	TEXT(shape, 0, "as in ops")                                                                \
	REAL(members, COUNT, "ops in the family")                                                  \
	TEXT(copy_cause, CAUSE_WORDS, "as in ops; layout where any member has that cause")         \
	OP_MEASURES(TEXT, REAL, TEXT, REAL)

#define EDGES_COLUMNS(TEXT, REAL)                                                                  \
	TEXT(program, 0, "program id")                                                             \
	TEXT(producer, 0, "op name")                                                               \
	TEXT(producer_kind, KIND_WORDS, "its kind")                                                \
	TEXT(consumer, 0, "op name")                                                               \
	TEXT(consumer_kind, KIND_WORDS, "its kind")                                                \
	TEXT(key, 0, "as in ops, of the consumer")                                                 \
	REAL(bytes, BYTES, "what flows, as laid out")

#define COLLECTIVES_COLUMNS(TEXT, REAL)                                                            \
	TEXT(program, 0, "program id")                                                             \
	TEXT(module, 0, "module name")                                                             \
	TEXT(name, 0, "instruction; the start of an async pair")                                   \
	TEXT(key, 0, "as in ops")                                                                  \
	TEXT(family, 0, "as in ops")                                                               \
	TEXT(kind, KIND_WORDS, "which collective")                                                 \
	TEXT(role, WORK_WORDS, "as in ops")                                                        \
	TEXT(scope, 0, "JAX name stack")                                                           \
	TEXT(source_file, 0, "as in ops")                                                          \
	REAL(source_line, COUNT, "as in ops")                                                      \
	TEXT(user_file, 0, "as in ops")                                                            \
	REAL(user_line, COUNT, "as in ops")                                                        \
	TEXT(shape, 0, "result shape")                                                             \
	REAL(group_size, COUNT, "participants")                                                    \
	REAL(groups, COUNT, "groups")                                                              \
	TEXT(axis, 0, "which devices form a group, in words; the mesh's, by the job file")         \
	TEXT(link, LINK_WORDS, "what carries it")                                                  \
	TEXT(operand_kind, "parameter|activation|gradient", "what is communicated")                \
	REAL(regathers, COUNT, "times a step gathers the same array")                              \
	REAL(message_bytes, BYTES,                                                                 \
		"all-gather: output; reduce: operand; all-to-all: global array")                   \
	REAL(wire_bytes, BYTES, "what one device sends")                                           \
	REAL(per_step, COUNT, "executions per device and step; 0 outside the steps")               \
	REAL(rate, COUNT, "as in ops")                                                             \
	REAL(recurs, BOOL, "as in ops")                                                            \
	REAL(span_s, SECONDS, "median from start to the end of done")                              \
	REAL(done_waits, BOOL, "the done was waiting, so the span's end is the transfer's end")    \
	REAL(transfer_s, SECONDS,                                                                  \
		"median time the data moved: last arriver's start to the end; NULL if hidden")     \
	REAL(wait_s, SECONDS, "median time the first arriver waited for the last")                 \
	REAL(exposed_s, SECONDS,                                                                   \
		"per step and device: its share of the time with communication and no compute "    \
		"running")                                                                         \
	REAL(hidden_s, SECONDS, "per step and device: its share of the time behind compute")       \
	REAL(exposed_share, RATIO, "exposed_s over the mean step")                                 \
	REAL(window_share, RATIO,                                                                  \
		"time with communication and no compute running, its share of the window of all "  \
		"devices")                                                                         \
	REAL(expected_lo_s, SECONDS, "expected time, most favourable topology")                    \
	REAL(expected_hi_s, SECONDS,                                                               \
		"expected time, least favourable topology and attainable rate")                    \
	TEXT(topology_source, 0, "what was assumed about the topology")                            \
	REAL(bandwidth_bps, BYTES_PER_SECOND, "wire_bytes over transfer_s")                        \
	REAL(is_async, BOOL, "a start/done pair")

#define MEMORY_COLUMNS(TEXT, REAL)                                                                 \
	TEXT(host, 0, "host")                                                                      \
	TEXT(device, 0, "allocator or device")                                                     \
	REAL(capacity_bytes, BYTES, "what the allocator manages")                                  \
	REAL(compiled_bytes, BYTES,                                                                \
		"what the compiler allocates for the largest program that ran")                    \
	TEXT(compiled_program, 0, "that program")                                                  \
	REAL(owner_bytes, BYTES, "what the job file expects")                                      \
	REAL(window_peak_bytes, BYTES, "largest use seen inside the window (heap and stack)")      \
	REAL(lifetime_peak_bytes, BYTES,                                                           \
		"the allocator's own peak since the process began, without the stack of a TPU")    \
	REAL(growth_bytes, BYTES,                                                                  \
		"what a step takes and no later one gives back, by the lowest levels in the "      \
		"window; 0 unless they grow in both its halves")                                   \
	REAL(other_live_bytes, BYTES,                                                              \
		"alive during the whole window beyond the program's parameters")                   \
	REAL(arguments_bytes, BYTES, "the program's parameters")                                   \
	REAL(temp_bytes, BYTES, "what the program's temporaries share, holes included")            \
	REAL(output_bytes, BYTES, "the program's outputs that are not donated parameters")         \
	REAL(fragmentation, RATIO, "largest fragmentation the allocator reported")                 \
	REAL(samples, COUNT, "allocator events seen")

#define BUFFERS_COLUMNS(TEXT, REAL)                                                                \
	TEXT(program, 0, "program id")                                                             \
	TEXT(op, 0,                                                                                \
		"instruction that defines it; (temporaries): all that share an allocation; "       \
		"(holes): what they leave of it")                                                  \
	TEXT(key, 0, "as in ops, of that instruction")                                             \
	TEXT(shape, 0, "shape with layout")                                                        \
	TEXT(kind, "parameter|output|constant|temp|hole", "what it is")                            \
	REAL(bytes, BYTES, "as allocated")                                                         \
	REAL(unpadded_bytes, BYTES, "elements alone")                                              \
	REAL(padded_bytes, BYTES, "as laid out by its tiles")                                      \
	REAL(padding_ratio, NONE, "bytes / unpadded_bytes")                                        \
	REAL(share, RATIO, "of the program's peak")                                                \
	TEXT(scope, 0, "JAX name stack")                                                           \
	TEXT(source_file, 0, "as in ops")                                                          \
	REAL(source_line, COUNT, "as in ops")

#define LIVE_COLUMNS(TEXT, REAL)                                                                   \
	TEXT(snapshot, 0, "file of the run directory that says so, as memory.prof")                \
	TEXT(device, 0, "as the runtime calls it; NULL of executables")                            \
	TEXT(kind, "buffer|executable|other", "arrays, or the code of compiled programs")          \
	REAL(count, COUNT, "of them")                                                              \
	REAL(bytes, BYTES, "together, NULL when the runtime does not say")                         \
	REAL(share, RATIO, "of all of that kind on the device")                                    \
	TEXT(function, 0, "Python function that made them")                                        \
	TEXT(source_file, 0, "of the innermost frame outside of installed packages")               \
	REAL(source_line, COUNT, "of it")                                                          \
	TEXT(user_file, 0, "first frame in the user's repository, from its top on")                \
	REAL(user_line, COUNT, "line of user_file")

#define GAPS_COLUMNS(TEXT, REAL)                                                                   \
	TEXT(host, 0, "host")                                                                      \
	TEXT(device, 0, "plane name")                                                              \
	TEXT(role, "step|other", "step: it lies in one; other: in what runs between them")         \
	REAL(step, COUNT, "step it lies in, or behind")                                            \
	REAL(start_s, SECONDS, "since the first event of the device")                              \
	REAL(time_s, SECONDS, "length")                                                            \
	TEXT(before, 0, "op that ended")                                                           \
	TEXT(after, 0, "op that began")                                                            \
	TEXT(key, 0, "as in ops, of the op that began")                                            \
	TEXT(cause, GAP_WORDS,                                                                     \
		"program: it lies inside an execution; else what the host was at: input is the "   \
		"next batch, sync a result that it waited for, request what a thread that serves " \
		"waits for from others, or a timer")                                               \
	REAL(cause_s, SECONDS, "of its length, what the cause takes; the rest has others")         \
	TEXT(host_call, 0,                                                                         \
		"the outermost call that it holds whole, where that is most of it, or a callback " \
		"or a wait before a launch: with Python's tracer on a line of the job's own code") \
	TEXT(host_activity, 0, "the innermost host event that covers most of it")                  \
	TEXT(activity, 0, "what the host was at, in words")                                        \
	REAL(dispatching, BOOL,                                                                    \
		"whether most of it lies in what a library does around the launch of a step: "     \
		"host_call is that call")                                                          \
	REAL(launching, BOOL, "whether most of it lies in launches of programs")                   \
	REAL(by_others, BOOL,                                                                      \
		"whether another thread's Python code ran in it, for which the one that launches " \
		"work waited")                                                                     \
	REAL(works_after, BOOL, "whether most of it is what the host did after it had the result")

#define WAITS_COLUMNS(TEXT, REAL)                                                                  \
	TEXT(key, 0, "the run's name")                                                             \
	TEXT(role, "step|other", "step: in the steps; other: in what runs between them")           \
	TEXT(name, 0, "activity of gaps, for most of the cause's time")                            \
	TEXT(host, 0, "of the device that waits most")                                             \
	TEXT(device, 0, "that device")                                                             \
	REAL(wait_ratio, RATIO,                                                                    \
		"share of steady-step time, outside the steps also of other work's, that it is "   \
		"idle outside every execution, on CPU also "                                       \
		"of the same program on other devices: the host may be late")                      \
	REAL(mean_ratio, RATIO, "the mean of all devices; NULL where they wait nearly as long")    \
	REAL(pool_share, RATIO, "of its wait, idle time of all devices")                           \
	REAL(waited_share, RATIO,                                                                  \
		"of its wait, what the others wait for it in collectives; NULL where they do not") \
	TEXT(cause, GAP_WORDS, "as in gaps, of most of its wait; NULL where unknown")              \
	TEXT(at, 0, "when the device waits, in words, as in while it gets the next batch")         \
	TEXT(doing, 0, "host_call of gaps, else host_activity, for most of the cause's time")      \
	TEXT(innermost, 0, "host_activity of gaps for most of the cause's time")                   \
	REAL(steps_hit, COUNT, "steps that the cause comes in; NULL where it is most of them")     \
	REAL(hit_s, SECONDS, "the mean wait for it in these")                                      \
	REAL(launches, COUNT,                                                                      \
		"programs in a step, where the host is late since it launches them one by one")    \
	REAL(launching, BOOL, "the host is late while it launches a program")                      \
	REAL(dispatching, BOOL, "as in gaps, for most of the cause's time")                        \
	REAL(by_others, BOOL, "as in gaps, for most of the cause's time")                          \
	REAL(works_after, BOOL, "as in gaps, for most of the cause's time")                        \
	REAL(in_background, BOOL, "it writes checkpoints in the background already")               \
	REAL(is_debugging, BOOL, "it reads results for jax_debug_nans or jax_debug_infs")          \
	REAL(programs_agree, BOOL, "no device runs programs of its own, as pipeline stages do")

#define TRANSFERS_COLUMNS(TEXT, REAL)                                                              \
	TEXT(direction, DIRECTION_WORDS, "from where to where")                                    \
	REAL(count, COUNT, "transfers over all devices and steady steps")                          \
	REAL(per_step, COUNT, "per device and step")                                               \
	REAL(bytes, BYTES, "moved per device and step, NULL when the profile does not say")        \
	REAL(pageable_ratio, RATIO,                                                                \
		"of the bytes, those to or from memory of the host that the profile calls "        \
		"pageable: the driver copies them once more")                                      \
	REAL(time_s, SECONDS,                                                                      \
		"time per device and step; while several are in flight, they share the time")      \
	REAL(exposed_s, SECONDS, "time of it with nothing else running")                           \
	REAL(step_share, RATIO, "exposed_s over the mean step")                                    \
	REAL(bps, BYTES_PER_SECOND,                                                                \
		"bytes over time_s: up to twice one way's rate where both ways run at once")       \
	REAL(least_s, SECONDS,                                                                     \
		"to or from the host: what the link needs for the bytes, at the rate it reaches")

#define COMPILES_COLUMNS(TEXT, REAL)                                                               \
	TEXT(module, 0, "module, or the compiler's event where it has no name")                    \
	REAL(programs, COUNT, "distinct programs of this module name in the window")               \
	REAL(start_s, SECONDS, "on the host's clock, as the profile counts it")                    \
	REAL(time_s, SECONDS, "length")                                                            \
	REAL(in_step, BOOL, "inside the steps, after the warm-up")

#define FILES_COLUMNS(TEXT, REAL)                                                                  \
	TEXT(file, 0, "its name")                                                                  \
	TEXT(host, 0, "the host it is about; NULL of snapshots")                                   \
	TEXT(format, "xplane|riegeli|trace|nsys|dump|memory-prof", "how it was read")              \
	TEXT(writer, 0, "who wrote it, with a version, where it says so")                          \
	REAL(bytes, BYTES, "its size; NULL of snapshots")                                          \
	REAL(planes, COUNT, "devices, hosts and metadata in it; NULL of snapshots")                \
	REAL(lanes, COUNT, "lines, streams and threads in it; NULL of snapshots")                  \
	REAL(modules, COUNT, "programs in it with their HLO; NULL of snapshots")

#define QUALITY_COLUMNS(TEXT, REAL)                                                                \
	TEXT(name, 0, "which check of the data itself")                                            \
	REAL(ok, BOOL, "whether it holds")                                                         \
	TEXT(detail, 0, "what was seen")                                                           \
	TEXT(todo, 0, "what would make it hold; missing: that depends on the check alone")

#define DELTAS_COLUMNS(TEXT, REAL)                                                                 \
	TEXT(metric, METRIC_WORDS, "what is compared, as table.column")                            \
	TEXT(key, 0, "the metric, and which baselines when these are a query's")                   \
	TEXT(name, 0, "the metric in words")                                                       \
	TEXT(against, 0,                                                                           \
		"what it is compared with: one baseline by its name, the baselines, or the "       \
		"store's query")                                                                   \
	TEXT(work_source, WORK_SOURCE_WORDS,                                                       \
		"what says that a step does as much work as before: job: the job files; ops: the " \
		"FLOPs counted, but for what is computed again; missing: nothing does")            \
	REAL(base, NONE,                                                                           \
		"value of the baseline; of captures without steps as if it had done this run's "   \
		"work, which how often each op ran tells")                                         \
	REAL(head, NONE, "value of this run")                                                      \
	REAL(ratio, NONE, "head / base")                                                           \
	REAL(worse, RATIO,                                                                         \
		"how much worse: of the baseline's value, of a step for shares; below 0 is "       \
		"better")                                                                          \
	REAL(lo, RATIO,                                                                            \
		"low end of its 99% interval, of bytes against the largest baseline; NULL when "   \
		"runs or steps differ too much to tell")                                           \
	REAL(hi, RATIO, "high end of it; of bytes against the smallest baseline")                  \
	REAL(is_short, BOOL,                                                                       \
		"whether one of the two has a single step, or none: that shows no noise")          \
	REAL(lost_s, SECONDS, "what that costs a step; below 0: gains")                            \
	REAL(lost_most_s, SECONDS,                                                                 \
		"the same, where the work of some ops is unknown: the most that it may cost")      \
	REAL(lost_bytes, BYTES, "what that takes of the memory")                                   \
	REAL(tells_step, BOOL,                                                                     \
		"whether it says how long the work of a step takes: its time, and while that is "  \
		"not longer, what of it became worse by more than the step became shorter, or "    \
		"because of does_less")                                                            \
	REAL(does_less, BOOL,                                                                      \
		"of a smaller roofline share: most of what computes does less than it did, as of " \
		"a smaller batch; NULL where the share is not surely smaller, the work is known, " \
		"or a baseline has no FLOPs by op")                                                \
	REAL(is_slower, BOOL,                                                                      \
		"whether being worse is being slower: 1: the time, and the MFU; 0: a part of a "   \
		"step that takes no longer; NULL: as much work may take longer, and nothing says " \
		"that it is as much")                                                              \
	REAL(claimed_s, SECONDS,                                                                   \
		"lost_s of the row that says it best, and 0 of the others that tell the same; "    \
		"NULL: too noisy to tell")                                                         \
	REAL(resolution, RATIO, "the least change that would have been seen, as in worse")         \
	REAL(n_base, COUNT, "independent steps that the baselines are worth")                      \
	REAL(n_head, COUNT, "independent steps that this run is worth")                            \
	REAL(runs, COUNT, "of these baselines")                                                    \
	REAL(noise, RATIO, "deviation from run to run that it was judged with")                    \
	REAL(noise_seen, RATIO, "of the baselines; NULL when there is but one of a set")           \
	REAL(noise_runs, COUNT, "baselines of all sets, which show that")                          \
	REAL(noise_assumed, RATIO, "that was assumed beside it")                                   \
	REAL(noise_worth, COUNT,                                                                   \
		"degrees of freedom that the assumption was worth; 0: the baselines alone show "   \
		"the noise")                                                                       \
	REAL(noise_workloads, COUNT,                                                               \
		"workloads of the store that showed what was assumed; 0: the rule file says it")   \
	REAL(baselines_more, COUNT,                                                                \
		"so many more baselines like these would settle it; NULL: it is settled, or they " \
		"would not")                                                                       \
	REAL(steps_times, NONE, "so many times the steps in every run would settle it")            \
	REAL(steps_more, COUNT, "steps that this run would have then")

#define CHANGES_COLUMNS(TEXT, REAL)                                                                \
	TEXT(key, 0, "as in ops")                                                                  \
	TEXT(change, CHANGE_WORDS, "what became of it")                                            \
	TEXT(name, 0, "the heaviest op of that key; of the baseline's, when gone or split")        \
	TEXT(kind, KIND_WORDS, "as in ops")                                                        \
	TEXT(shape, 0, "as in ops")                                                                \
	TEXT(scope, 0, "as in ops")                                                                \
	TEXT(source_file, 0, "as in ops")                                                          \
	REAL(source_line, COUNT, "its line")                                                       \
	TEXT(user_file, 0, "as in ops")                                                            \
	REAL(user_line, COUNT, "its line")                                                         \
	REAL(base_s, SECONDS, "in the baseline, per device and step, all ops of the key")          \
	REAL(head_s, SECONDS, "in this run; when split, of all its pieces")                        \
	REAL(lost_s, SECONDS, "the difference, absent taken as 0; NULL where a time is not known") \
	REAL(size_s, SECONDS, "the same without its sign")                                         \
	REAL(base_per_step, COUNT, "executions per device and step in the baseline")               \
	REAL(head_per_step, COUNT, "executions per device and step in this run")                   \
	TEXT(instead_of, 0, "changed: the op it was, of other shapes or operands")                 \
	TEXT(base_shape, 0, "changed: the shape that one had")                                     \
	REAL(base_ops, COUNT, "changed, of several ops: how many they were")                       \
	REAL(head_ops, COUNT, "changed, of several ops: how many they are")                        \
	TEXT(feeds, 0, "new or changed: an op that reads its result")                              \
	TEXT(pieces, 0, "split: the ops that do its work now, the heaviest first")

/*
 * X(table, COLUMNS list, key column or 0, meaning).  The key names a subject in findings.  OPS
 * stands in for it where rows of ops share what they are.
 */
#define TABLES_OF(X, OPS)                                                                          \
	X(run, RUN_COLUMNS, "name", "the job; one row")                                            \
	X(devices, DEVICES_COLUMNS, "device", "a device plane")                                    \
	X(programs, PROGRAMS_COLUMNS, "module", "a compiled program with ops that ran")            \
	X(phases, PHASES_COLUMNS, "name",                                                          \
		"a sort of work, or of waiting, on the device that ends last")                     \
	X(steps, STEPS_COLUMNS, "step",                                                            \
		"a step on a device: the first 256 of each, of over 64 devices fewer")             \
	OPS(ops, OPS_COLUMNS, "key", "an HLO op of a program, over all devices and steady steps")  \
	X(families, FAMILIES_COLUMNS, "family", "ops alike but for layer number")                  \
	X(edges, EDGES_COLUMNS, "key", "what one op hands to another")                             \
	X(collectives, COLLECTIVES_COLUMNS, "key", "a collective op")                              \
	X(memory, MEMORY_COLUMNS, "device", "a chip's memory")                                     \
	X(buffers, BUFFERS_COLUMNS, "key", "a buffer alive at the program's peak")                 \
	X(live, LIVE_COLUMNS, "source_file",                                                       \
		"what a snapshot (memory.prof) saw alive on a device, by line of Python")          \
	X(gaps, GAPS_COLUMNS, "key",                                                               \
		"an idle gap of at least 0.1% of a step; the largest 100 a device in the steps "   \
		"and 100 outside them, 12800 in all")                                              \
	X(waits, WAITS_COLUMNS, "key",                                                             \
		"in the steps and outside them, two rows of one key: how long the device that "    \
		"waits most waits for the host")                                                   \
	X(transfers, TRANSFERS_COLUMNS, "direction", "host-device copies of one direction")        \
	X(compiles, COMPILES_COLUMNS, "module", "a compilation seen in the window")                \
	X(files, FILES_COLUMNS, "file", "a file that was read")                                    \
	X(quality, QUALITY_COLUMNS, "name", "one check of the data itself")                        \
	X(deltas, DELTAS_COLUMNS, "key", "a metric against the baseline")                          \
	X(changes, CHANGES_COLUMNS, "key", "an op that changed against the first baseline")
#define TABLES(X) TABLES_OF(X, X)

#endif
