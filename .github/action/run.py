#!/usr/bin/env python3
"""The steps of action.yml: run.py install | check | comment | verdict.

They read inputs (INPUT_...) and what the runner says (GITHUB_...) from the environment, and write
outputs for the steps after them.  tests/interop/test_action.py plays the runner.
"""

import hashlib
import json
import os
import platform
import shlex
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request

OUT = os.path.join(os.environ.get("RUNNER_TEMP", "/tmp"), "rooflint")
STORE = ".rooflint/facts.db"  # in the cache: below the working directory, as its path is a part of it
FILES = {"json": "report.json", "html": "rooflint.html", "sarif": "rooflint.sarif",
         "junit": "rooflint.xml", "markdown": "comment.md"}  # by option, which is the output's name
MARK = "<!-- rooflint: %s -->"
PAGES = 30  # of comments looked through, a hundred each: a longer thread is not searched
SECONDS = 60  # a server that is silent for so long is left


def given(name, otherwise=""):
    return os.environ.get("INPUT_" + name.upper().replace("-", "_"), "").strip() or otherwise


def append(variable, text):
    with open(os.environ[variable], "a", encoding="utf-8") as f:
        f.write(text + "\n")


def output(name, value):
    append("GITHUB_OUTPUT", "%s=%s" % (name, str(value).replace("\n", " ")))


def event():
    with open(os.environ["GITHUB_EVENT_PATH"], encoding="utf-8") as f:
        return json.load(f)


# ---- install --------------------------------------------------------------------------------------


def get(url):
    try:
        with urllib.request.urlopen(url, timeout=SECONDS) as answer:
            return answer.read()
    except (urllib.error.URLError, TimeoutError) as e:
        sys.exit("rooflint: cannot fetch %s: %s; `version` names a release, and `program` a rooflint "
                 "that is there already" % (url, e))


def install():
    """The release's program, its digest compared, onto PATH; or the one that `program` names."""
    program = given("program")
    system = {"Linux": "linux", "Darwin": "macos"}.get(platform.system())
    if not program and not system:
        sys.exit("rooflint: releases hold programs for Linux and macOS, not for %s; `program` names a "
                 "rooflint that is there already" % platform.system())
    if not program:
        version = given("version")
        if not version:
            path = os.path.join(os.environ["GITHUB_ACTION_PATH"], "VERSION")
            with open(path, encoding="utf-8") as f:
                version = f.read().strip()
        version = version[1:] if version.startswith("v") else version
        machine = {"arm64": "aarch64"}.get(platform.machine(), platform.machine())
        name = "rooflint-%s-%s-%s" % (version, system, machine)
        place = given("releases", "%s/%s/releases/download/v%s" % (
            os.environ["GITHUB_SERVER_URL"], os.environ["GITHUB_ACTION_REPOSITORY"], version))
        sums = dict(reversed(line.split()) for line in
                    get(place + "/SHA256SUMS").decode().splitlines())
        data = get("%s/%s.tar.gz" % (place, name))
        if hashlib.sha256(data).hexdigest() != sums.get(name + ".tar.gz"):
            sys.exit("rooflint: %s.tar.gz is not what SHA256SUMS of the release says" % name)
        os.makedirs(OUT, exist_ok=True)
        with open(os.path.join(OUT, "release.tar.gz"), "wb") as f:
            f.write(data)
        with tarfile.open(os.path.join(OUT, "release.tar.gz")) as tar:
            tar.extractall(OUT, filter="data") if hasattr(tarfile, "data_filter") else \
                tar.extractall(OUT)
        program = os.path.join(OUT, name, "bin", "rooflint")
    subprocess.run([program, "--version"], check=True)
    append("GITHUB_PATH", os.path.dirname(os.path.abspath(program)))
    output("program", os.path.abspath(program))


# ---- check ----------------------------------------------------------------------------------------


def is_main():
    """Whether this run is one that later ones are measured by: on the default branch."""
    branch = event().get("repository", {}).get("default_branch", "main")
    return os.environ["GITHUB_REF"] == "refs/heads/" + branch and \
        os.environ["GITHUB_EVENT_NAME"] not in ("pull_request", "pull_request_target")


def check():
    os.makedirs(OUT, exist_ok=True)
    files = {name: os.path.join(OUT, path) for name, path in FILES.items()}
    command = [given("program", "rooflint"), "check", "--github"]
    for name, path in files.items():
        command += ["--" + name, path]
    for name in ("rules", "rules-from", "hardware", "job", "source-root", "expect-commit",
                 "max-age", "fail-on"):
        if given(name):
            command += ["--" + name, given(name)]
    last = given("baselines", "10")
    if last != "0":
        is_first = not os.path.exists(STORE)
        os.makedirs(os.path.dirname(STORE), exist_ok=True)
        if not is_first:
            command += ["--baseline", "store:last=" + last]
        if is_main() or not is_first:
            command += ["--store", STORE]
        if is_main():
            command += ["--record"]
    command += shlex.split(given("options")) + ["--"] + shlex.split(given("profile", "."))
    print("[command]" + " ".join(map(shlex.quote, command)), flush=True)
    status = subprocess.run(command, check=False).returncode
    output("status", status)
    for name, path in files.items():
        output(name, path if os.path.exists(path) else "")
    if os.path.exists(files["json"]):
        with open(files["json"], encoding="utf-8") as f:
            worst = [r["verdict"] for r in json.load(f)["reports"]]
        order = ["error", "fail", "inconclusive", "warn", "pass"]
        output("verdict", min(worst, key=order.index) if worst else "error")
    keeps = is_main() and last != "0"
    if keeps and status:
        print("::notice title=rooflint::this run is no baseline for later ones, as its exit status is "
              "%d: those are compared with the good runs before it" % status)
    output("save", "true" if keeps and not status else "false")


# ---- comment --------------------------------------------------------------------------------------


def api(method, path, body=None):
    request = urllib.request.Request(
        os.environ["GITHUB_API_URL"] + path, method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + given("token"),
                 "Accept": "application/vnd.github+json", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        return json.load(answer)


def own_comment(thread, mark):
    for page in range(1, PAGES + 1):
        comments = api("GET", "%s?per_page=100&page=%d" % (thread, page))
        for comment in comments:
            # A stranger may write the mark, too, but not as a bot.
            if mark in comment["body"] and comment["user"]["type"] == "Bot":
                return comment["id"]
        if len(comments) < 100:
            break
    return None


def comment():
    """One comment for each `name`, written anew each time; silent where the token may not."""
    path = os.path.join(OUT, FILES["markdown"])
    number = event().get("pull_request", {}).get("number")
    if not number or not os.path.exists(path):
        return
    mark = MARK % given("name", "rooflint")
    repository = "/repos/" + os.environ["GITHUB_REPOSITORY"]
    thread = "%s/issues/%d/comments" % (repository, number)
    with open(path, encoding="utf-8") as f:
        body = {"body": f.read()[:65536 - len(mark) - 1] + "\n" + mark}
    try:
        known = own_comment(thread, mark)
        if known:
            api("PATCH", "%s/issues/comments/%d" % (repository, known), body)
        else:
            api("POST", thread, body)
    except urllib.error.HTTPError as e:
        # A pull request from a fork gets a token that may only read. The summary has it all.
        print("::notice title=rooflint::no comment on the pull request: the token may not write "
              "one (HTTP %d); the job summary has the report" % e.code)
    except (urllib.error.URLError, TimeoutError) as e:
        print("::warning title=rooflint::no comment on the pull request: %s"
              % str(e).replace("\n", " "))


def verdict():
    sys.exit(int(given("status", "2")))


if __name__ == "__main__":
    {"install": install, "check": check, "comment": comment, "verdict": verdict}[sys.argv[1]]()
