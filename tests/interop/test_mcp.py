"""rooflint mcp, asked by the protocol's own client, and by a client that means harm."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import packages  # noqa: E402

TOP = packages.TOP
ROOFLINT = os.path.abspath(os.environ.get("ROOFLINT", os.path.join(TOP, "build", "rooflint")))
CARRIED = os.path.join(TOP, "tests", "profiles")
ANSWER_BYTES = 33 * 1024


CLIENT = """
import asyncio, json, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def talk():
    server = StdioServerParameters(command=sys.argv[1], args=["mcp", sys.argv[2]])
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write) as session:
            hello = (await session.initialize()).model_dump(by_alias=True)["serverInfo"]
            tools = (await session.list_tools()).model_dump(by_alias=True)["tools"]
            answers = []
            for name, arguments in json.loads(sys.argv[3]):
                said = (await session.call_tool(name, arguments)).model_dump(by_alias=True)
                [content] = said["content"]
                answers.append((bool(said["isError"]), content["text"]))
            print(json.dumps([[hello["name"], hello["version"]],
                              {t["name"]: t["inputSchema"] for t in tools}, answers]))

asyncio.run(talk())
"""


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.root = os.path.join(self.dir, "runs")
        shutil.copytree(os.path.join(CARRIED, "demo"), os.path.join(self.root, "demo"))
        self.secret = os.path.join(self.dir, "secret.yaml")
        with open(self.secret, "w", encoding="utf-8") as f:
            f.write("password: hunter2\n")


class Client(Case):
    """As an agent's program does it."""

    def ask(self, *calls):
        """Its name and version, its tools, and for each call whether it failed and its text."""
        packages.need("mcp")
        done = subprocess.run([packages.PYTHON, "-c", CLIENT, ROOFLINT, self.root, json.dumps(calls)],
                              capture_output=True, text=True, check=False, cwd=self.dir, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_tools_answer_what_the_commands_say(self):
        demo, night = os.path.join(self.root, "demo"), os.path.join(self.root, "night.json")
        shutil.copy(os.path.join(TOP, "tests", "golden", "diff", "night-0.json"), night)
        sql = "SELECT name, count FROM ops ORDER BY name LIMIT 3"
        same = [
            ("check", {"profile": "demo"}, ["check", "-v", demo]),
            ("query", {"profile": "demo", "sql": sql}, ["query", "--format=csv", demo, sql]),
            ("diff", {"base": "night.json", "head": demo}, ["diff", night, demo]),
            ("explain", {"rule": "copy-share"}, ["explain", "copy-share"]),
            ("tables", {"table": "gaps"}, ["tables", "gaps"]),
            ("hlo", {"what": "bf16[32,1024,8192]", "hardware": "v5e"},
             ["hlo", "--hardware", "v5e", "bf16[32,1024,8192]"]),
        ]
        hello, tools, answers = self.ask(*[(name, arguments) for name, arguments, _ in same])
        for (name, _, command), (is_error, text) in zip(same, answers):
            said = subprocess.run([ROOFLINT, *command], capture_output=True, text=True, check=False,
                                  cwd=self.dir)
            self.assertEqual((is_error, text), (False, said.stdout + said.stderr), name)
        with open(os.path.join(TOP, "VERSION"), encoding="utf-8") as f:
            self.assertEqual(hello, ["rooflint", f.read().strip()])
        self.assertEqual(list(tools),
                         ["check", "top", "query", "diff", "explain", "tables", "hlo"])

    def test_every_list_of_top(self):
        _, tools, _ = self.ask()
        lists = tools["top"]["properties"]["list"]["enum"]
        _, _, answers = self.ask(*[("top", {"profile": "demo", "list": name, "rows": 2})
                                   for name in lists])
        for name, (is_error, text) in zip(lists, answers):
            rows = text.splitlines()
            self.assertFalse(is_error, text)
            self.assertIn(",", rows[0], name)
            self.assertTrue(1 <= len(rows) <= 3, (name, rows))


class Raw(Case):
    """Lines, right and wrong."""

    def send(self, *lines):
        text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n"
                       for line in lines)
        done = subprocess.run([ROOFLINT, "mcp", self.root], input=text.encode(), cwd=self.dir,
                              capture_output=True, check=False, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return [json.loads(line) for line in done.stdout.decode().splitlines()]

    def call(self, tool, **arguments):
        [answer] = self.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                              "params": {"name": tool, "arguments": arguments}})
        result = answer["result"]
        return result["isError"], result["content"][0]["text"]

    def test_paths_stay_below_the_roots(self):
        os.symlink(self.dir, os.path.join(self.root, "out"))
        os.symlink(self.secret, os.path.join(self.root, "rules.yaml"))
        for place in (self.dir, "..", "../runs/../secret.yaml", "out", "demo/../..", "/etc/passwd",
                      self.root + "-not", "nowhere", "gs://bucket/run", "-", "--html=x"):
            for tool, arguments in [
                    ("check", {"profile": place}), ("query", {"profile": place, "sql": "select 1"}),
                    ("diff", {"base": "demo", "head": place}),
                    ("check", {"profile": "demo", "baseline": place})]:
                is_error, text = self.call(tool, **arguments)
                self.assertTrue(is_error, (tool, arguments, text))
                self.assertRegex(text, "below a root of this server", (tool, arguments))
        for tool, arguments in [
                ("check", {"profile": "demo", "rules": self.secret}),
                ("check", {"profile": "demo", "rules": "rules.yaml"}),
                ("check", {"profile": "demo", "rules": "secret.yaml"}),  # of the working directory
                ("explain", {"rule": "copy-share", "rules": "../secret.yaml"}),
                ("check", {"profile": "demo", "hardware": self.secret}),
                ("hlo", {"what": self.secret}), ("hlo", {"what": "secret.yaml"})]:
            is_error, text = self.call(tool, **arguments)
            self.assertTrue(is_error, (tool, arguments, text))
            self.assertRegex(text, "is not below a root|there is no ", (tool, arguments))
            self.assertNotIn("hunter2", text)

    def test_values_are_no_options(self):
        target = os.path.join(self.dir, "written")
        for tool, arguments in [
                ("query", {"profile": "demo", "sql": "--html=" + target}),
                ("explain", {"rule": "--set=x"}), ("tables", {"table": "--help"}),
                ("hlo", {"what": "--html=" + target}),
                ("check", {"profile": "demo", "step": "x --html " + target}),
                ("check", {"profile": "demo", "html": target}),
                ("query", {"profile": "demo", "sql": "ATTACH '%s' AS x" % target}),
                ("query", {"profile": "demo", "sql": 7}), ("query", {"profile": "demo"}),
                ("top", {"profile": "demo", "list": "run; drop"}),
                ("top", {"profile": "demo", "list": "ops", "rows": 1e9}),
                ("top", {"profile": "demo", "list": "ops", "rows": -1})]:
            is_error, text = self.call(tool, **arguments)
            self.assertTrue(is_error or "no step" in text or tool == "check", (arguments, text))
            self.assertTrue(text, arguments)
        self.assertEqual(sorted(os.listdir(self.dir)), ["runs", "secret.yaml"])

    def test_answers_are_bounded_and_say_so(self):
        is_error, text = self.call("query", profile="demo", sql="""
            SELECT a.name, b.name, 'déjà vu' FROM ops a, ops b, ops c, ops d LIMIT 20000""")
        self.assertFalse(is_error, text)
        self.assertLess(len(text.encode()), ANSWER_BYTES)
        self.assertRegex(text, r"\n\.\.\. and \d+ bytes more")
        # One line without an end: cut between characters.
        _, text = self.call("query", profile="demo",
                            sql="SELECT replace(hex(zeroblob(30000)), '0', 'é')")
        self.assertLess(len(text.encode()), ANSWER_BYTES)
        self.assertNotIn("\ufffd", text)

    def test_what_is_no_request_is_told_and_the_next_is_answered(self):
        ping = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
        answers = self.send(
            "{", "[]", "17", '"x"', "", "x" * (3 << 20), {"jsonrpc": "2.0", "id": {}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 5, "result": {}},
            {"jsonrpc": "2.0", "id": 1, "method": "resources/list"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "rm"}},
            {"jsonrpc": "2.0", "id": 3, "method": "tools/call"},
            {"jsonrpc": "2.0", "id": 4, "method": "tools/call",
             "params": {"name": "check", "arguments": [1]}}, "[" * 100000, ping)
        codes = [a["error"]["code"] if "error" in a else a["result"] for a in answers]
        self.assertEqual(codes[:6], [-32700, -32600, -32600, -32600, -32600, -32600])
        self.assertEqual(codes[6:9], [-32601, -32602, -32602])
        self.assertTrue(codes[9]["isError"])
        self.assertEqual(codes[10:], [-32700, {}])
        self.assertEqual(answers[-1]["id"], "p")

    def test_versions(self):
        for asked, told in [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"),
                            ("1999-01-01", "2025-11-25")]:
            [answer] = self.send({"jsonrpc": "2.0", "id": 0, "method": "initialize",
                                  "params": {"protocolVersion": asked}})
            self.assertEqual(answer["result"]["protocolVersion"], told)

    def test_a_profile_that_is_none_costs_one_answer(self):
        with open(os.path.join(self.root, "bad.xplane.pb"), "wb") as f:
            f.write(b"\xff" * 1000)
        answers = self.send(*[
            {"jsonrpc": "2.0", "id": i, "method": "tools/call",
             "params": {"name": "check", "arguments": {"profile": name}}}
            for i, name in enumerate(["bad.xplane.pb", "demo"])])
        self.assertEqual([a["result"]["isError"] for a in answers], [True, False])
        self.assertIn("oversized-all-gather", answers[1]["result"]["content"][0]["text"])

    def test_a_root_that_is_not_there(self):
        done = subprocess.run([ROOFLINT, "mcp", os.path.join(self.dir, "nowhere")], check=False,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 2)
        self.assertIn("nowhere", done.stderr)


if __name__ == "__main__":
    unittest.main()
