#!/usr/bin/env python3
"""picture.py ROOFLINT OUT.png: the first screen of the demo's page, for README.md.

Chromium draws it, found on the PATH.  The picture is committed; draw it again when the page's look
changes.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
NAMES = "chromium", "chromium-browser", "google-chrome"
SIZE = 1200, 1030  # down to the legend of the timeline
MOST = 150_000  # bytes: what a page on a slow line can bear


def main():
    program, out = (os.path.abspath(argument) for argument in sys.argv[1:])
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if not browser:
        sys.exit("picture.py: needs chromium")
    with tempfile.TemporaryDirectory() as box:
        page = os.path.join(box, "page.html")
        subprocess.run([program, "check", "-q", "--fail-on", "never", "--html", page,
                        "tests/profiles/demo"], cwd=TOP, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([browser, "--headless", "--no-sandbox", "--hide-scrollbars", "--disable-lcd-text",
                        "--force-device-scale-factor=0.75",
                        f"--user-data-dir={box}/profile", f"--window-size={SIZE[0]},{SIZE[1]}",
                        f"--screenshot={out}", "file://" + page], check=True,
                       stderr=subprocess.DEVNULL)
    if os.path.getsize(out) > MOST:
        sys.exit(f"picture.py: {out} has {os.path.getsize(out)} bytes, more than {MOST}")


if __name__ == "__main__":
    main()
