"""How the report grows with the number of groups, in Chromium, beside the report of six groups.

Run it with ``.venv/bin/python benchmarks/report.py``; it needs Chromium and Playwright, takes about a minute, and
prints a Markdown table. Groups are race by sex by schooling, made up from a fixed seed. Script time is Chromium's own
count of time spent in scripts until the page has been drawn; nodes are counted before anything is opened.
``--pictures docs/images`` takes the screenshots of the documentation instead: of a report and of the web app.
"""

from __future__ import annotations

import csv
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from evenhand import Audit, audit_counts
from evenhand.cli import evenhand as command
from evenhand.examples import compas, rows

RACES = (
    *("White", "Black or African American", "American Indian", "Alaska Native", "American Indian and Alaska Native"),
    *("Asian", "Native Hawaiian and Pacific Islander", "Some other race", "Two or more races"),
)
WIDE, HIGH = 1280, 900


def intersections(years: int) -> Audit:
    """An audit of 9 races of 2 sexes, some years of school, and their intersections."""
    rng = np.random.default_rng(7)
    counts = {
        (f"{race}, {sex}", f"{year} years of school"): tuple(
            rng.multinomial(int(rng.lognormal(4, 1.6)) + 1, rng.dirichlet([18, 9, 6, 27])).tolist()
        )
        for race in RACES
        for sex in ("Female", "Male")
        for year in range(1, years + 1)
    }
    return audit_counts(counts, by=["race and sex", "schooling"])


def six() -> Audit:
    return audit_counts(compas(), by="race", favourable="negative")


@contextmanager
def chromium() -> Iterator[Any]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


def cpu(work: Any, times: int = 1) -> float:
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def opened(browser: Any, path: Path) -> tuple[float, int, int]:
    """Script time, nodes and height of a page."""
    page = browser.new_page(viewport={"width": WIDE, "height": HIGH})
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    page.goto(path.as_uri())
    page.wait_for_selector("#methods")
    measured = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
    nodes, height = page.evaluate("[document.querySelectorAll('*').length, document.documentElement.scrollHeight]")
    page.close()
    return measured["ScriptDuration"], nodes, height


def measure() -> None:
    print("| groups | to_html, of the audit's CPU time | size, MB | script, s | nodes | height, px |")
    print("|---|---|---|---|---|---|")
    first: tuple[float, ...] | None = None
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        path = Path(folder) / "audit.html"
        for make in (six, lambda: intersections(2), lambda: intersections(20), lambda: intersections(100)):
            made: list[Audit] = []
            whole = cpu(lambda make=make, made=made: made.append(make()))
            share = cpu(lambda made=made: made[0].to_html(path), 3) / whole
            groups = len({(row.by, row.group) for row in made[0].rows})
            script, nodes, height = min(opened(browser, path) for _ in range(3))
            values = (path.stat().st_size / 1e6, script, nodes, height)
            first = first or values
            times = [f"{value:.3g} ({value / one:.1f} ×)" for value, one in zip(values, first, strict=True)]
            print(f"| {groups:,} | {share:.2f} | {' | '.join(times)} |", flush=True)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The web app, on loopback; its address."""
    import uvicorn

    from evenhand.web import create_app

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        app = create_app("picture", {f"127.0.0.1:{port}"}, folder)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/picture/"
        app.state.store.close()
        server.should_exit = True
        thread.join()


def save(shot: bytes, path: Path) -> None:
    picture = Image.open(BytesIO(shot)).convert("RGB")
    picture.quantize(192, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)


def web_pictures(browser: Any, address: str, data: Path, folder: Path) -> None:
    """The web app with a file, and its audit."""
    columns = rows(compas())
    with data.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["race", "reoffended", "called_risky"])
        writer.writerows(zip(columns["group"], columns["y_true"], columns["y_pred"], strict=True))
    page = browser.new_page(viewport={"width": 1180, "height": 860})
    page.goto(address)
    page.set_input_files("#file", str(data))
    page.select_option("[name=y_true]", "reoffended")
    page.select_option("[name=y_pred]", "called_risky")
    page.wait_for_selector("#y_true-values label")
    page.wait_for_selector("#y_pred-values label")
    page.locator("#groups").get_by_label("race").check()
    page.wait_for_selector(".group option[value=Caucasian]", state="attached")
    page.select_option("[name=favourable]", "negative")
    save(page.screenshot(full_page=True), folder / "web-columns.png")
    page.click("#go")
    page.wait_for_selector("#view:visible")
    page.frame_locator("#report").locator("#methods").wait_for(state="attached")
    save(page.screenshot(), folder / "web-report.png")
    page.close()


def pictures(folder: Path) -> None:
    """Small screenshots: the first screen of a report, and the web app."""
    # Reports show the time. With a fixed one, pictures change only if what they show does.
    os.environ["SOURCE_DATE_EPOCH"] = "1767225600"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as kept, chromium() as browser:
        report = Path(kept) / "audit.html"
        command(["audit", "--example", "compas", "--html", str(report), "--quiet"], standalone_mode=False)
        page = browser.new_page(viewport={"width": 1180, "height": 860})
        page.goto(report.as_uri())
        save(page.screenshot(), folder / "report-first-screen.png")
        page.close()
        with served(Path(kept)) as address:
            web_pictures(browser, address, Path(kept) / "decisions.csv", folder)


if __name__ == "__main__":
    if "--pictures" in sys.argv:
        pictures(Path(sys.argv[sys.argv.index("--pictures") + 1]))
    else:
        measure()
