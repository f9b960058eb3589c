"""Packages of PyPI and npm for the tests of this folder, kept in the build folder.

A test names what it needs, and is skipped, with a line that says so, where that cannot be had.
"""

import glob
import os
import shutil
import subprocess
import sys
import tarfile
import unittest

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
VENV = os.path.join(TOP, "build", os.environ.get("INTEROP_VENV", "interop-venv"))
PYTHON = os.path.join(VENV, "bin", "python")

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

unreachable = set()


def run(*command, **options):
    subprocess.run(command, check=True, capture_output=True, timeout=300, **options)


def install(name):
    mark = os.path.join(VENV, f"{name}-{PYPI[name]}.ready")
    if os.path.exists(mark):
        return
    if not os.path.exists(PYTHON):
        run(sys.executable, "-m", "venv", "--clear", VENV)
    run(PYTHON, "-m", "pip", "install", "-q", "--retries", "1", f"{name}=={PYPI[name]}")
    with open(mark, "w", encoding="ascii"):
        pass


def need(*names):
    """Makes the packages importable, here and by PYTHON."""
    for name in names:
        try:
            if name in unreachable:
                raise OSError
            install(name)
        except (OSError, subprocess.SubprocessError) as error:
            unreachable.add(name)
            raise unittest.SkipTest(f"needs {name} {PYPI[name]} from PyPI") from error
    for folder in glob.glob(os.path.join(VENV, "lib", "python*", "site-packages")):
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
