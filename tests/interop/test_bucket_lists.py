"""Buckets of more objects than are held at once: lists are read in stretches, and shards read
ranges of names.  Whatever the length, the same runs are found, whole, with their job files."""

import collections
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import test_buckets  # noqa: E402
import used  # noqa: E402
from together import load_tests  # noqa: E402, F401

STRETCH = 50000  # BUCKET_STRETCH
RUN = "/plugins/profile/2026_03_14_09_26_"
HOSTS = ("worker-0.xplane.pb", "worker-1.xplane.pb")


class Made(dict):
    """Objects that are listed, and that nobody asks for."""

    def __missing__(self, key):
        return b"x"


class Lists(test_buckets.Served):
    scheme = ""

    def fill(self, names):
        """A bucket with these objects; those that are there already have their bytes."""
        objects = Made(self.server.objects.get("many", {}))
        self.server.objects["many"] = objects
        self.server.names["many"] = sorted({*names, *objects})

    def put(self, name, body):
        self.server.objects.setdefault("many", Made())[name] = body

    def run_at(self, log, second="53", hosts=HOSTS):
        for host in hosts:
            self.put(f"{log}{RUN}{second}/{host}", test_buckets.demo()[host])

    def facts(self, *args):
        """Runs by profile: host count and the workload, which a job file names."""
        said = self.rooflint("facts", "-j", "2", *args, status=0)
        return self.runs(said)

    def runs(self, said):
        found = [r for r in map(json.loads, said.splitlines()) if r["record"] == "run"]
        names = [r["profile"] for r in found]
        self.assertEqual(len(names), len(set(names)), names)
        return {r["profile"].split("//many/")[1]: (r["hosts"], r["workload"]) for r in found}

    def part(self, name):
        with open(os.path.join(self.box, name), encoding="utf-8") as f:
            return self.runs(f.read())

    def where(self, log, second="53"):
        return f"{log}{RUN}{second}"

    def job(self, log, name):
        self.put(log + "/rooflint.job.yaml", f"version: 1\nworkload: {name}\n".encode())

    # ---- stretches -----------------------------------------------------------------------------

    def test_more_than_a_million(self):
        """In memory that does not grow with the list."""
        for i in range(3):
            self.run_at(f"fleet/job-{i}")
            self.job(f"fleet/job-{i}", f"work-{i}")
        self.fill(f"fleet/job-{i}/{part}/{n:06}" for i in range(3)
                  for part in ("checkpoints", "q") for n in range(190000))
        said = used.used([test_buckets.ROOFLINT, "audit", "--facts", "all.ndjson",
                          f"{self.scheme}://many/fleet"], env=self.env, cwd=self.box)
        self.assertEqual(self.part("all.ndjson"),
                         {self.where(f"fleet/job-{i}"): (2, f"work-{i}") for i in range(3)})
        self.assertLess(said[2], 48)  # MB

    def test_each_place_of_the_cut(self):
        """A run, its neighbour and its job file where a stretch ends, whole on either side."""
        for shift in (0, 1, 2, 3, 4, 5, 6):
            self.server.objects.pop("many", None)
            self.run_at("fleet/m", "40", HOSTS[:1])
            self.run_at("fleet/m", "53", HOSTS[1:])
            self.run_at("fleet/z")
            self.job("fleet/m", "middle")
            self.put("fleet/m/top.xplane.pb", test_buckets.demo()[HOSTS[0]])
            before = STRETCH - shift
            self.fill([*(f"fleet/a/{n:06}.gz" for n in range(before)),
                       *(f"fleet/m/q/{n:06}.gz" for n in range(STRETCH))])
            with self.subTest(shift):
                self.assertEqual(self.facts(f"{self.scheme}://many/fleet"), {
                    "fleet/m": (1, "middle"), self.where("fleet/m"): (2, "middle"),
                    self.where("fleet/z"): (2, f"{self.scheme}://many/fleet/z")})

    def test_one_directory_of_more_than_a_stretch(self):
        self.run_at("fleet/m")
        self.fill(f"fleet/m{RUN}53/{n:06}.gz" for n in range(2 * STRETCH + 10))
        self.assertEqual(list(self.facts(f"{self.scheme}://many/fleet")), [self.where("fleet/m")])

    def test_nothing_in_many_stretches(self):
        self.fill(f"fleet/{n:06}/x" for n in range(2 * STRETCH + 10))
        out = self.rooflint("audit", f"{self.scheme}://many/fleet", status=3)
        self.assertIn("no profile (*.xplane.pb) here or below", out)

    def test_a_list_that_ends_in_trouble(self):
        """What came before it is kept, and the status says that it is not all."""
        self.run_at("fleet/a")
        self.fill(f"fleet/b/{n:06}.gz" for n in range(2 * STRETCH))
        pages = []

        def trouble(h, _):
            pages.append(1)
            if len(pages) < 80:
                return False
            h.reply(403, b"")
            return True
        self.server.list_trouble = trouble
        said = self.rooflint("audit", "--store", "s.db", f"{self.scheme}://many/fleet", status=3)
        self.assertIn("the server answered 403", said)
        self.assertIn("fleet/a", self.rooflint("store", "export", "s.db", status=0))

    # ---- shards --------------------------------------------------------------------------------

    def test_shards_read_ranges(self):
        teams = [f"fleet/team-{t}" for t in range(4)]
        for team in teams:
            for i in range(3):
                self.run_at(f"{team}/job-{i}")
                self.job(f"{team}/job-{i}", f"{team[-1]}{i}")
        self.fill(f"{team}/job-{i}/{part}/{n:06}.gz" for team in teams for i in range(3)
                  for part in ("a", "q") for n in range(20000))
        root = f"{self.scheme}://many/fleet"
        whole = self.facts(root)
        self.assertEqual(len(whole), 12)
        found, pages = {}, []
        for i in range(1, 4):
            self.server.listed.clear()
            self.rooflint("audit", "--shard", f"{i}/3", "--facts", f"{i}.ndjson", root, status=0)
            pages.append(len(self.server.listed))
            part = self.part(f"{i}.ndjson")
            self.assertTrue(part)
            self.assertFalse(found.keys() & part.keys())
            found.update(part)
        self.assertEqual(found, whole)
        # The first stretch tells each that there are more; then 480,000 objects once, not thrice.
        self.assertLess(sum(pages), 3 * 51 + 480 + 3 * 100)

    def test_shards_of_one_directory_of_runs(self):
        """Neighbours that may be one run are not parted."""
        for minute in range(12):
            for second, hosts in (("10", HOSTS[:1]), ("20", HOSTS[1:])):
                for host in hosts:
                    self.put(f"log/plugins/profile/2026_03_14_09_{minute:02}_{second}/{host}",
                             test_buckets.demo()[host])
        self.job("log", "nightly")
        self.fill(f"log/plugins/profile/2026_03_14_09_{m:02}_20/{n:06}.gz" for m in range(12)
                  for n in range(6000))
        root = f"{self.scheme}://many/log"
        whole = self.facts(root)
        self.assertEqual(collections.Counter(whole.values()), {(2, "nightly"): 12})
        found = {}
        for i in range(1, 6):
            self.rooflint("audit", "--shard", f"{i}/5", "--facts", f"{i}.ndjson", root, status=0)
            found.update(self.part(f"{i}.ndjson"))
        self.assertEqual(found, whole)


class S3(Lists):
    scheme = "s3"


class Google(Lists):
    scheme = "gs"

    def setUp(self):
        super().setUp()
        self.sign_out()
        self.env["STORAGE_EMULATOR_HOST"] = self.server.url
        self.server.public = True


del Lists

if __name__ == "__main__":
    unittest.main()
