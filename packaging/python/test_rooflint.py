"""Tests of the Python package, as installed from a wheel: TOP names the checkout."""

import json
import os
import socket
import subprocess
import sys

import pytest
import rooflint

TOP = os.environ["TOP"]
DEMO = os.path.join(TOP, "tests", "profiles", "demo")

pytest_plugins = ["pytester"]


def test_program_is_the_wheels():
    assert os.path.dirname(rooflint.binary()) == os.path.dirname(sys.executable)
    said = subprocess.run([sys.executable, "-m", "rooflint", "--version"], check=True,
                          stdout=subprocess.PIPE, encoding="utf-8").stdout
    with open(os.path.join(TOP, "VERSION"), encoding="utf-8") as f:
        assert said.split("\n")[0] == "rooflint " + f.read().strip()


def test_check_returns_what_report_json_holds(tmp_path):
    result = rooflint.check(DEMO, html=tmp_path / "report.html")
    path = tmp_path / "report.json"
    subprocess.run([rooflint.binary(), "check", DEMO, "--json", path], stdout=subprocess.DEVNULL,
                   check=False)
    told = json.loads(path.read_text())
    assert (result.status, result.ok, result.report.verdict) == (1, False, "fail")
    assert result.text.startswith("FAIL  ")
    assert result.document.tool_version == told["tool_version"]
    [report] = told["reports"]
    assert [f.rule for f in result.findings] == [f["rule"] for f in report["findings"]]
    assert [f.gain_s for f in result.findings] == [f["gain_s"] for f in report["findings"]]
    assert result.report.facts.step_time_s == report["facts"]["step_time_s"] > 0
    assert [r.name for r in result.report.results] == [r["name"] for r in report["results"]]
    table = result.report.tables["ops"]
    assert len(list(table)) == table.rows == report["tables"]["ops"]["rows"] > 0
    assert next(iter(table))["name"] == report["tables"]["ops"]["columns"]["name"][0]
    assert (tmp_path / "report.html").stat().st_size > 10000


def test_arguments_reach_the_program():
    # A run compared with itself is refused, so the baseline arrived.
    with_baseline = rooflint.check(DEMO, baseline=[DEMO], fail_on="never",
                                   options=["--inconclusive=pass"])
    assert with_baseline.text != rooflint.check(DEMO).text
    assert rooflint.check(DEMO, fail_on="never", options=["--inconclusive=pass"]).ok
    # `set` and `rules`: what the program refuses tells what it was given.
    with pytest.raises(rooflint.Error, match="no-such-rule") as caught:
        rooflint.check(DEMO, set={"no-such-rule.limit": 0.5})
    assert caught.value.status == 2
    with pytest.raises(rooflint.Error, match="nowhere.yaml"):
        rooflint.check(DEMO, rules="nowhere.yaml")


def test_unreadable_profile_is_in_the_report(tmp_path):
    result = rooflint.check(tmp_path)
    assert result.status == 3
    assert result.report.error and str(tmp_path) in result.report.error.text


def test_fixture_fails_with_the_finding(pytester):
    pytester.makepyfile("""
        def test_demo(rooflint_check):
            rooflint_check(%r)
    """ % DEMO)
    ran = pytester.runpytest("--junit-xml=junit.xml")
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*FAIL  *demo*", "*fail[[]oversized-all-gather]*"])
    assert 'rooflint:demo" value="fail"' in (pytester.path / "junit.xml").read_text()


def test_fixture_finds_the_rules_above_the_test(pytester):
    (pytester.path / "rooflint.yaml").write_text("version: 1\nextends: nothing-of-that-name\n")
    pytester.mkdir("below").joinpath("test_it.py").write_text(
        "def test_demo(rooflint_check):\n    rooflint_check(%r)\n" % DEMO)
    ran = pytester.runpytest("below")
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*nothing-of-that-name*"])


# ---- with jax -------------------------------------------------------------------------------------


@pytest.fixture
def train_step():
    jax = pytest.importorskip("jax")

    @jax.jit
    def step(weights, batch):
        def loss(w):
            return jax.numpy.sum(jax.numpy.tanh(batch @ w) ** 2)
        return weights - 1e-3 * jax.grad(loss)(weights)

    return step, jax.numpy.ones((512, 512)), jax.numpy.ones((256, 512))


def test_capture_is_accepted_by_every_gate(tmp_path, train_step):
    step, weights, batch = train_step
    with rooflint.capture(tmp_path, steps=10, warmup=2, mesh={"data": 1}, global_batch=256,
                          model={"name": "tiny", "params": 512 * 512, "attention": "none"},
                          commit="0123456789abcdef", workload="tiny") as steps:
        ran = []
        for i in steps:
            weights = step(weights, batch)
            ran.append(i)
    assert ran == list(range(-2, 10))
    result = rooflint.check(tmp_path, options=["--expect-commit", "0123456789abcdef",
                                               "--max-age", "1h"])
    facts = result.report.facts
    assert (facts.name, facts.mesh, facts.global_batch, facts.model, facts.commit_id) == \
        ("tiny", "data=1", 256, "tiny", "0123456789abcdef")
    assert facts.steps >= 8 and facts.jax_version and facts.jaxlib_version
    assert facts.phase == "train"
    # A CPU has no peaks here; with those of a chip in their stead no gate is shut.
    result = rooflint.check(tmp_path, hardware="a10")
    assert [(r.name, r.reason) for r in result.report.results
            if r.gate and r.verdict in ("fail", "inconclusive")] == []


def test_capture_says_when_it_was_cut_short(tmp_path, train_step):
    step, weights, batch = train_step
    with pytest.raises(RuntimeError, match="did not run to its end"):
        with rooflint.capture(tmp_path, steps=5) as steps:
            for i in steps:
                step(weights, batch)
                if i == 2:
                    break
    with pytest.raises(ValueError):
        rooflint.capture(tmp_path, steps=0)


def test_capture_leaves_no_recording_behind_an_error(tmp_path, train_step):
    step, weights, batch = train_step
    with pytest.raises(KeyError):
        with rooflint.capture(tmp_path / "a", steps=5) as steps:
            for i in steps:
                step(weights, batch)
                if i == 1:
                    raise KeyError("of the job")
    with rooflint.capture(tmp_path / "b", steps=3) as steps:  # a second recording can begin
        for _ in steps:
            step(weights, batch)
    assert list((tmp_path / "b").glob("plugins/profile/*/*.xplane.pb"))


PROCESS = """
import sys
import jax
jax.config.update("jax_platforms", "cpu")
jax.distributed.initialize("127.0.0.1:" + sys.argv[1], 2, int(sys.argv[2]))
import numpy as np
import rooflint
mesh = jax.sharding.Mesh(np.array(jax.devices()), ("data",))
whole = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
ones = lambda shape, sharding: jax.make_array_from_callback(
    shape, sharding, lambda at: np.ones(shape, np.float32)[at])
step = jax.jit(lambda w, x: w - 1e-3 * jax.grad(lambda w: ((x @ w) ** 2).mean())(w))
weights, batch = ones((256, 256), whole), ones((256, 256), split)
with rooflint.capture(sys.argv[3], steps=6) as steps:
    for _ in steps:
        weights = step(weights, batch)
"""


def test_capture_of_two_processes_on_one_machine(tmp_path):
    pytest.importorskip("jax")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    both = [subprocess.Popen([sys.executable, "-c", PROCESS, port, str(i), str(tmp_path)])
            for i in range(2)]
    assert [p.wait(timeout=300) for p in both] == [0, 0]
    assert len(list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))) == 2
    facts = rooflint.check(tmp_path).report.facts
    assert (facts.hosts, facts.hosts_expected, facts.devices) == (2, 2, 2)
    assert not list(tmp_path.glob(".process*"))


def test_capture_of_flax_and_optax(tmp_path):
    jax, linen, optax = map(pytest.importorskip, ("jax", "flax.linen", "optax"))
    model = linen.Sequential([linen.Dense(512), linen.relu, linen.Dense(256)])
    batch = jax.numpy.ones((128, 256))
    weights = model.init(jax.random.key(0), batch)
    optimizer = optax.adam(1e-3)
    state = optimizer.init(weights)

    @jax.jit
    def step(weights, state):
        loss, gradient = jax.value_and_grad(
            lambda w: jax.numpy.mean((model.apply(w, batch) - batch) ** 2))(weights)
        updates, state = optimizer.update(gradient, state)
        return optax.apply_updates(weights, updates), state, loss

    with rooflint.capture(tmp_path, steps=8) as steps:
        for _ in steps:
            weights, state, _ = step(weights, state)
    result = rooflint.check(tmp_path, hardware="a10")
    assert result.report.facts.steps >= 6
    assert [(r.name, r.reason) for r in result.report.results
            if r.gate and r.verdict in ("fail", "inconclusive")] == []
    kinds = set(result.report.tables["families"].columns["kind"])
    assert "matmul" in kinds
