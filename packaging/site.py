#!/usr/bin/env python3
"""site.py ROOFLINT OUT: the documents as static pages, in the folder OUT.

The pages are README.md, docs/*.md, and what the program ROOFLINT says of itself: a page for each
built-in rule, each command's help, and the chips.  mkdocs (packaging/requirements.txt) lays them
out.  The pages load nothing from another host, so they can be read from a disk.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent

# The chapters, in the order in which a reader meets them.  A page that stands in none is an error.
CHAPTERS = {
    "Begin": ["index", "start", "install", "ci", "comparison", "words"],
    "Judge": ["steps", "rules", "baselines", "job", "statistics", "real-step"],
    "Look": ["outputs", "templates", "tables", "dumps", "hlo", "mcp", "SKILL"],
    "Fleet": ["fleet", "facts", "buckets", "notify"],
    "Trust": ["security", "speed", "diagnostics", "SECURITY", "architecture",
              "CONTRIBUTING", "NEWS"],
}


def say(program, *arguments):
    """What the program prints."""
    return subprocess.run([program, *arguments], check=True, text=True, capture_output=True,
                          cwd=TOP).stdout


def verbatim(text):
    return f"```text\n{text.rstrip()}\n```\n"


def rule_page(text):
    """`rooflint explain RULE` as Markdown: what a reader asks first, then how it is computed."""
    title, _, rest = text.partition("\n")
    name, _, meaning = title.partition(": ")
    prose, tables = [f"# {name}\n\n{meaning}.\n"], []
    # A section begins at the margin and is indented; its variants begin with "or," and "else".
    for section in re.split(r"\n(?=\S)", rest.strip("\n")):
        heading, _, body = section.partition("\n")
        lines = [line[2:] for line in body.split("\n")]
        body = "\n".join(lines).strip("\n")
        heading, _, where = re.sub("^or, ", ", ", heading.rstrip(":")).partition(", where ")
        lead = f"Where `{where}`: " if where else "Else: " if heading == "else" else ""
        head = f"## {heading}\n\n" if heading and heading != "else" else ""
        if any("  " in line for line in lines):
            tables.append(head + verbatim(body))
        else:
            prose.append(f"{head}{lead}{body}\n")
    return name, "\n".join(prose + tables)


def write(folder, name, text):
    path = folder / (name + ".md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def lay_out(program, pages):
    """Writes all pages as Markdown below `pages`; returns the navigation."""
    for source in [*TOP.glob("*.md"), *TOP.glob("docs/*.md")]:
        text = source.read_text()
        if source.parent == TOP:
            text = re.sub(r"\]\((?:docs/)([^)]*)\)", r"](\1)", text)
        else:
            text = text.replace("](../README.md", "](index.md")
            text = re.sub(r"\]\(\.\./([A-Z]+\.md)", r"](\1", text)
        # README.md is the first page; docs/README.md, the list of the others, is the navigation.
        if source == TOP / "README.md":
            write(pages, "index", text)
        elif source.name != "README.md":
            write(pages, source.stem, text)
    for picture in TOP.glob("docs/*.png"):
        shutil.copy(picture, pages)
    # Links to files that are no pages would lead nowhere.
    for page in pages.glob("*.md"):
        page.write_text(re.sub(r"\[([^]]*)\]\((?!https?:|#)([^)#]*)(#[^)]*)?\)",
            lambda m: m[0] if (pages / m[2]).is_file() else f"{m[1]}", page.read_text()))

    rules = []
    for line in say(program, "rules", "list", "--rules", "recommended").splitlines()[1:]:
        if line.startswith(" "):  # a title goes on
            continue
        name, text = rule_page(say(program, "explain", line.split()[0], "--rules", "recommended"))
        write(pages, f"rule/{name}", text)
        rules.append({name: f"rule/{name}.md"})
    commands = re.findall(r"^  ([a-z]+) ", say(program, "--help"), re.M)
    write(pages, "commands", "# Commands\n\n" + verbatim(say(program, "--help")) + "".join(
        f"\n## {c}\n\n" + verbatim(say(program, c, "--help")) for c in commands))
    write(pages, "hardware", "# Chips\n\nOne in full, with its sources: `rooflint hardware NAME`.\n\n"
        + verbatim(say(program, "hardware")))

    placed = {name for names in CHAPTERS.values() for name in names}
    lost = sorted({p.stem for p in pages.glob("*.md")} - placed - {"commands", "hardware"})
    missing = sorted(n for n in placed if not (pages / (n + ".md")).is_file())
    if lost or missing:
        sys.exit(f"site.py: in no chapter: {lost}; no such page: {missing}")
    navigation = [{chapter: [f"{n}.md" for n in names]} for chapter, names in CHAPTERS.items()]
    navigation.insert(2, {"Rules, one by one": rules})
    navigation[3]["Look"] += ["commands.md", "hardware.md"]
    return navigation


def main():
    program, out = sys.argv[1:]
    with tempfile.TemporaryDirectory() as box:
        box = pathlib.Path(box)
        # JSON is YAML.
        (box / "mkdocs.yml").write_text(json.dumps({
            "site_name": "rooflint",
            "site_description": "a linter for accelerator performance",
            "docs_dir": "pages",
            "site_dir": str(pathlib.Path(out).resolve()),
            "use_directory_urls": False,
            "theme": {
                "name": "material",
                "font": False,
                "features": ["navigation.tabs", "navigation.footer", "content.code.copy"],
                "palette": [
                    {"media": "(prefers-color-scheme: light)", "scheme": "default"},
                    {"media": "(prefers-color-scheme: dark)", "scheme": "slate"},
                ],
            },
            "plugins": ["search"],
            "markdown_extensions": ["tables", "toc", "pymdownx.superfences", "pymdownx.highlight"],
            "validation": {"links": {"anchors": "warn"}},
            "nav": lay_out(str(pathlib.Path(program).resolve()), box / "pages"),
        }))
        subprocess.run([sys.executable, "-m", "mkdocs", "-q", "build", "--strict",
                        "-f", str(box / "mkdocs.yml")], check=True)


if __name__ == "__main__":
    main()
