"""Every number of the weekly page leads somewhere, and what it leads to is there.

A fleet of captures of this project, some of them told again faster and slower a week later, is audited
with pages of its runs.  The pages lie in a folder whose name has to be escaped in a link.
"""

import csv
import datetime
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(TOP, "tests", "bench"))
import retell  # noqa: E402

ROOFLINT = os.path.abspath(os.environ.get("ROOFLINT", os.path.join(TOP, "build", "rooflint")))
CARRIED = os.path.join(TOP, "tests", "profiles")
PAGES = "runs #1 100%"
WEEKS = [datetime.datetime(2026, 11, day, 12, tzinfo=datetime.timezone.utc) for day in (13, 20)]
# A capture, and how fast it is told in each week.
WORKLOADS = {"one": ("jax-cpu-train", [1, 1.2]), "two": ("demo", [1, 0.8]), "three": ("demo", [1.1, 1.1])}
VOID = {"meta", "link", "img", "br", "hr", "input", "wbr", "col"}


def tell(capture, factor, moment, into):
    """A capture at another speed and on another day, and where that can be told, in its name."""
    run = os.path.join(into, "plugins", "profile", moment.strftime("%Y_%m_%d_%H_%M_%S"))
    os.makedirs(run)
    source, = os.listdir(os.path.join(CARRIED, capture, "plugins", "profile"))
    folder = os.path.join(CARRIED, capture, "plugins", "profile", source)
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".xplane.pb"):
            continue
        with open(os.path.join(folder, name), "rb") as file:
            data = retell.scaled(file.read(), factor)
        places = retell.date_places(data)
        ns = int(moment.timestamp()) * 10**9
        with open(os.path.join(run, name), "wb") as file:
            file.write(retell.dated(data, places, ns - places[0][1] if places else 0))


class Links(html.parser.HTMLParser):
    """Anchors, links, and numbers with the link that they stand in."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.open, self.ids, self.links, self.numbers, self.rows = [], set(), [], [], []
        self.section, self.text = None, ""
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def link(self):
        return next((a["href"] for tag, a in reversed(self.open) if tag == "a"), None)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            self.ids.add(attrs["id"])
        if tag == "section":
            self.section = attrs.get("id", self.section)
        if tag == "tr":
            self.rows.append((self.section, []))
        if tag == "a":
            self.links.append(attrs["href"])
            if self.rows and any(t == "tr" for t, _ in self.open):
                self.rows[-1][1].append(attrs["href"])
        if tag not in VOID:
            self.open.append((tag, attrs))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        """Numbers of cells and tiles, and whatever a picture of the fleet says of a workload."""
        tags = [tag for tag, _ in self.open]
        self.text += data
        in_cell = any(tag == "td" and "data-number" in a for tag, a in self.open)
        in_tile = "dd" in tags and "b" in tags
        in_chart = "svg" in tags and "text" in tags and re.match(r"[\d.,]+ of ", data)
        if data.strip() and (in_cell or in_tile or in_chart):
            self.numbers.append((data.strip(), self.section, self.link()))


class WeeklyLinks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.box = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.box)
        for name, (capture, factors) in WORKLOADS.items():
            for week, factor in zip(WEEKS, factors, strict=True):
                tell(capture, factor, week, os.path.join(cls.box, "fleet", name))
        bad = os.path.join(cls.box, "fleet", "bad", "plugins", "profile", "2026_11_20_08_00_00")
        os.makedirs(bad)
        with open(os.path.join(bad, "host.xplane.pb"), "wb") as file:
            file.write(b"\x0a\xff\xff\x03cut")
        subprocess.run([ROOFLINT, "audit", "fleet", "--until", "2026-11-21", "--html", "weekly.html",
                        "--pages", PAGES, "--csv", "ranking.csv"], cwd=cls.box, check=True)
        cls.page = Links(os.path.join(cls.box, "weekly.html"))

    def resolve(self, page, href):
        """The page that a link leads to; everything is beside the weekly page."""
        parts = urllib.parse.urlsplit(href)
        self.assertEqual((parts.scheme, parts.netloc, parts.query), ("", "", ""), href)
        path = page.path
        if parts.path:
            path = os.path.normpath(os.path.join(os.path.dirname(path),
                                                 urllib.parse.unquote(parts.path)))
        self.assertTrue(path.startswith(self.box + os.sep), href)
        self.assertTrue(os.path.isfile(path), f"{href} of {page.path} leads nowhere")
        target = page if path == page.path else Links(path)
        if parts.fragment:
            self.assertIn(parts.fragment, target.ids, f"{href} of {page.path}")
        return target

    def test_fleet_shows_what_is_to_be_linked(self):
        with_lines = {section for section, links in self.page.rows if links}
        for section in ("coverage", "ranking", "rules", "movers", "by-chip", "by-owner"):
            self.assertIn(section, with_lines)

    def test_every_link_resolves(self):
        self.assertGreater(len(self.page.links), 30)
        targets = {href: self.resolve(self.page, href) for href in sorted(set(self.page.links))}
        runs = [t for t in targets.values() if t is not self.page]
        self.assertGreater(len(runs), 3)
        for run in runs:
            for href in sorted(set(run.links)):
                if href.startswith(("#", "./")):
                    self.resolve(run, href)

    def test_every_number_has_a_link(self):
        """But for how many runs were judged: no run tells of those more than another; and for the
        weeks before, whose runs are not in this report."""
        self.assertGreater(len(self.page.numbers), 30)
        bare = [(text, section) for text, section, link in self.page.numbers
                if not link and section not in ("coverage", "trend")]
        self.assertEqual(bare, [])
        judged = [row for row in self.page.rows if row[0] == "coverage" and not row[1]]
        self.assertEqual(len(judged), 2)  # the head, and the line of the judged ones

    def test_pages_are_of_those_runs(self):
        with open(os.path.join(self.box, "ranking.csv"), encoding="utf-8") as file:
            ranking = list(csv.DictReader(file))
        rows = [links for section, links in self.page.rows if section == "ranking" and links]
        self.assertEqual(len(rows), len(ranking))
        for links, row in zip(rows, ranking, strict=True):
            target, = {self.resolve(self.page, href).path for href in links}
            self.assertIn(os.path.basename(row["profile"]), Links(target).text)
            self.assertIn(row["workload"], Links(target).text)

    def test_bars_lead_where_their_lines_do(self):
        bars = [link for text, section, link in self.page.numbers
                if section == "ranking" and text.endswith(" of 8")]  # of the chips that ran
        rows = [links[0] for section, links in self.page.rows if section == "ranking" and links]
        self.assertEqual(bars, rows[:2])  # chips back; those on CPUs have none


if __name__ == "__main__":
    unittest.main()
