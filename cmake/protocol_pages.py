#!/usr/bin/env python3
"""protocol_pages.py [--check]: writes the part of docs/protocol-<database>.md that is below its mark from the sheets of
SQL, src/sql/<database>.sql: for each verb its signature and its slots, and how waiters are woken. The statements, and
what is peculiar in them, are in the sheet. PostgreSQL's page is complete; the others have what differs from it. What is
above the mark is written by hand, in at most 500 words. With --check the script writes nothing, and fails where a page
is not current.

In the sheet, prose is comments: below a heading, and in a verb before its first statement. A paragraph ends at an empty
comment, an indented line continues a slot, and docs/PAGE.md#HEADING becomes a link.
"""

import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
COMPLETE = "postgresql"  # the page from which the others differ
DATABASES = [COMPLETE, "mysql", "sqlite"]
MOST_WORDS = 500
MARK = "<!-- All below is written by cmake/protocol_pages.py from src/sql/{}.sql: change that, and run it. -->"
SLOTS = ["doing", "does", "locks", "clock", "no row", "reply lost", "rules", "answered by", "none"]
# And what need not be said on the complete page.
SHOWN = {
    "locks": ["none"],
    "clock": ["after the lock", "in the row's expression", "not read"],
    "no row": [],
    "reply lost": [],
}
WITH_PROSE = ["Waiting in turn"]  # sections
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
    return "".join(f"{markdown(' '.join(p.splitlines()))}\n\n" for p in "\n".join(comments).strip().split("\n\n"))


class verb:
    """From the line of its name to the next verb."""

    def __init__(self, signature):
        self.signature, self.name = signature, signature.partition("(")[0]
        self.slots, self.prose, self.in_statements = {}, [], False

    def add(self, line):
        slot = SLOT.match(line)
        if self.in_statements or STATEMENT.match(line):
            self.in_statements = True
        elif slot:
            self.last = slot[1]
            self.slots[self.last] = slot[2]
        elif line.startswith("--   ") and not self.prose:
            self.slots[self.last] += " " + line[5:]
        elif line:
            self.prose.append(line[3:])

    def differs(self, other, key):
        own = self.slots.get(key)
        usual = [other.slots.get(key)] if other else SHOWN.get(key, [])
        return own not in [None, *usual] and own not in usual

    def text(self, other):
        """What other, the verb of the complete page, does not say. Empty where that is nothing."""
        out = "" if other and other.signature == self.signature else f"`{self.signature}`\n\n"
        if self.differs(other, "does"):
            does = markdown(self.slots["does"])
            out += f"{does[0].upper()}{does[1:]}.\n\n"
        slots = [f"*{key.capitalize()}*: {markdown(self.slots[key])}." for key in SHOWN if self.differs(other, key)]
        out += " ".join(slots)
        return out and f"### {self.name}\n\n{out.rstrip()}\n\n"


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

    def text(self, complete):
        shown, equal, lacking = "", [], []
        for v in self.verbs:
            other = complete.get(v.name)
            text = "" if "none" in v.slots else v.text(other)
            shown += text
            if "none" in v.slots:
                lacking.append(f"{v.name} ({markdown(v.slots['none'])})")
            elif not text:
                equal.append(f"[{v.name}](protocol-{COMPLETE}.md#{anchor_of(v.name)})")
        out = f"## {self.title}\n\n{paragraphs(self.prose) if self.title in WITH_PROSE else ''}"
        out += f"As on PostgreSQL: {', '.join(equal)}.\n\n" if equal else ""
        out += f"Absent: {'; '.join(lacking)}.\n\n" if lacking else ""
        return out + shown


def sections_of(database):
    """Without what is above the first heading: how to read the statements."""
    out = [section("")]
    for line in (SOURCE / "src" / "sql" / f"{database}.sql").read_text().splitlines():
        heading = HEADING.match(line)
        if heading:
            out.append(section(heading[1]))
        else:
            out[-1].add(line)
    for prose in [s.prose for s in out] + [v.prose for s in out for v in s.verbs]:
        markdown(" ".join(prose))  # its links lead somewhere
    return out[1:]


def how_to_read(database):
    sheet = f"[src/sql/{database}.sql](../src/sql/{database}.sql)"
    out = f"## The verbs\n\n{sheet} has the statements, with the reasons for what is peculiar in each; `rowlock sql VERB` prints them.\n"
    if database == COMPLETE:
        out += "A verb is shown with its arguments and the columns of its answer. It locks nothing where it does not say so.\nWhere no *clock* is named, it is read after the lock, in the row's expression, or not at all. *No row* says what an answer without a row means.\n\n"
    else:
        out += f"Arguments, columns and whatever else is not said here are as on [PostgreSQL](protocol-{COMPLETE}.md#the-verbs).\n\n"
    return out


def generated(database):
    complete = {}
    if database != COMPLETE:
        complete = {v.name: v for s in sections_of(COMPLETE) for v in s.verbs if "none" not in v.slots}
    return how_to_read(database) + "".join(s.text(complete) for s in sections_of(database)).rstrip() + "\n"


def page_of(database, before):
    mark = MARK.format(database)
    own, found, _ = before.partition(mark)
    words = len(re.findall(r"\w\S*", own))
    if not found:
        sys.exit(f"docs/protocol-{database}.md lacks the line {mark}")
    if words > MOST_WORDS:
        sys.exit(f"docs/protocol-{database}.md has {words} words of its own, and may have {MOST_WORDS}")
    return f"{own}{mark}\n\n{generated(database)}"


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
