"""Packages of PyPI and npm for the tests of this folder, kept in the build folder.

    python3 tests/interop/packages.py

installs them, once; a second one beside it waits. A test names what it needs, and is skipped, with
a line that says so, where that could not be had.
"""

import fcntl
import glob
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tarfile
import unittest

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
VENV = os.path.join(TOP, "build", "interop-venv")
PYTHON = os.path.join(VENV, "bin", "python")
MARK = os.path.join(VENV, "installed.json")

UV = "uv==0.13.9"

# Pinned: a consumer's new version is news for its own day, not for a pull request.
PYPI = {
    "axe-playwright-python": "0.1.8",
    "chdb": "4.4.0",  # ClickHouse itself, 26.9
    "check-jsonschema": "0.39.0",  # carries the schemas of GitLab's and Buildkite's pipelines
    "duckdb": "2.0.0",
    "jsonschema": "4.26.0",
    "google-cloud-bigquery": "3.47.0",
    "junitparser": "5.0.3",
    "kubernetes-validate": "1.37.0",  # carries those of Kubernetes' resources
    "markdown-it-py": "4.3.0",
    "mcp": "2.3.0",  # the Model Context Protocol's own client
    "playwright": "1.65.2",
    "prometheus_client": "0.26.0",
    "sarif-tools": "3.0.5",
    "standardwebhooks": "1.0.0",
}
with open(os.path.join(TOP, "packaging", "requirements.txt"), encoding="utf-8") as _pins:
    PYPI.update(line.split("==") for line in _pins.read().split() if line.startswith("mkdocs"))
# Carries the JSON Schema of SARIF 2.1.0.
NPM_SARIF = "@microsoft/jest-sarif@1.0.0-beta.0"


def run(*command, **options):
    subprocess.run(command, check=True, capture_output=True, timeout=300, **options)


def install():
    """All at once; where one of them cannot be had, each that can."""
    run(sys.executable, "-m", "venv", "--clear", VENV)
    run(PYTHON, "-m", "pip", "install", "-q", "--retries", "1", UV)
    uv = [PYTHON, "-m", "uv", "pip", "install", "-q", "--python", PYTHON]
    wanted = [f"{name}=={version}" for name, version in PYPI.items()]
    try:
        run(*uv, *wanted)
    except subprocess.SubprocessError:
        for package in wanted:
            subprocess.run([*uv, package], check=False, capture_output=True, timeout=300)
    with open(MARK, "w", encoding="utf-8") as file:
        json.dump(PYPI, file)


def is_installed():
    try:
        with open(MARK, encoding="utf-8") as file:
            return json.load(file) == PYPI
    except (OSError, ValueError):
        return False


def need(*names):
    """Makes the packages importable, here and by PYTHON."""
    folders = glob.glob(os.path.join(VENV, "lib", "python*", "site-packages"))
    found = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions(path=folders)}
    for name in names:
        if found.get(name) != PYPI[name]:
            raise unittest.SkipTest(f"needs {name} {PYPI[name]} from PyPI (packages.py)")
    for folder in folders:
        if folder not in sys.path:
            sys.path.append(folder)


def sarif_schema():
    """Path of the schema, from npm."""
    folder = os.path.join(TOP, "build", "interop-sarif")
    schema = os.path.join(folder, "schema.json")
    if os.path.exists(schema):
        return schema
    if not shutil.which("npm"):
        raise unittest.SkipTest("needs npm for the JSON Schema of SARIF")
    os.makedirs(folder, exist_ok=True)
    try:
        run("npm", "pack", "--silent", NPM_SARIF, cwd=folder)
        with tarfile.open(glob.glob(os.path.join(folder, "*.tgz"))[0]) as package:
            name, = [n for n in package.getnames() if n.endswith("rtm.5.json")]
            content = package.extractfile(name).read()
    except (OSError, subprocess.SubprocessError, IndexError, ValueError) as error:
        raise unittest.SkipTest(f"needs {NPM_SARIF} from npm") from error
    with open(schema + ".new", "wb") as file:
        file.write(content)
    os.replace(schema + ".new", schema)
    return schema


def main():
    os.makedirs(os.path.dirname(VENV), exist_ok=True)
    with open(VENV + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_installed():
            install()


if __name__ == "__main__":
    try:
        main()
    except (OSError, subprocess.SubprocessError) as failure:
        sys.exit(f"packages.py: {failure}")
