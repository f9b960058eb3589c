"""A scenario's program: from TOML ops to an HLO module and a list of timed ops."""

import hashlib
import re

import hlo
from buffers import Assignment, hlo_proto
from expr import Builder, add_region
from hostile import text
from shapes import Shape

UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
FUSION_KINDS = {"loop": "kLoop", "input": "kInput", "output": "kOutput", "custom": "kCustom"}
UNTIMED = hlo.FREE


def picoseconds(value):
    """'1.43 ms' -> ps; a bare number is ps already."""
    if isinstance(value, (int, float)):
        return int(value)
    number, unit = re.fullmatch(r"([\d.]+)\s*(ps|ns|us|ms|s)", value.strip()).groups()
    return round(float(number) * UNITS[unit])


def fingerprint(*parts):
    """A stable 64-bit id made from text, as program ids are."""
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "little")


def numbered(spec, number):
    """An op's spec for one copy of an unrolled body."""
    out = dict(spec, scope=spec.get("scope", "").replace("while/body", "layer_{i}"))
    base, _, last = out.get("hlo_name", out["name"]).rpartition(".")
    base = base if last.isdigit() else out.get("hlo_name", out["name"])
    out["hlo_name"] = f"{base}.{1000 * (int(last) if last.isdigit() else 0) + number + 100}"
    out["scope"] = out["scope"].replace("{i}", str(number))
    return out


class TimedOp:
    """One event per execution: an instruction, how long it takes, what it waits for."""

    def __init__(self, instruction, duration_ps, spec):
        self.instruction, self.duration_ps, self.spec = instruction, duration_ps, spec
        self.opcode = instruction.opcode
        self.start_of = []  # for a done op: the starts it may wait for, as TimedOps
        self.inner = instruction  # of a fusion that hides a collective: that one
        self.body, self.trips = [], 0
        self.on = None  # a conditional: the devices that run its body
        self.megacore = self.whole = False  # a megacore fusion, a part of one
        self.slices = spec["slices"] if self.opcode == "recv" else 0
        self.symbol = 0
        self.uid = 0

    @property
    def collective(self):
        return hlo.base_opcode(self.inner.opcode) in hlo.COLLECTIVES

    @property
    def starts(self):
        if self.inner is not self.instruction:
            return True
        return self.opcode.endswith("-start") or self.opcode in hlo.CHANNELS


class Program:
    """One compiled program of the scenario.  chip gives peaks for `roofline`."""

    def __init__(self, spec, chip, devices, stacks, source_root, copy=0):
        self.spec, self.chip, self.devices, self.copy = spec, chip, devices, copy
        self.tpu = chip["platform"] == "tpu"
        self.stacks, self.root = stacks, source_root
        self.module_name = text(spec["module"])
        self.frames, self.counts, self.channel = hlo.Frames(), {}, 0
        self.id = (
            fingerprint(spec["module"], copy, spec.get("salt", ""))
            if self.tpu
            else 2 * copy + spec.get("id", 5)
        )
        self.ops, self.env = [], {}
        self.flights = {}  # what a loop carries of a start -> the starts it may be
        self.entry = hlo.Computation(spec.get("entry", "main.1_spmd"))
        self._params()
        self._build(spec["op"], self.entry, self.env, self.ops)
        self._finish()

    # names, metadata ----------------------------------------------------------

    def name(self, base):
        """`add`, `add.1`, ... unique in the module."""
        count = self.counts.get(base, 0)
        self.counts[base] = count + 1
        return f"{base}.{count}" if count else base

    def stack(self, spec):
        """[(file, line, column, function)], innermost first, of an op's `at`."""
        at = spec.get("at")
        entries = self.stacks[at] if at in self.stacks else [at] if at else []
        out = []
        for entry in entries:
            where, _, function = entry.partition(" ")
            path, line, column = (where.split(":") + ["1"])[:3]
            path = text(path) if path.startswith("/") else f"{self.root}/{text(path)}"
            out.append((path, int(line), int(column), text(function or "<module>")))
        return out

    def meta(self, spec):
        stack = self.stack(spec)
        meta = {
            "op_name": text(spec.get("scope", "")),
            "frame": self.frames.stack(stack) if stack else 0,
        }
        if stack and not self.spec.get("frames_only"):
            meta["source"] = stack[0][:2]
        return meta

    # building -------------------------------------------------------------------

    def shape(self, value):
        return Shape.parse(value, self.tpu)

    def _params(self):
        for number, spec in enumerate(self.spec["param"]):
            param = hlo.Instruction(
                self.name("param"),
                "parameter",
                self.shape(spec["shape"]),
                number=number,
                op_name=text(spec.get("arg", spec["name"])),
            )
            self.env[spec["name"]] = self.entry.add(param)

    def _build(self, specs, computation, env, ops):
        for spec in specs:
            kind = spec["kind"]
            maker = getattr(self, "_make_" + kind.replace("-", "_"), None)
            if maker is None:
                if hlo.base_opcode(kind) in hlo.COLLECTIVES:
                    maker = self._collective
                else:
                    raise ValueError(f"{spec.get('name')}: unknown kind {kind!r}")
            try:
                maker(spec, computation, env, ops)
            except (KeyError, ValueError) as error:
                raise ValueError(f"op {spec.get('name')!r}: {error!r}") from error

    def _emit(self, spec, computation, env, ops, opcode, shape, operands, **attrs):
        """Add an instruction to the program and, if it takes time, an op."""
        name = text(spec.get("hlo_name", spec["name"]))
        i = hlo.Instruction(name, opcode, shape, operands, **{**self.meta(spec), **attrs})
        computation.add(i)
        env[spec["name"]] = i
        if opcode not in UNTIMED:
            op = TimedOp(i, self.duration(spec, i), spec)
            ops.append(op)
            return op
        return None

    def duration(self, spec, instruction):
        """`time` as it stands, or `roofline` times the op's ideal time."""
        if instruction.opcode in ("while", "conditional"):
            return 0
        if "time" in spec:
            return picoseconds(spec["time"])
        return round(spec.get("roofline", 1.0) * self.ideal_ps(instruction))

    def ideal_ps(self, instruction):
        """max(FLOPs / peak, HBM bytes / bandwidth)."""
        cores = self.chip.get("cores", 1)
        work = hlo.flops(instruction) / cores if self._has_matmul(instruction) else 0
        size = hlo.hbm_bytes(instruction, not self.tpu) / cores
        return 1e12 * max(work / self.chip["flops"], size / self.chip["hbm"])

    def _has_matmul(self, i):
        return i.opcode in ("convolution", "dot", "custom-call") or any(
            self._has_matmul(j) for c in i.called for j in c.instructions
        )

    def _operands(self, spec, env):
        return [env[n] for n in spec.get("in", [])]

    def _fused(self, spec, env, lines=()):
        """A fused computation with a parameter per operand, and its builder."""
        fused = hlo.Computation(self.name("fused_computation"), fusion=True)
        local = {}
        for number, name in enumerate(spec["in"]):
            local[name] = fused.add(
                hlo.Instruction(
                    self.name("param_" + str(number)), "parameter", env[name].shape, number=number
                )
            )
        builder = Builder(fused, local, self.name, self.tpu)
        builder.meta = self.meta(spec)
        return fused, builder

    def _make_fusion(self, spec, computation, env, ops):
        fused, builder = self._fused(spec, env)
        for line in spec["body"]:
            builder.line(line)
        self._fusion(spec, computation, env, ops, fused, spec.get("fusion", "loop"))

    def _fusion(self, spec, computation, env, ops, fused, kind):
        shape = fused.root.shape
        attrs = {"fusion_kind": FUSION_KINDS[kind], "called": [fused]}
        if "backend_config" in spec:
            attrs["backend_config"] = spec["backend_config"]
        self._emit(spec, computation, env, ops, "fusion", shape, self._operands(spec, env), **attrs)
        for index, name in enumerate(spec.get("results", [])):
            self._element(name, env[spec["name"]], index, computation, env)

    def _element(self, name, value, index, computation, env):
        i = hlo.Instruction(
            self.name("get-tuple-element"),
            "get-tuple-element",
            value.shape.parts[index],
            [value],
            tuple_index=index,
        )
        env[name] = computation.add(i)

    def _make_matmul(self, spec, computation, env, ops):
        """On a TPU a convolution without window in an output fusion."""
        fused, builder = self._fused(spec, env)
        a, b = (self._flat2d(builder, builder.env[n]) for n in spec["in"][:2])
        labels = spec.get("labels", "bf_io->bf")
        conv = hlo.Instruction(
            self.name("convolution"),
            "convolution",
            a.shape,
            [a, b],
            dim_labels=labels,
            **self.meta(spec),
        )
        m, n, _ = hlo.matmul_sizes(conv)
        conv.shape = a.shape.like(dims=(m, n), dtype=spec.get("dtype", a.shape.dtype), space=0)
        builder.env["dot"] = fused.add(conv)
        for line in spec.get("epilogue", []):
            builder.line(line)
        self._fusion(spec, computation, env, ops, fused, "output")

    @staticmethod
    def _flat2d(builder, value):
        dims = value.shape.dims
        if len(dims) == 2:
            return value
        flat = 1
        for d in dims[:-1]:
            flat *= d
        return builder.emit("bitcast", value.shape.like(dims=(flat, dims[-1])), [value])

    def _make_cublas_gemm(self, spec, computation, env, ops):
        """A cuBLAS custom call [M,K] x [K,N]; the result comes with a workspace."""
        a, b = self._operands(spec, env)
        (m, k), n = a.shape.dims, b.shape.dims[1]
        out = a.shape.like(dims=(m, n))
        shape = Shape.tuple([out, self.shape(f"s8[{spec.get('workspace', 4194304)}]")])
        config = (
            '{"operation_queue_id":"0","wait_on_operation_queues":[],"gemm_backend_config":{'
            '"alpha_real":1,"beta":0,"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],'
            '"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],'
            '"rhs_batch_dimensions":[]},'
            '"alpha_imag":0,"precision_config":{"operand_precision":["DEFAULT","DEFAULT"],'
            '"algorithm":"ALG_UNSET"},"epilogue":"DEFAULT","selected_algorithm":"'
            f'{spec.get("algorithm", 0)}"}}}}'
        )
        raw = dict(spec, name=spec["name"] + ".call", hlo_name=spec.get("hlo_name", spec["name"]))
        self._emit(
            raw,
            computation,
            env,
            ops,
            "custom-call",
            shape,
            [a, b],
            target="__cublas$lt$matmul",
            backend_config=config,
            flops=2 * m * n * k,
        )
        self._element(spec["name"], env[raw["name"]], 0, computation, env)

    def _make_custom_call(self, spec, computation, env, ops):
        self._emit(
            spec,
            computation,
            env,
            ops,
            "custom-call",
            self.shape(spec["out"]),
            self._operands(spec, env),
            target=text(spec["target"]),
            flops=spec.get("flops", 0),
            backend_config=text(spec.get("backend_config", "")),
        )

    def _make_op(self, spec, computation, env, ops):
        """Any opcode with a result shape given: copy, transpose, broadcast, ..."""
        self._emit(
            spec,
            computation,
            env,
            ops,
            spec["opcode"],
            self.shape(spec["out"]),
            self._operands(spec, env),
            **spec.get("attrs", {}),
        )

    def _make_copy(self, spec, computation, env, ops):
        self._make_op(dict(spec, opcode="copy"), computation, env, ops)

    def _make_bitcast(self, spec, computation, env, ops):
        self._make_op(dict(spec, opcode="bitcast"), computation, env, ops)

    def _make_tuple(self, spec, computation, env, ops):
        values = self._operands(spec, env)
        self._emit(
            spec, computation, env, ops, "tuple", Shape.tuple(v.shape for v in values), values
        )

    def _make_copy_start(self, spec, computation, env, ops):
        """HBM <-> VMEM (S(1)) or host (S(5)): `space` is where the copy goes."""
        (source,) = self._operands(spec, env)
        target = source.shape.like(space=spec["space"])
        shape = Shape.tuple([target, source.shape, self.shape("u32[]{:S(2)}")])
        self._emit(spec, computation, env, ops, "copy-start", shape, [source])

    def _make_hidden_start(self, spec, computation, env, ops):
        """A collective (`collective`) that a custom fusion begins, and has no name of its own."""
        spec = dict(spec, hlo_name=spec["hlo_name"].replace(spec["collective"], "async-collective"))
        fused, _ = self._fused(spec, env)
        (source,) = fused.instructions
        inner = dict(spec, kind=spec["collective"], name="inner", hlo_name=self.name("inner"))
        inner["in"] = ["source"]
        self._collective(inner, fused, {"source": source}, [])
        found = fused.root
        shape = Shape.tuple([source.shape, found.shape])
        root = hlo.Instruction(
            self.name("custom-call"),
            "custom-call",
            shape,
            [source, found],
            target="AsyncCollectiveStart",
        )
        fused.add(root)
        self._fusion(spec, computation, env, ops, fused, "custom")
        next(o for o in ops if o.instruction is env[spec["name"]]).inner = found

    def _make_hidden_done(self, spec, computation, env, ops):
        start = env[spec["of"]]
        for index in (0, 1):
            self._element(f"{spec['name']}.{index}", start, index, computation, env)
        name = start.name.replace("-start", "-done")
        spec = dict(spec, time=0, hlo_name=name)
        spec["in"] = [spec["name"] + ".0", spec["name"] + ".1"]
        fused, _ = self._fused(spec, env)
        operands = list(fused.instructions)
        done = hlo.Instruction(
            self.name("custom-call"),
            "custom-call",
            operands[1].shape,
            operands,
            target="AsyncCollectiveDone",
        )
        fused.add(done)
        self._fusion(spec, computation, env, ops, fused, "custom")
        op = next(o for o in ops if o.instruction is env[spec["name"]])
        op.start_of = [next(o for o in ops if o.instruction is start)]

    def _make_slices_start(self, spec, computation, env, ops):
        """A collective between slices: a send and a recv of the runtime, from one token."""
        (source,) = self._operands(spec, env)
        slices, size = spec["slices"], self.devices // spec["slices"]
        token = computation.add(
            hlo.Instruction(self.name("after-all"), "after-all", self.shape("token[]"))
        )
        parts = [self.shape("u32[]{:S(2)}"), token.shape]
        frontend = {
            "_xla_host_transfer_handler_name": "xla_megascale_runtime",
            "_xla_host_transfer_rendezvous": f"{spec['transfer'].lower()}.{self.channel}",
            "_xla_megascale_target": f"{{{','.join(map(str, range(1, slices + 1)))}}}x{{0:{size - 1}}}",
            "_xla_megascale_transfer_type": spec["transfer"],
        }
        for opcode, operands in (("send", [source, token]), ("recv", [token])):
            self.channel += 1
            name = self.name(opcode)
            half = dict(spec, name=f"{spec['name']}.{opcode}", hlo_name=name)
            self._emit(
                half,
                computation,
                env,
                ops,
                opcode,
                Shape.tuple([source.shape, *parts]),
                operands,
                channel=self.channel,
                host_transfer=True,
                frontend=frontend,
            )

    def _make_slices_done(self, spec, computation, env, ops):
        """Waits for both halves of `of`, takes what was received."""
        for opcode in ("recv", "send"):
            start = env[f"{spec['of']}.{opcode}"]
            data, _, token = start.shape.parts
            shape = Shape.tuple([data, token]) if opcode == "recv" else token
            begun = next(o for o in ops if o.instruction is start)
            half = dict(begun.spec, name=spec["name"] + "." + opcode, time=0)
            half["hlo_name"] = start.name.replace(opcode, opcode + "-done", 1)
            op = self._emit(
                half,
                computation,
                env,
                ops,
                opcode + "-done",
                shape,
                [start],
                channel=start.attrs["channel"],
                host_transfer=True,
                frontend=start.attrs["frontend"],
            )
            op.start_of = [begun]
        self._element(spec["name"], env[spec["name"] + ".recv"], 0, computation, env)

    def _make_done(self, spec, computation, env, ops):
        """Waits for the start named in `of`, or for what a loop carries of it; takes its result."""
        value = env[spec["of"]]
        begun = self._begun(value, ops)
        opcode = begun[0].opcode.replace("-start", "-done")
        parts = value.shape.parts
        shape = value.shape if parts is None else parts[0] if opcode == "copy-done" else parts[1]
        about = {k: v for k, v in begun[0].spec.items() if k in ("scope", "at")}
        spec = {"hlo_name": self.name(opcode), **about, **spec, "time": 0}
        self._emit(spec, computation, env, ops, opcode, shape, [value]).start_of = begun

    def _begun(self, value, ops):
        """The starts whose result `value` may be."""
        return self.flights.get(value) or [next(o for o in ops if o.instruction is value)]

    def _in_flight(self, value, ops):
        return value in self.flights or any(o.instruction is value and o.starts for o in ops)

    def _collective(self, spec, computation, env, ops):
        base = hlo.base_opcode(spec["kind"])
        source, *_ = operands = self._operands(spec, env)
        attrs = {}
        if base == "collective-permute":
            attrs["pairs"] = spec.get("pairs") or [
                [d, (d + 1) % self.devices] for d in range(self.devices)
            ]
        else:
            attrs["groups"] = hlo.Groups(
                spec.get("groups", f"[1,{self.devices}]<=[{self.devices}]"),
                spec.get("groups_field"),
            )
        if spec.get("channel", True):
            self.channel += 1
            attrs.update(channel=self.channel, global_ids=base != "collective-permute")
        size = len(attrs["groups"].lists(self.devices)[0]) if "groups" in attrs else 1
        shape = self._collective_shape(base, spec, source.shape, size, attrs)
        if base in ("all-reduce", "reduce-scatter"):
            attrs["called"] = [add_region(self.name, source.shape.dtype, self.tpu)]
        if spec["kind"].endswith("-start") and base != "all-reduce":
            extra = (
                [self.shape("u32[]{:S(2)}")] * 2
                if base == "collective-permute" and self.tpu
                else []
            )
            shape = Shape.tuple([source.shape, shape] + extra)
        if "backend_config" in spec:
            attrs["backend_config"] = spec["backend_config"]
        self._emit(spec, computation, env, ops, spec["kind"], shape, operands, **attrs)

    @staticmethod
    def _collective_shape(base, spec, shape, size, attrs):
        dims = list(shape.dims)
        if base in ("all-gather", "reduce-scatter", "all-to-all"):
            dim = spec.get("dim", 0)
            attrs["dimensions"] = [dim]
            if base == "all-gather":
                dims[dim] *= size
            elif base == "reduce-scatter":
                dims[dim] //= size
        return shape.like(dims=dims, space=spec.get("space", shape.space))

    def _make_while(self, spec, computation, env, ops):
        """A counted loop.  `carry` names what goes round, `yield` what replaces it.

        Inside, carried names mean the current iteration's value; after the loop
        they mean the final one.  The counter is element 0.
        """
        zero = computation.add(
            hlo.Instruction(self.name("constant"), "constant", self.shape("s32[]"), value=0)
        )
        carried = [zero] + [env[n] for n in spec["carry"]]
        shape = Shape.tuple(v.shape for v in carried)
        packed = computation.add(hlo.Instruction(self.name("tuple"), "tuple", shape, carried))
        flights = {
            n: list(self._begun(env[n], ops))
            for n in spec["carry"]
            if self._in_flight(env[n], ops)
        }
        body, body_ops = self._while_body(spec, shape, flights)
        config = f'{{"known_trip_count":{{"n":"{spec["trips"]}"}}}}'
        op = self._emit(
            spec,
            computation,
            env,
            ops,
            "while",
            shape,
            [packed],
            called=[body, self._while_condition(spec, shape)],
            backend_config=config,
        )
        op.body, op.trips = body_ops, spec["trips"]
        for index, name in enumerate(spec["carry"]):
            self._element(name, env[spec["name"]], index + 1, computation, env)
        self.flights.update({env[n]: begun for n, begun in flights.items()})

    def _make_unrolled(self, spec, computation, env, ops):
        """The same as a while loop, written out: `trips` copies of its body.

        `i` is a constant, and {i} in a name or scope is the copy's number.
        """
        for trip in range(spec["trips"]):
            number = hlo.Instruction(
                self.name("constant"), "constant", self.shape("s32[]"), value=trip
            )
            env["i"] = computation.add(number)
            copies = [numbered(nested, trip) for nested in spec["op"]]
            self._build(copies, computation, env, ops)
            renamed = spec.get("yield", {})
            env.update({n: env[renamed[n]] for n in spec.get("carry", []) if n in renamed})

    def _make_conditional(self, spec, computation, env, ops):
        """Ops that only the devices in `on` run; the others take the empty branch.

        `carry` goes in, `yield` says what comes out instead.
        """
        carried = [env[n] for n in spec["carry"]]
        shape = Shape.tuple(v.shape for v in carried)
        packed = computation.add(hlo.Instruction(self.name("tuple"), "tuple", shape, carried))
        branches, body_ops = [], []
        for taken in (False, True):
            branch, local = hlo.Computation(self.name("branch")), {}
            param = branch.add(
                hlo.Instruction(self.name("arg_tuple"), "parameter", shape, number=0)
            )
            for index, name in enumerate(spec["carry"]):
                self._element(name, param, index, branch, local)
            if taken:
                self._build(spec["op"], branch, local, body_ops)
            renamed = spec.get("yield", {}) if taken else {}
            values = [local[renamed.get(n, n)] for n in spec["carry"]]
            branch.add(hlo.Instruction(self.name("tuple"), "tuple", shape, values))
            branches.append(branch)
        operands = [env[spec["in"][0]], packed, packed]
        op = self._emit(
            spec, computation, env, ops, "conditional", shape, operands, called=branches
        )
        op.body, op.on = body_ops, spec["on"]
        for index, name in enumerate(spec["carry"]):
            self._element(name, env[spec["name"]], index, computation, env)

    def _make_megacore(self, spec, computation, env, ops):
        """A fusion whose parts run side by side, one on each core of a chip."""
        body_ops = []
        self._build(spec["op"], computation, env, body_ops)
        for op in body_ops:
            op.whole = True
        op = TimedOp(
            hlo.Instruction(
                text(spec.get("hlo_name", spec["name"])),
                "fusion",
                Shape.tuple(o.instruction.shape for o in body_ops),
                [i for o in body_ops for i in o.instruction.operands],
                called=[c for o in body_ops for c in o.instruction.called],
                fusion_kind="kCustom",
                **self.meta(spec),
            ),
            0,
            spec,
        )
        op.body, op.megacore = body_ops, True
        ops.append(op)

    def _while_body(self, spec, shape, flights):
        """`flights` are carried: what the last trip began is waited for in the next one."""
        body, local, body_ops = hlo.Computation(self.name("body")), {}, []
        param = body.add(hlo.Instruction(self.name("wide.param"), "parameter", shape, number=0))
        for index, name in enumerate(["i"] + spec["carry"]):
            self._element(name, param, index, body, local)
        self.flights.update({local[n]: begun for n, begun in flights.items()})
        self._build(spec["op"], body, local, body_ops)
        for name, begun in flights.items():
            begun += self._begun(local[spec["yield"][name]], body_ops)
        one = body.add(hlo.Instruction(self.name("constant"), "constant", shape.parts[0], value=1))
        step = body.add(hlo.Instruction(self.name("add"), "add", shape.parts[0], [local["i"], one]))
        values = [step] + [local[spec.get("yield", {}).get(n, n)] for n in spec["carry"]]
        body.add(hlo.Instruction(self.name("tuple"), "tuple", shape, values))
        return body, body_ops

    def _while_condition(self, spec, shape):
        cond, local = hlo.Computation(self.name("cond")), {}
        param = cond.add(hlo.Instruction(self.name("cond.param"), "parameter", shape, number=0))
        self._element("i", param, 0, cond, local)
        limit = cond.add(
            hlo.Instruction(self.name("constant"), "constant", shape.parts[0], value=spec["trips"])
        )
        cond.add(
            hlo.Instruction(
                self.name("compare"),
                "compare",
                self.shape("pred[]"),
                [local["i"], limit],
                direction="LT",
            )
        )
        return cond

    # the whole ------------------------------------------------------------------

    def _finish(self):
        """The root tuple, donation, ids, buffers; symbols number the ops."""
        outputs = self.spec["return"]
        values = [self.env[n] for n in outputs]
        root = hlo.Instruction(
            self.name("tuple"), "tuple", Shape.tuple(v.shape for v in values), values
        )
        self.entry.add(root)
        self.module = hlo.Module(
            self.module_name,
            self.entry,
            self.spec.get("module_id", 12) + self.copy,
            self.devices,
            self.tpu,
            self.spec.get("wide_ids", False),
            self.frames,
        )
        if not self.tpu:
            self.module.id = self.id
        for number, spec in enumerate(self.spec["param"]):
            if spec.get("donate"):
                self.module.aliases.append((outputs.index(spec["donate"]), number))
        self._unique()
        self.assignment = Assignment(self.module)
        for symbol, op in enumerate(self.all_ops(), 1):
            op.symbol = symbol

    def _unique(self):
        """XLA refuses a module that has two instructions of one name."""
        seen = set()
        for computation in self.module.computations:
            for instruction in computation.instructions:
                if instruction.name in seen:
                    raise ValueError(f"two instructions are called {instruction.name!r}")
                seen.add(instruction.name)

    def all_ops(self, ops=None):
        for op in self.ops if ops is None else ops:
            yield op
            yield from self.all_ops(op.body)

    @property
    def full_name(self):
        """`jit_f(1219...)`: how modules are called in profiles."""
        return f"{self.module_name}({self.id})"

    def hlo_proto(self):
        return hlo_proto(self.module, self.assignment)
