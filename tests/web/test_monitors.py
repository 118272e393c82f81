"""The tab "Monitor": batches are added as the library adds them, and the state comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from web_client import App

import evenhand as eh

COLUMNS = {"y_true": "y", "y_pred": "yhat", "groups": ["region"]}


def batch(seed: int, gap: float = 0.6) -> str:
    rng = np.random.default_rng(seed)
    rows = ["person,region,y,yhat"]
    for person in range(100 * seed, 100 * seed + 120):
        region = "<b>a</b>" if person % 4 == 0 else "b"
        y = int(rng.integers(0, 2))
        right = rng.random() < (0.9 - gap if region != "b" else 0.9)
        rows.append(f"{person},{region},{y},{y if right else 1 - y}")
    return "\n".join(rows) + "\n"


def test_a_monitor_is_begun_and_goes_on_with_its_state(shared: App) -> None:
    expected = eh.Monitor(metrics="acc")
    state = None
    for seed in (1, 2):
        file = shared.upload(f"w{seed}.csv", batch(seed))
        asked = {"file": file, "at": f"W{seed}", "state": state}
        first = {**COLUMNS, "metrics": ["acc"]} if state is None else {}
        found = shared.answer(shared.post("monitor", {**asked, **first}))
        state = shared.report(found, "json").text
        how: Any = COLUMNS if seed == 1 else {}
        (shared.store.folder / "again.csv").write_text(batch(seed), "utf-8")
        expected = expected.add(shared.store.folder / "again.csv", at=f"W{seed}", **how)
    assert state == expected.to_json()
    alarms = len(expected.alarms)
    assert found["title"] == f"Monitor of 2 batches, {alarms} alarm{'s' * (alarms != 1)}"
    assert shared.report(found, "html").text == expected.to_html()
    again = shared.answer(shared.post("monitor", {"file": file, "at": "W2", "state": state}))
    assert again["title"].endswith("; this batch was added before, and nothing changed")


def test_clusters_and_counts_are_monitored(shared: App) -> None:
    file = shared.upload("w1.csv", batch(1))
    found = shared.answer(shared.post("monitor", {"file": file, "at": "W1", **COLUMNS, "cluster": "person"}))
    state = json.loads(shared.report(found, "json").text)
    assert len(state["batches"][0]["clusters"].split()) == 120
    table = shared.post("table", {"text": "g,tp,fn,fp,tn\nA,1,2,3,4\nB,5,6,7,8\n"})
    shared.answer(table)
    counted = shared.answer(shared.post("monitor", {"file": table.json()["file"], "at": "W1", "metrics": ["tpr"]}))
    assert counted["title"] == "Monitor of 1 batch, no alarm"


def test_what_cannot_be_monitored_is_refused(shared: App) -> None:
    file = shared.upload("w1.csv", batch(1))
    for more, says in (
        ({"at": ""}, "“Name of this batch” must say which batch it is, such as its week; got ''"),
        ({"at": "W1", "state": "{}"}, "the state of the monitor must be what a monitor wrote"),
        ({"at": "W1", "metrics": ["mcc"]},
         "mcc cannot be monitored; shares, rates and F1 can, such as the rates that it is made of"),
        ({"at": "W1", "classes": "all"},
         "“Classes” cannot be monitored; say which are “Counts as positive”, and keep a monitor of each class"),
    ):  # fmt: skip
        end = shared.end(shared.post("monitor", {"file": file, **COLUMNS, **more}))
        assert (end["state"], end["answer"]) == ("failed", says)


def test_a_monitor_goes_on_with_the_state_that_was_shown_or_downloaded(page: Any, tmp_path: Path) -> None:
    page.click("nav >> text=Monitor")
    for seed in (1, 2):
        (tmp_path / f"w{seed}.csv").write_text(batch(seed), "utf-8")
    page.set_input_files("#file", str(tmp_path / "w1.csv"))
    page.wait_for_selector("#y_pred-values label")
    assert page.is_visible("#columns") and page.is_visible("#settings [name=alpha]")
    assert not page.is_visible("#more-columns") and not page.is_visible("[name=intersections]")
    assert page.inner_text("#go") == "Add the batch"
    page.select_option("[name=cluster]", "person")
    page.click("#go")
    page.wait_for_selector("#message.bad")
    assert page.inner_text("#message") == "“Name of this batch” must say which batch it is, such as its week; got ''"
    page.fill("[name=at]", "2026-W01")
    page.click("#go")
    page.wait_for_selector("#found:has-text('Monitor of 1 batch, ')")
    report = page.frame_locator("#report")
    report.locator("svg.evidence").first.wait_for()
    page.click("#back")
    page.wait_for_selector("#state-hint:has-text('The monitor of 1 batch: the next batch is added to it.')")
    assert not page.is_visible("#columns")
    page.set_input_files("#file", str(tmp_path / "w2.csv"))
    page.wait_for_selector("#chosen:has-text('w2.csv')")
    page.fill("[name=at]", "2026-W02")
    page.click("#go")
    page.wait_for_selector("#found:has-text('Monitor of 2 batches')")
    page.click("[popovertarget=get]")
    assert not page.is_visible("[data-kind=csv]")
    with page.expect_download() as saved:
        page.click("[download][data-kind=json]")
    assert saved.value.suggested_filename == "monitor.json"
    state = tmp_path / "state.json"
    state.write_text(Path(saved.value.path()).read_text("utf-8"), "utf-8")
    monitor = eh.Monitor.from_json(state.read_text("utf-8"))
    # Persons 200 to 219 are in both batches.
    assert monitor.batches == ("2026-W01", "2026-W02") and monitor.history["2026-W02"].before == 20
    page.keyboard.press("Escape")
    page.click("#back")
    page.click("#forget")
    page.wait_for_selector("#columns")
    page.set_input_files("#state", str(state))
    page.wait_for_selector("#state-hint:has-text('state.json')")
    page.fill("[name=at]", "2026-W02")
    page.click("#go")
    page.wait_for_selector("#found:has-text('this batch was added before, and nothing changed')")
