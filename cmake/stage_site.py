#!/usr/bin/env python3
"""stage_site.py <sources> <folder> [<program>]: writes there what mkdocs makes the site of.

These are the pages, in the places that they have in the sources, so that their links work in both, the files that they
link to, what the theme lacks, and mkdocs.yml, whose menu also gets the pages that it does not name, the manual, as the program
`rowlock` prints it, and the reference. mkdocs does not know what follows a block's language (```cpp for postgresql), so that is
left out.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

ROOT_PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def without_blocks(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def linked_files(source, page):
    for link in LINK.findall(without_blocks((source / page).read_text())):
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            continue
        target = (source / page).parent.joinpath(link.partition("#")[0]).resolve()
        if not target.exists():
            sys.exit(f"{page} links to {link}, which is not there")
        yield target.relative_to(source)


def stage_page(source, to, page):
    text = re.sub(r"^```([a-z]+) .*$", r"```\1", (source / page).read_text(), flags=re.M)
    (to / page).parent.mkdir(parents=True, exist_ok=True)
    (to / page).write_text(text)


def page_of(source, target):
    """The page that a link to it shows: itself, or that of a folder. None: it is none."""
    names = ["."] if target.suffix == ".md" else ["index.md", "README.md"]
    return next((target / name for name in names if (source / target / name).is_file()), None)


def stage_folder(source, to, folder):
    """A folder without a page of its own gets a list of its files."""
    names = sorted(each.name for each in (source / folder).iterdir() if each.is_file())
    (to / folder).mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copy(source / folder / name, to / folder / name)
    items = "".join(f"- [`{name}`]({name})\n" for name in names)
    (to / folder / "index.md").write_text(f"# {folder}\n\n{items}")


def stage_file(source, to, target):
    if (source / target).is_dir():
        stage_folder(source, to, target)
    else:
        (to / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / target, to / target)


def stage_manual(to, program):
    """A page for the program and for each of its subcommands; yields their places."""
    def help_of(subcommand):
        return subprocess.run([program, "help", *subcommand], check=True, capture_output=True, text=True).stdout

    names = re.findall(r"rowlock-(\w+)\(1\)", help_of([]).rpartition("SEE ALSO")[2])
    (to / "manual").mkdir()
    for subcommand in [[]] + [[name] for name in names]:
        name = "-".join(["rowlock", *subcommand])
        sections = re.split(r"^([A-Z][A-Z ]+)\n", help_of(subcommand), flags=re.M)[1:]
        blocks = [f"## {title}\n\n```text\n{textwrap.dedent(text).rstrip()}\n```\n" for title, text in zip(sections[::2], sections[1::2])]
        (to / "manual" / f"{name}.md").write_text("\n".join([f"# {name}\n", *blocks]))
        yield f"manual/{name}.md"


def menu(source, pages, manual):
    """mkdocs.yml, whose menu also gets the pages that it does not name: guides after its last one, others at its end."""
    lines = (source / "mkdocs.yml").read_text().splitlines()
    name = re.compile(r"( +- ).*: (\S+\.md)$")
    named = {found[2] for found in map(name.match, lines) if found}
    for page in named - {str(p) for p in pages}:
        sys.exit(f"mkdocs.yml names {page}, which is not there")
    last = max(n for n, line in enumerate(lines) if (found := name.match(line)) and found[2].startswith("docs/"))
    guides, others = [], []
    for page in pages:
        if str(page) not in named:
            is_guide = page.parts[0] == "docs"
            indent = name.match(lines[last])[1] if is_guide else "  - "
            title = json.dumps((source / page).read_text().splitlines()[0].lstrip("# "))
            (guides if is_guide else others).append(f"{indent}{title}: {page}")
    if manual:
        others += ["  - Manual of the command:"] + [f"      - {page}" for page in manual]
    lines[last + 1 : last + 1] = guides
    return "\n".join(lines + others + ["  - Reference: reference/index.html", "docs_dir: pages", "site_dir: html", ""])


def main():
    source, to = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    shutil.rmtree(to, ignore_errors=True)
    pages = [path.relative_to(source) for path in sorted((source / "docs").glob("*.md"))]
    pages += [pathlib.Path(name) for name in ROOT_PAGES if (source / name).exists()]
    for page in pages:  # and those that join them meanwhile
        stage_page(source, to / "pages", page)
        for target in linked_files(source, page):
            linked = page_of(source, target)
            if linked is None:
                stage_file(source, to / "pages", target)
            elif linked not in pages:
                pages.append(linked)
    shutil.copytree(source / "cmake" / "site_theme", to / "theme")
    manual = [page for program in sys.argv[3:] for page in stage_manual(to / "pages", program)]
    (to / "mkdocs.yml").write_text(menu(source, pages, manual))


main()
