#!/usr/bin/env python3
"""Opens reports from disk in headless Chromium and uses them as a reader would.

    python3 scripts/check_report.py --runner target/debug/runner results/office results/two_moons

For each folder the report is written by the runner, opened, compared with table.csv, sorted and switched; the
browser's console has to stay empty and nothing may be loaded. One more page has markup in the names of its
domains. Needs Chromium and chromedriver (Debian: chromium, chromium-driver) and nothing but Python's standard library.
"""

import argparse
import base64
import csv
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

MARKUP = "<script>window.hacked=1</script>"


class Browser:
    """A session of WebDriver (https://www.w3.org/TR/webdriver2/)."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self.profile = tempfile.TemporaryDirectory()
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL)
        try:
            self.wait_until_ready()
            arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={self.profile.name}"]
            options = {"goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}}
            answer = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": options}})
        except BaseException:
            self.driver.terminate()
            raise
        self.session = f"/session/{answer['sessionId']}"

    def wait_until_ready(self):
        for _ in range(150):
            try:
                if self.ask("GET", "/status")["ready"]:
                    return
            except OSError:
                time.sleep(0.2)
        raise SystemExit("chromedriver does not answer")

    def ask(self, verb, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=verb)
        with urllib.request.urlopen(request, timeout=120) as response:
            return json.load(response)["value"]

    def open(self, path):
        self.ask("POST", f"{self.session}/url", {"url": path.resolve().as_uri()})

    def run(self, script, *arguments):
        return self.ask("POST", f"{self.session}/execute/sync", {"script": script, "args": list(arguments)})

    def protocol(self, command, **parameters):
        return self.ask("POST", f"{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def look(self, width, theme):
        self.protocol("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.protocol("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def picture(self, path, height=None):
        whole = self.protocol("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": whole["width"], "height": height or whole["height"], "scale": 1}
        shot = self.protocol("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def complaints(self):
        return self.ask("POST", f"{self.session}/se/log", {"type": "browser"})

    def close(self):
        try:
            self.ask("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.profile.cleanup()


READ = """
const table = document.querySelectorAll("table.results")[arguments[0]];
return [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
"""
PAPER = """
const table = document.querySelectorAll("table.results")[arguments[0]];
return [...table.querySelectorAll("td")].map((cell) => [cell.dataset.value, cell.dataset.difference, cell.title]);
"""
SORT = """
const table = document.querySelectorAll("table.results")[arguments[0]];
table.tHead.rows[0].cells[arguments[1]].querySelector("button").click();
"""
VIEWS = """
const buttons = document.querySelectorAll("section.folder")[arguments[0]].querySelectorAll(".views button");
return [...buttons].map((button) => button.dataset.view);
"""
SWITCH = "document.querySelectorAll('section.folder')[arguments[0]].querySelector(`.views [data-view=${arguments[1]}]`).click();"


def written(csv_file):
    """The rows of table.csv with names as the page shows them."""
    with open(csv_file, newline="", encoding="utf-8") as file:
        return [[row[0].replace("->", " → "), *row[1:]] for row in csv.reader(file)]


def shown(browser, place):
    rows = browser.run(READ, place)
    return [[name.replace("▴", "").replace("▾", "") for name in rows[0]], *rows[1:]]


def check_table(browser, place, folder):
    expected = written(folder / "table.csv")
    assert shown(browser, place) == expected, f"{folder}: the page's table is not table.csv"
    values = [row for row in expected[1:] if row[0] != "mean"]
    blocks = sum(row[0] == "mean" for row in expected)

    browser.run(SORT, place, 1)
    if blocks <= 1:
        falling = [float(row[1]) for row in shown(browser, place)[1:] if row[0] != "mean" and row[1]]
        assert falling == sorted((float(row[1]) for row in values if row[1]), reverse=True), f"{folder}: not sorted"
        assert blocks == 0 or shown(browser, place)[-1][0] == "mean", f"{folder}: the mean has moved"
    browser.run(SORT, place, 1)
    if blocks <= 1:
        rising = [float(row[1]) for row in shown(browser, place)[1:] if row[0] != "mean" and row[1]]
        assert rising == sorted(rising), f"{folder}: not sorted upwards"
    browser.run(SORT, place, 1)
    assert shown(browser, place) == expected, f"{folder}: the third click does not restore the order"

    for view in browser.run(VIEWS, place)[1:]:
        browser.run(SWITCH, place, view)
        assert shown(browser, place) != expected, f"{folder}: the view {view} shows nothing else"
        numbers = [text for row in shown(browser, place)[1:] for text in row[1:] if text]
        assert all(abs(float(text)) < 1000 for text in numbers), f"{folder}: {view} is not numbers"
    for value, difference, hint in browser.run(PAPER, place):
        if difference:
            paper = float(hint.removeprefix("paper: "))
            assert abs(float(value) - paper - float(difference)) < 0.0601, f"{folder}: {value} {difference} {hint}"
    browser.run(SWITCH, place, "value")
    assert shown(browser, place) == expected, f"{folder}: the first view does not come back"


def check_page(browser, folders):
    browser.look(1280, "light")
    browser.open(folders[0] / "report.html")
    for place, folder in enumerate(folders):
        check_table(browser, place, folder)
    loaded = browser.run("return performance.getEntriesByType('resource').map((entry) => entry.name);")
    assert all(name.startswith("data:") for name in loaded), f"the page loads {loaded}"
    for width in [1280, 390]:
        browser.look(width, "light")
        overflow = browser.run("return document.documentElement.scrollWidth - innerWidth;")
        assert overflow <= 0, f"the page is {overflow} pixels too wide for {width}"
    complaints = browser.complaints()
    assert not complaints, f"the console says {complaints}"


def markup_folder(runner, folder):
    """Results of domains whose names are markup."""
    for name, shift in [("first", 0.0), ("second", 0.3)]:
        lines = ["width,height,label"]
        for sample in range(60):
            label = sample % 2
            lines.append(f"{label + 0.01 * (sample * 7 % 31) + shift:.3f},{0.02 * (sample * 5 % 17):.3f},{label}")
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    config = folder / "markup.toml"
    config.write_text(
        f'seed = 1\ntrials = 2\n[data.domains."{MARKUP}"]\nfeatures = "first.csv"\n[data.domains."second & <b>last</b>"]\n'
        'features = "second.csv"\n[draw]\nsource_per_class = 10\n[methods.1nn]\n[methods.ot-it]\ntitle = "<i>OT</i> & co"\n'
    )
    subprocess.run([runner, config, "--out", folder / "out", "-q"], check=True, stdout=subprocess.DEVNULL)
    return folder / "out"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path, help="folders of results; each is opened alone, then all on one page")
    parser.add_argument("--runner", default="target/debug/runner", help="the program")
    parser.add_argument("--pictures", type=pathlib.Path, help="writes pictures of each page to this folder")
    arguments = parser.parse_args()
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
    runner = pathlib.Path(arguments.runner).resolve()
    if not runner.is_file():
        sys.exit(f"{runner} is not there: build it with `cargo build -p runner`, or name the program with --runner FILE")
    browser = Browser()
    try:
        pages = [[folder] for folder in arguments.folders]
        if len(pages) > 1:
            pages.append(arguments.folders)
        for folders in pages:
            subprocess.run([runner, "report", *folders], check=True, stdout=subprocess.DEVNULL)
            check_page(browser, folders)
            for width in [1280, 390] if arguments.pictures else []:
                for theme in ["light", "dark"]:
                    browser.look(width, theme)
                    name = "all" if len(folders) > 1 else folders[0].name
                    browser.picture(arguments.pictures / f"{name}_{width}_{theme}.png")
        if len(pages) > 1:
            # The last page replaced that of the first folder.
            subprocess.run([runner, "report", arguments.folders[0]], check=True, stdout=subprocess.DEVNULL)
        with tempfile.TemporaryDirectory() as folder:
            out = markup_folder(runner, pathlib.Path(folder))
            check_page(browser, [out])
            assert browser.run("return window.hacked === undefined && document.querySelectorAll('td i, th b, th i').length === 0;")
            assert browser.run("return document.scripts.length;") == 1, "a name has become a script"
    finally:
        browser.close()
    print(f"The reports of {', '.join(map(str, arguments.folders))} are as they should be.")


if __name__ == "__main__":
    main()
