#!/usr/bin/env python3
"""prose.py FILE...: refuses turns of phrase that a reader has to read twice, in pages and in the comments of sources.

CONTRIBUTING.md says how we write. prose.examples, beside this file, has a sentence to refuse and, after a tab, one to write
in its place; each run checks first that all of the former are refused, and none of the latter.
"""
import pathlib
import re
import sys

# What is refused, and what to write.
PATTERNS = [(re.compile(pattern), advice) for pattern, advice in [
    (r"^(Who|Whoever|What|Whatever) (?!.*\?$)", "begin with a noun: the waiter, the client, the holder, the operator"),
    (r"^(Those|That) (who|that|which|one|of|in|on|with|for|before|after)\b", "begin with a noun"),
    (r"^(One (that|who)|Such an?|Nothing tells|For one alone)\b", "begin with a noun"),
    (r"^[Tt]hat one it\b|^what \w+ have\b|\b(have|has|work|works) that (wait|listen|work)", "put the noun first"),
    (r"\b(some|any|no|every)body\b|\b(some|any)one('s)?\b(?! of)", "name the holder, the waiter, the client, the operator"),
    (r"\b(is|are|was|were|be|been|being) (told|had)\b|\btells (who|of)\b|\btold (of|nobody)\b", "notified, reported, acquired"),
    (r"\blet(s|ting)? go\b", "release"),
    (r"\b[Cc]ounts by\b|\bkeeps its end\b", "measured by; the expiry does not change"),
    (r"\bas long as that\b|\bthe same of all\b|[,;] else\b", "say which, and what otherwise"),
    (r"\bof (the caller's|yours|theirs)\b", "the caller's own, your own"),
    (r"\bstands? (in|behind)\b|\bbehind each\b|\bthan (it|they) (was|were|is|are) to\b", "is in, comes after, past its deadline"),
    (r", which (its \w+ are|it must|had)\b|\bwith what another\b|\bare faster to\b", "a sentence of its own"),
    (r"\bare apart\b|\bnot there\b|\bwrong by hand\b|\bshows nowhere\b|\btoo much; write\b", "say it plainly"),
    (r"^Beside\b|\bleft to chance\b|\bmust not cost\b|\bnot work that\b", "say it plainly"),
]]
# For readers of pages and public headers. In src/ a connection has the lock of a file, and a table has the name.
PUBLIC = [(re.compile(pattern), advice) for pattern, advice in [
    (r"\bwho (has|have|had|holds?|wants?|waits?)\b", "name the holder or the waiter"),
    (r"\b(has|have|had|gets?|got) (the (name|lock|lease)|it alone|the name alone)\b", "hold, acquire, be granted"),
    (r"\b(of|by|with) which\b", "make two sentences, or put the noun first"),
]]


# Where the comments of a source begin; in include/ only those that Doxygen publishes.
COMMENTS = {".hpp": r"(?<!:)//[/!]?<? (.*)", ".cpp": r"(?<!:)//[/!]?<? (.*)", ".sql": r"^-- (.*)"}


def is_public(path: pathlib.Path):
    return path.suffix == ".md" or "include" in path.parts


def blocks(path: pathlib.Path):
    """Yields (line, text) of each paragraph, item, cell of a table and comment; headings and code are left out."""
    mark = r"///<?(.*)" if "include" in path.parts else COMMENTS.get(path.suffix)
    start, text, fenced = 0, "", False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        follows_code = False
        if mark:
            comment = re.search(mark, line)
            follows_code = bool(comment and line[:comment.start()].strip())
            line = comment[1] if comment and not comment[1].startswith("     ") else ""
        elif line.startswith("```"):
            fenced, line = not fenced, ""
        line = "" if fenced or line.startswith("#") else line.strip()
        begins = re.match(r"([-*|]|\d+\.|\\warning" + (r"|[a-z ]+:" if path.suffix == ".sql" else "") + ") ?", line)
        if text and (not line or begins or follows_code):
            yield start, text
            text = ""
        if line.startswith("|"):
            yield from ((number, cell.strip()) for cell in re.split(r"(?<!\\)\|", line))
        elif line:
            start, text = (start, text + " " + line) if text else (number, line[begins.end():] if begins else line)
    if text:
        yield start, text


def refused(text: str, patterns):
    """Yields (sentence, advice) for each sentence with a turn that is refused."""
    text = re.sub(r"`[^`]*`", "CODE", re.sub(r"\[[^]]*\]\([^)]*\)", "LINK", text)).replace("**", "")
    for sentence in re.split(r"(?<=[.!?])\)? +(?=[A-Z\"(])", text):
        for pattern, advice in patterns:
            if pattern.search(sentence):
                yield sentence, advice


def check_examples(path: pathlib.Path):
    for line in path.read_text().splitlines():
        bad, good = line.split("\t")
        if not list(refused(bad, PATTERNS + PUBLIC)):
            sys.exit(f"{path}: not refused: {bad}")
        for _, advice in refused(good, PATTERNS + PUBLIC):
            sys.exit(f"{path}: refused ({advice}): {good}")


def main():
    check_examples(pathlib.Path(__file__).with_suffix(".examples"))
    faults = [f"{path}:{line}: {advice}: {sentence}" for path in map(pathlib.Path, sys.argv[1:])
              for line, text in blocks(path)
              for sentence, advice in refused(text, PATTERNS + (PUBLIC if is_public(path) else []))]
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
