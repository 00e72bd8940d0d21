#!/usr/bin/env python3
"""protocol_pages.py [--check]: writes the part of docs/protocol-<database>.md that is below its mark from
src/sql/<database>.sql: its sheet of SQL, with what it says of each verb. What is above the mark is written by hand, in at
most 500 words. With --check it writes nothing, and fails where a page is not current.

In the sheet, prose is comments: below a heading, and in a verb before its first statement. A paragraph ends at an empty
comment, an indented line continues a slot, and docs/PAGE.md#HEADING becomes a link.
"""

import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
DATABASES = ["postgresql", "mysql", "sqlite"]
MOST_WORDS = 500
MARK = "<!-- From here on cmake/protocol_pages.py writes this page from src/sql/{}.sql: change that, and run it. -->"
SLOTS = ["doing", "does", "locks", "clock", "no row", "reply lost", "rules", "answered by", "none"]
HEADING = re.compile(r"-- ---- (.*?) -+$")
SLOT = re.compile(rf"-- ({'|'.join(SLOTS)}): (.*)")
STATEMENT = re.compile(r"-- (read|write|then|read back|batch|batch \w+|batch read back|making): ?|[^-]")


def anchor_of(heading):
    return re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-")


def heading_of(page, anchor):
    text = re.sub(r"^```.*?^```", "", (SOURCE / "docs" / page).read_text(), flags=re.M | re.S)
    found = next((h for h in re.findall(r"^#+ (.*)", text, re.M) if anchor_of(h) == anchor), None)
    return found or sys.exit(f"docs/{page} has no heading #{anchor}")


def link(found):
    page, anchor = found[1], found[2]
    return f"[{heading_of(page, anchor)}]({page}#{anchor})" if anchor else f"[{page}]({page})"


def markdown(text):
    """Of a comment. What is in `…` stays as it is."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*|])", r"\\\1", p).replace("<", "&lt;") for p in parts[::2]]
    return re.sub(r"docs/([a-z-]+\.md)(?:#([\w-]+))?", link, "`".join(parts))


def paragraphs(comments):
    """Lines that are indented are shown as they are."""
    shown, out = [], []
    for line in comments + [""]:
        if line.startswith("  "):
            shown.append(line)
            continue
        if shown:
            out += ["```text\n" + "\n".join(shown) + "\n```", ""]
            shown = []
        if line and out and out[-1]:
            out[-1] += " " + line
        elif line or (out and out[-1]):
            out.append(line)
    return "".join(f"{p if p.startswith('```') else markdown(p)}\n\n" for p in out if p)


def sentence(text):
    return f"{text[0].upper()}{text[1:]}.\n\n" if text else ""


class verb:
    """From the line of its name to the next verb."""

    def __init__(self, signature):
        self.signature, self.name = signature, signature.partition("(")[0]
        self.slots, self.prose, self.statements = [], [], []

    def add(self, line):
        slot = SLOT.match(line)
        if self.statements or STATEMENT.match(line):
            self.statements.append(line)
        elif slot:
            self.slots.append([slot[1], slot[2]])
        elif line.startswith("--   ") and not self.prose:
            self.slots[-1][1] += " " + line[5:]
        elif line:
            self.prose.append(line[3:])

    def slot(self, key):
        return next((markdown(value) for name, value in self.slots if name == key), None)

    def text(self):
        does = sentence(self.slot("does"))
        slots = "".join(f"- *{key.capitalize()}*: {markdown(value)}\n" for key, value in self.slots if key != "does")
        code = "\n".join(self.statements).rstrip()
        return (
            f"### {self.name}\n\n`{self.signature}`\n\n{does}{slots}{bool(slots) * chr(10)}{paragraphs(self.prose)}"
            f"```sql\n{code}\n```\n\n"
        )


class section:
    def __init__(self, title):
        self.title, self.prose, self.verbs = title, [], []

    def add(self, line):
        if line.startswith("-- name: "):
            self.verbs.append(verb(line[9:]))
        elif self.verbs:
            self.verbs[-1].add(line)
        else:
            self.prose.append(line[3:])

    def text(self):
        shown = "".join(v.text() for v in self.verbs if v.slot("none") is None)
        return f"## {self.title}\n\n{paragraphs(self.prose)}{shown}"


def sections_of(sheet):
    out = [section("The sheet")]
    for line in sheet.splitlines():
        heading = HEADING.match(line)
        if heading:
            out.append(section(heading[1]))
        else:
            out[-1].add(line)
    return out


def row(v):
    lacking = v.slot("none")
    if lacking:
        return f"| {v.name} | lacking: {lacking} | |\n"
    return f"| [{v.name}](#{anchor_of(v.name)}) | {v.slot('does') or ''} | {v.slot('locks') or ''} |\n"


def generated(sheet):
    first, *others = sections_of(sheet)
    rows = "".join(row(v) for s in others for v in s.verbs if not v.name.startswith("enlisted."))
    return first.text() + f"| verb | does | locks |\n|---|---|---|\n{rows}\n" + "".join(s.text() for s in others).rstrip() + "\n"


def page_of(database, before):
    mark = MARK.format(database)
    own, found, _ = before.partition(mark)
    words = len(re.findall(r"\w\S*", own))
    if not found:
        sys.exit(f"docs/protocol-{database}.md lacks the line {mark}")
    if words > MOST_WORDS:
        sys.exit(f"docs/protocol-{database}.md has {words} words of its own, and may have {MOST_WORDS}")
    return f"{own}{mark}\n\n{generated((SOURCE / 'src' / 'sql' / f'{database}.sql').read_text())}"


def main():
    failed = False
    for database in DATABASES:
        path = SOURCE / "docs" / f"protocol-{database}.md"
        before = path.read_text()
        after = page_of(database, before)
        if sys.argv[1:] == ["--check"]:
            if after != before:
                print(f"docs/{path.name} is not current: run cmake/protocol_pages.py", file=sys.stderr)
                failed = True
        elif after != before:
            path.write_text(after)
    sys.exit(failed)


main()
