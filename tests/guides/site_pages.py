#!/usr/bin/env python3
"""site_pages.py <folder> [<screenshots>]: opens every page of the site in Chromium, at two widths, light and dark.

It names the faults and exits with 1 where a page is wider than its window, an image is broken or wider than the page, a page
does not follow the system's palette, something cannot be loaded or is loaded from another host, a script throws, or the
search finds nothing. With a second folder it leaves screenshots of the guides there. Exits with 77 without Chromium."""

import base64
import contextlib
import functools
import http.server
import itertools
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

WIDTHS = (1280, 400)
PALETTES = ("light", "dark")
SECONDS = 60  # for what the browser does

# The reference scrolls in a frame of its own. A table or a block of code that scrolls by itself makes no page wide.
LOOK = """(async () => {
  await Promise.race([new Promise(requestAnimationFrame), new Promise(drawn => setTimeout(drawn, 1000))]);
  await Promise.all([...document.images].map(i => i.decode().catch(() => {})));
  const page = document.querySelector('#doc-content') || document.documentElement;
  const wide = page.scrollWidth - page.clientWidth;
  const outside = wide <= 0 ? [] : [...document.body.querySelectorAll('*')]
      .filter(e => e.getBoundingClientRect().right > window.innerWidth + 1)
      .map(e => e.tagName.toLowerCase() + (e.id ? '#' + e.id : '') + [...e.classList].map(c => '.' + c).join(''));
  const images = [...document.images].filter(i => i.checkVisibility());
  const solid = [document.body, document.documentElement].map(e => getComputedStyle(e).backgroundColor)
      .find(c => !/, 0\\)$/.test(c)) || 'rgb(255, 255, 255)';
  const shade = solid.match(/[\\d.]+/g).slice(0, 3).reduce((sum, each) => sum + Number(each), 0) / 3;
  const inverted = getComputedStyle(document.documentElement).filter.includes('invert');
  return {
    wide, outside: outside.slice(0, 3),
    broken: images.filter(i => !i.complete || i.naturalWidth === 0).map(i => i.src),
    large: images.filter(i => i.parentElement.clientWidth > 0 && i.width > i.parentElement.clientWidth + 1).map(i => i.src),
    shade: inverted ? 255 - shade : shade,
  };
})()"""

# Nothing is measured half-way.
STILL = """addEventListener('DOMContentLoaded', () => {
  const style = document.createElement('style');
  style.textContent = '*, ::before, ::after { transition: none !important; animation: none !important; }';
  document.head.append(style);
})"""


class quiet_server(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle(self):
        # The browser goes to the next page when it likes.
        with contextlib.suppress(ConnectionError):
            super().handle()


class browser:
    """Chromium, which is spoken to through two pipes."""

    def __init__(self, program, profile):
        (their_in, self.out), (self.into, their_out) = os.pipe(), os.pipe()

        def as_3_and_4():
            # Where the first would be overwritten by the second, it is moved out of the way.
            reading, writing = os.dup(their_in), os.dup(their_out)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--disable-background-networking", f"--user-data-dir={profile}", "--remote-debugging-pipe"],
            preexec_fn=as_3_and_4, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)  # fmt: skip
        os.close(their_in)
        os.close(their_out)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable")
        # A page that believes itself in the background draws no frames and gets no keys.
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.call("Page.addScriptToEvaluateOnNewDocument", source=STILL)

    def message(self):
        while b"\0" not in self.buffer:
            if not select.select([self.into], [], [], SECONDS)[0]:
                sys.exit("Chromium does not answer")
            more = os.read(self.into, 1 << 20)
            if not more:
                sys.exit("Chromium has ended")
            self.buffer += more
        one, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def evaluate(self, script):
        return self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)["result"].get("value")

    def open(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())

    def resize(self, width):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)

    def prefer(self, palette):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": palette}])

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def close(self):
        # It ends when this pipe does.
        os.close(self.out)
        try:
            self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def faults_of_loading(events, host):
    for event in events:
        of = event.get("params", {})
        if event["method"] == "Network.requestWillBeSent":
            url = urllib.parse.urlsplit(of["request"]["url"])
            if url.scheme not in ("data", "blob") and url.netloc != host:
                yield f"asks another host: {of['request']['url']}"
        elif event["method"] == "Network.responseReceived" and of["response"]["status"] >= 400:
            # A browser asks for this one by itself.
            if not of["response"]["url"].endswith("/favicon.ico"):
                yield f"cannot load {of['response']['url']}"
        elif event["method"] == "Runtime.exceptionThrown":
            yield f"a script throws: {of['exceptionDetails'].get('exception', {}).get('description')}"


def faults_of_look(seen, palette):
    if seen["wide"] > 0:
        yield f"is {seen['wide']} pixels too wide: {', '.join(seen['outside'])}"
    for image in seen["broken"]:
        yield f"has a broken image: {image}"
    for image in seen["large"]:
        yield f"has an image wider than its column: {image}"
    if (seen["shade"] < 128) != (palette == "dark"):
        yield f"is not {palette}"


def waits_for(chromium, condition):
    end = time.monotonic() + SECONDS
    while not chromium.evaluate(condition):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def has_search(chromium, url):
    """Whether the page, which takes a search from its address, lists what it found."""
    chromium.resize(WIDTHS[0])
    chromium.open(f"{url}?q=fencing")
    return waits_for(chromium, "document.querySelector('.md-search-result__item a') !== null")


def check(chromium, top, host, screenshots):
    # What Doxygen's search shows in a frame is no page.
    faults, pages = [], sorted(page for page in top.rglob("*.html") if page.parent != top / "reference" / "search")
    for number, path in enumerate(pages):
        name = path.relative_to(top).as_posix()
        # Half of the pages are loaded in each palette. The other must come without loading them again.
        palettes = PALETTES if number % 2 else PALETTES[::-1]
        chromium.prefer(palettes[0])
        chromium.open(f"http://{host}/{urllib.parse.quote(name)}")
        for palette, width in itertools.product(palettes, WIDTHS):
            chromium.prefer(palette)
            chromium.resize(width)
            seen = chromium.evaluate(LOOK)
            faults += [f"{name}, {width} pixels, {palette}: {each}" for each in faults_of_look(seen, palette)]
            if screenshots and "reference/" not in name:
                chromium.screenshot(screenshots / f"{re.sub('[/.]', '-', name)}-{width}-{palette}.png")
        faults += [f"{name}: {each}" for each in faults_of_loading(chromium.events, host)]
    if not has_search(chromium, f"http://{host}/index.html"):
        faults.append("index.html: the search finds nothing")
    print(f"{len(pages)} pages, {len(WIDTHS) * len(PALETTES)} views of each")
    return list(dict.fromkeys(faults)) if pages else [f"{top} has no page"]


def main():
    program = shutil.which("chromium")
    if not program:
        print("Skipped: chromium is not installed.", file=sys.stderr)
        sys.exit(77)
    top = pathlib.Path(sys.argv[1]).resolve()
    screenshots = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if screenshots:
        screenshots.mkdir(parents=True, exist_ok=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(quiet_server, directory=str(top)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        chromium = browser(program, profile)
        try:
            faults = check(chromium, top, f"127.0.0.1:{server.server_port}", screenshots)
        finally:
            chromium.close()
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)


main()
