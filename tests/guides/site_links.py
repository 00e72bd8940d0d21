#!/usr/bin/env python3
"""site_links.py <folder>: every link of the site leads to a file in it and, after "#", to an id in that file, and no page
has the browser fetch anything from elsewhere. Exits with 1 after naming the faults.

Inside reference/ the ids are Doxygen's business: it links to headings of lists that it then leaves out."""

import html.parser
import pathlib
import re
import sys
import urllib.parse


class page(html.parser.HTMLParser):
    """What a page links to, what it loads, and the ids that can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.ids = [], [], set()
        self.feed(path.read_text(errors="replace"))

    def handle_starttag(self, tag, attrs):
        has = dict(attrs)
        for name in ("id", "name"):
            if has.get(name):
                self.ids.add(has[name])
        if has.get("href"):
            (self.loads if tag == "link" else self.links).append(has["href"])
        self.loads += [has[name] for name in ("src", "data", "poster") if has.get(name)]


def main():
    top = pathlib.Path(sys.argv[1]).resolve()
    pages = {path: page(path) for path in sorted(top.rglob("*.html"))}
    if not pages:
        sys.exit(f"{top} has no page")
    reference = top / "reference"
    faults, checked = [], 0

    def check(path, link):
        nonlocal checked
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            return
        checked += 1
        target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
        if parts.path.startswith("/"):
            faults.append(f"{path.relative_to(top)}: {link} leads out of the site")
            return
        if target.is_dir():
            target /= "index.html"
        if top not in target.parents or not target.is_file():
            faults.append(f"{path.relative_to(top)}: {link} leads to nothing")
        elif reference in path.parents and reference in target.parents:
            return
        elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].ids:
            faults.append(f"{path.relative_to(top)}: {link} leads to a heading that is not there")

    for path, each in pages.items():
        for link in each.links:
            check(path, link)
        for link in each.loads:
            parts = urllib.parse.urlsplit(link)
            if parts.netloc or parts.scheme not in ("", "data", "javascript"):
                faults.append(f"{path.relative_to(top)}: loads {link}")
            check(path, link)

    for style in sorted(top.rglob("*.css")):
        for link in re.findall(r"(?:url\(|@import\s)\s*[\"']?((?:https?:)?//[^\"')\s]+)", style.read_text(errors="replace")):
            faults.append(f"{style.relative_to(top)}: loads {link}")

    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{checked} links of {len(pages)} pages")
    sys.exit(1 if faults else 0)


main()
