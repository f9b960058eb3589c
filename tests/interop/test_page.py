"""The page in a real browser: light, dark, on a phone, without scripts, and under Jenkins' policy.

Needs Chromium, and playwright and axe from PyPI (packages.py); skipped where one is missing.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import packages  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOFLINT = os.environ.get("ROOFLINT", os.path.join(HERE, "../../build/rooflint"))
CARRIED = os.path.join(HERE, "../profiles")
EARLIER = os.path.join(HERE, "../golden/diff/night-0.json")
CAPTURES = os.environ.get("PROFILES", os.path.join(HERE, "../../../shared/profiles"))
NAMES = "chromium", "chromium-browser", "google-chrome"
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)

MARKUP = "</script><img src=x onerror=alert(1)>"
# What Jenkins sends with a published report unless told otherwise.
JENKINS = "sandbox; default-src 'none'; img-src 'self'; style-src 'self';"

DESKTOP = {"viewport": {"width": 1400, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True}
NO_SCRIPTS = {**DESKTOP, "java_script_enabled": False}


def check(*args):
    subprocess.run([ROOFLINT, "check", "--fail-on", "never", "-q", *args], check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def diff(base, head, page):
    subprocess.run([ROOFLINT, "diff", "--html", page, base, head], check=True,
                   stdout=subprocess.DEVNULL)
    return page


def diffs(folder):
    """A page of an op that is new, one of many changes, and one of kernels with long names."""
    traces = os.path.join(CAPTURES, "tpu-vllm-qwen-trace/plugins/profile")
    pair = os.path.join(CAPTURES, "nsys-h100-2gpu-fastvideo")
    pairs = {
        "diff": (EARLIER, os.path.join(CARRIED, "demo")),
        "diff-trace": [os.path.join(traces, name) for name in
                       ("2026_01_11_21_26_41", "2026_01_12_01_08_50")],
        "diff-nsys": [os.path.join(pair, name) for name in
                      ("mfu_2gpu_before.sqlite", "mfu_2gpu_after.sqlite")],
    }
    for name, (base, head) in pairs.items():
        if os.path.exists(base):
            yield diff(base, head, os.path.join(folder, name + ".html"))


def weekly(folder, roots):
    """With links to the runs' pages, as a director gets it."""
    page = os.path.join(folder, "weekly.html")
    subprocess.run([ROOFLINT, "audit", "--since", "52w", "--html", page, "--pages",
                    os.path.join(folder, "weekly"), *roots], check=True, stdout=subprocess.DEVNULL)
    return page


def pages(folder):
    """A page for each profile that is there, one for several, a fleet's, and those of diffs."""
    carried = [os.path.join(CARRIED, name) for name in ("demo", "jax-cpu-train")]
    captures = [os.path.join(CAPTURES, name) for name in ("tpu-inference-2", "amd-te-fused-attn")]
    profiles = [path for path in carried + captures if os.path.isdir(path)]
    for path in profiles:
        page = os.path.join(folder, os.path.basename(path) + ".html")
        check("--html", page, path)
        yield page
    page = os.path.join(folder, "several.html")
    check("--html", page, *carried, os.path.join(CARRIED, "nowhere"))
    yield page
    site = os.path.join(folder, "site")
    check("--html", site + "/", *carried)
    yield os.path.join(site, "index.html")
    yield weekly(folder, carried)
    yield from diffs(folder)


def make_hostile(report):
    """Every name of an op, and every text of a finding, turned to markup."""
    with open(report, encoding="utf-8") as file:
        document = json.load(file)
    for finding in document["reports"][0]["findings"]:
        finding.update(name=MARKUP, message=MARKUP, scope=MARKUP, source_file=MARKUP)
    for table in document["reports"][0]["tables"], document["reports"][0]["plots"]:
        for columns in (part["columns"] for part in table.values()):
            if "name" in columns:
                columns["name"] = [MARKUP] * len(columns["name"])
            for name in {"key", "scope", "source_file"} & set(columns):
                columns[name] = [f"{MARKUP} {i}" for i in range(len(columns[name]))]
    with open(report, "w", encoding="utf-8") as file:
        json.dump(document, file)


def hostile_page(folder):
    report = os.path.join(folder, "report.json")
    page = os.path.join(folder, "hostile.html")
    check("--json", report, os.path.join(CARRIED, "demo"))
    make_hostile(report)
    subprocess.run([ROOFLINT, "render", "-q", "--html", page, report], check=True,
                   stdout=subprocess.DEVNULL)
    return page


def hostile_diff(folder):
    """Against an earlier night, of which each op is then gone; the file is called as its ops are."""
    report = os.path.join(folder, "<img src=x onerror=alert(1)>.json")
    check("--json", report, os.path.join(CARRIED, "demo"))
    make_hostile(report)
    return diff(EARLIER, report, os.path.join(folder, "hostile-diff.html"))


@unittest.skipIf(CHROMIUM is None, "needs chromium")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        packages.need("playwright", "axe-playwright-python")
        # pylint: disable=import-outside-toplevel
        from axe_playwright_python.sync_playwright import Axe
        from playwright.sync_api import sync_playwright
        cls.axe = Axe()
        cls.folder = tempfile.TemporaryDirectory()
        cls.pages = list(pages(cls.folder.name))
        cls.driver = sync_playwright().start()
        cls.browser = cls.driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.driver.stop()
        cls.folder.cleanup()

    def open(self, path, **options):
        """The page, and a list of whatever it says, asks for or pops up."""
        page, noise = self.browser.new_context(**options).new_page(), []
        page.on("console", lambda message: noise.append(message.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("dialog", lambda dialog: (noise.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: noise.append(request.url)
                if not request.url.startswith(("file:", "data:")) else None)
        page.goto("file://" + path)
        return page, noise

    def test_quiet_and_within_the_window(self):
        wide = "document.documentElement.scrollWidth - innerWidth"
        for path in self.pages:
            for options in DESKTOP, PHONE, NO_SCRIPTS:
                with self.subTest(page=os.path.basename(path), **options):
                    page, noise = self.open(path, **options)
                    for scheme in "light", "dark":
                        page.emulate_media(color_scheme=scheme)
                        self.assertEqual(noise, [])
                        if options is not NO_SCRIPTS:
                            self.assertLessEqual(page.evaluate(wide), 0)
                    page.context.close()

    def test_pictures_fit_wide_and_narrow(self):
        """Text is 11 pixels high or more, lies within its picture, and nothing scrolls sideways."""
        texts = """() => [...document.querySelectorAll('svg text')].map(t => {
            const s = t.ownerSVGElement, box = s.getBoundingClientRect(), r = t.getBoundingClientRect();
            return {shown: box.width > 0, words: t.textContent,
                    high: t.getAttribute('font-size') * box.width / s.viewBox.baseVal.width,
                    out: Math.max(box.left - r.left, r.right - box.right)};
        }).filter(t => t.shown)"""
        for path in self.pages:
            for options in DESKTOP, PHONE:
                with self.subTest(page=os.path.basename(path), **options):
                    page, _ = self.open(path, **options)
                    page.evaluate(
                        "document.querySelectorAll('.profile').forEach(d => d.open = true)")
                    found = page.evaluate(texts)
                    self.assertEqual([t["words"] for t in found if t["high"] < 11], [])
                    self.assertEqual([t["words"] for t in found if t["out"] > 1], [])
                    drawings = page.locator(".drawing, .budget")
                    self.assertTrue(all(drawings.evaluate_all(
                        "d => d.map(e => e.scrollWidth <= e.clientWidth)")))
                    self.assertEqual(page.locator(".drawing svg:visible").count(),
                                     page.locator(".drawing").count())
                    page.context.close()

    def test_ops_that_changed_fit(self):
        """Beside each other where there is room for it, else below each other."""
        over = "tables => tables.map(e => e.scrollWidth - e.clientWidth)"
        for path in self.pages:
            page, _ = self.open(path)
            for width in 390, 500, 640, 800, 860, 900, 1400:
                with self.subTest(page=os.path.basename(path), width=width):
                    page.set_viewport_size({"width": width, "height": 900})
                    self.assertFalse(any(page.locator(".changes .scroll").evaluate_all(over)))
            page.context.close()

    def test_on_paper(self):
        """What is folded opens, closed tables and tools are gone, and no picture is cut off."""
        for path in self.pages:
            with self.subTest(page=os.path.basename(path)):
                page, _ = self.open(path, viewport={"width": 794, "height": 1123})
                page.emulate_media(media="print")
                self.assertEqual(page.locator(".tools:visible").count(), 0)
                self.assertEqual(page.locator(
                    "section > details[id]:not(.finding):visible").count(), 0)
                for body in page.locator(".finding .halves").all():
                    self.assertGreater(body.bounding_box()["height"], 10)
                if page.locator(".finding").count():  # one may be longer than a sheet of paper
                    breaks = "e => getComputedStyle(e).breakInside"
                    self.assertEqual(page.locator(".finding").first.evaluate(breaks), "auto")
                for where in page.locator(".around dl").all():
                    self.assertGreater(where.bounding_box()["height"], 10)
                cut = ("boxes => boxes.filter(b => b.scrollWidth > b.clientWidth + 1)"
                       ".map(b => b.getAttribute('aria-label'))")
                self.assertEqual(page.locator(".scroll").evaluate_all(cut), [])
                page.context.close()

    def test_accessible(self):
        """In the dark only colours are others."""
        for path in self.pages:
            page, _ = self.open(path, bypass_csp=True, **DESKTOP)
            page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            for scheme, options in ("light", None), ("dark", {"runOnly": ["color-contrast"]}):
                with self.subTest(page=os.path.basename(path), scheme=scheme):
                    page.emulate_media(color_scheme=scheme)
                    found = self.axe.run(page, options=options).response["violations"]
                    bad = [v["id"] for v in found if v["impact"] in ("serious", "critical")]
                    self.assertEqual(bad, [])
            page.context.close()

    def test_everything_is_there_without_scripts(self):
        for path, least in [(self.pages[0], 10000), (self.pages[-1], 500)]:
            texts = []
            for options in NO_SCRIPTS, DESKTOP:
                page, _ = self.open(path, **options)
                self.assertEqual(page.locator(".sort").count() > 0, options is DESKTOP)
                page.locator(".tools").evaluate_all("tools => tools.forEach(t => t.remove())")
                texts.append(page.locator("main").text_content())
                page.context.close()
            self.assertTrue(texts[0] == texts[1])
            self.assertGreater(len(texts[0]), least)

    def test_diff_on_a_phone(self):
        """Nothing of an op that changed lies beside the window, and what is searched away is gone."""
        for path in self.pages:
            if not os.path.basename(path).startswith("diff"):
                continue
            page, _ = self.open(path, **PHONE)
            cells = page.locator(".changes tbody tr > *")
            self.assertGreater(cells.count(), 3)
            edges = cells.evaluate_all("cells => cells.map(c => c.getBoundingClientRect().right)")
            self.assertLessEqual(max(edges), 390)
            for search in page.locator(".tools input").all():
                search.fill("no such op")
            # A table of few rows has no search.
            tables = page.locator(".changes table").all()
            self.assertGreater(len(tables), 0)
            for table in tables:
                searched = table.evaluate(
                    "t => t.closest('.scroll').previousElementSibling?.className === 'tools'")
                self.assertEqual(table.locator("tbody tr:visible").count() == 0, searched)
            page.context.close()

    def test_tables_sort_and_search(self):
        page, _ = self.open(self.pages[0], **DESKTOP)
        table = page.locator("#table-ops")
        table.locator("summary").click()
        shares = "rows => rows.filter(r => !r.hidden).map(r => parseFloat(r.cells[3].dataset.value))"
        rows = table.locator("tbody tr")
        given = rows.evaluate_all(shares)
        head = table.locator("th", has_text="share of step")
        head.locator("button").focus()
        for order, expected in (("descending", sorted(given, reverse=True)),
                                ("ascending", sorted(given)), (None, given)):
            page.keyboard.press("Enter")
            self.assertEqual(head.get_attribute("aria-sort"), order)
            self.assertEqual(rows.evaluate_all(shares), expected)
        table.locator("input").fill("matmul model.py:91")
        self.assertEqual(table.get_by_role("status").text_content(), "3 of 16 rows")
        self.assertEqual(len(rows.evaluate_all(shares)), 3)
        page.context.close()

    def test_a_link_opens_what_it_leads_into(self):
        page, _ = self.open(self.pages[0] + "#table-memory", **DESKTOP)
        self.assertTrue(page.locator("#table-memory").evaluate("el => el.open"))
        page.context.close()

    def test_an_index_leads_to_each_profile(self):
        several = next(p for p in self.pages if p.endswith("several.html"))
        page, _ = self.open(several, **DESKTOP)
        self.assertFalse(page.locator("article").first.is_visible())
        page.locator(".index a").first.click()
        self.assertTrue(page.locator("article").first.is_visible())
        page.context.close()
        index = next(p for p in self.pages if p.endswith("index.html"))
        page, _ = self.open(index, **PHONE)
        for link in [a.get_attribute("href") for a in page.locator(".index a").all()]:
            page.goto("file://" + os.path.join(os.path.dirname(index), link))
            page.get_by_role("link", name="All profiles").click()
            self.assertEqual(page.url, "file://" + index)
        page.context.close()

    def test_markup_stays_text(self):
        page, noise = self.open(hostile_page(self.folder.name), **DESKTOP)
        self.assertEqual(noise, [])
        self.assertEqual(page.locator("img").count(), 0)
        self.assertIn(MARKUP, page.locator(".finding h3").first.text_content())
        self.assertIn(MARKUP, page.locator("#table-ops tbody th").first.get_attribute("title")
                      or page.locator("#table-ops tbody th").first.text_content())
        page.context.close()

    def test_markup_stays_text_in_a_diff(self):
        page, noise = self.open(hostile_diff(self.folder.name), **DESKTOP)
        self.assertEqual(noise, [])
        self.assertEqual(page.locator("img").count(), 0)
        self.assertIn("<img", page.locator("h1").text_content())
        names = page.locator(".changes tbody th").all_text_contents()
        self.assertIn(MARKUP, names)
        self.assertIn(MARKUP, page.locator(".changes tbody").first.text_content())
        page.context.close()

    def test_a_cut_name_is_whole_on_pointing(self):
        nsys = [path for path in self.pages if path.endswith("diff-nsys.html")]
        if not nsys:
            self.skipTest("needs the capture of Nsight Systems")
        page, _ = self.open(nsys[0], **DESKTOP)
        names = page.locator(".changes th[title]")
        self.assertGreater(names.count(), 0)
        for name in names.all():
            head, _, tail = name.text_content().partition("...")
            whole = name.get_attribute("title")
            self.assertTrue(whole.startswith(head) and whole.endswith(tail))
            self.assertGreater(len(whole), len(head) + len(tail) + 3)
        page.context.close()

    def test_readable_under_the_policy_of_jenkins(self):
        with open(self.pages[0], encoding="utf-8") as file:
            body = file.read()
        page = self.browser.new_context(**DESKTOP).new_page()
        page.route("**/*", lambda route: route.fulfill(
            body=body, content_type="text/html", headers={"Content-Security-Policy": JENKINS}))
        page.goto("http://jenkins.test/report.html")
        self.assertEqual(page.locator(".tools").count(), 0)
        self.assertTrue(page.get_by_role("heading", name="Findings", exact=True).is_visible())
        self.assertTrue(page.locator("#picture-timeline svg").first.is_visible())
        self.assertFalse(page.locator("#picture-timeline svg").last.is_visible())
        page.context.close()


if __name__ == "__main__":
    unittest.main()
