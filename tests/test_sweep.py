"""Audits at several thresholds: what is counted, what tables, pages and plots say of it, and that they repeat."""

from __future__ import annotations

import csv
import html
import json
import random
import re
from collections.abc import Iterator
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from click.testing import CliRunner, Result

import evenhand as eh
from evenhand.faces.audit_command import audit as command

mpl.use("Agg")

HOSTILE = "<img src=x onerror=alert(1)> </script> {{7*7}} |`*_[x](http://evil.org) www.evil.org \u202eabc\x1b[2J"
SIGNS = {"higher": "▲", "lower": "▼", "undefined": "✕", "too few to tell": "□", "alike": "●", "reference": "◆"}

Rows = list[tuple[str, int, float]]


def made(n: int = 500, groups: int = 4, seed: int = 3) -> Rows:
    """Rows of group, label and score, with ties and with a group that scores higher."""
    draw = random.Random(seed)
    rows = []
    for i in range(n):
        group = f"group {i % groups}"
        label = int(draw.random() < 0.4)
        score = draw.gauss(0.35 + 0.2 * label + 0.25 * (group == "group 1"), 0.15)
        rows.append((group, label, round(min(max(score, 0.0), 1.0), 1)))
    return rows


def columns(rows: Rows) -> dict[str, list[Any]]:
    groups, labels, scores = zip(*rows, strict=True)
    return {"race": list(groups), "label": list(labels), "score": list(scores)}


def swept(rows: Rows, thresholds: list[float], **settings: Any) -> eh.Sweep:
    given: dict[str, Any] = {"y_true": "label", "y_score": "score", "groups": "race", "threshold": thresholds}
    found: eh.Sweep = eh.audit(columns(rows), **given | settings)
    return found


def counted(rows: Rows, group: str, threshold: float) -> tuple[int, int, int, int]:
    """TP, FN, FP and TN of a group, one row at a time."""
    tp = fn = fp = tn = 0
    for name, label, score in rows:
        if name != group:
            continue
        if label and score >= threshold:
            tp += 1
        elif label:
            fn += 1
        elif score >= threshold:
            fp += 1
        else:
            tn += 1
    return tp, fn, fp, tn


def table_of(text: str, title: str) -> list[list[str]]:
    """The rows of a table of text, as words."""
    lines = text.split("\n\n")
    (found,) = [part for part in lines if part.startswith(title + "\n")]
    return [line.split() for line in found.splitlines()[1:] if not line.startswith(("…", "✕"))]


ROWS = made()
SWEEP = swept(ROWS, [0.7, 0.3, 0.5], metrics=["tpr", "ppv", "lr_plus"])
ODD = [*ROWS, *[(HOSTILE, 0, 0.2), (HOSTILE, 0, 0.6)] * 2]
STRANGE = swept(ODD, [0.3, 0.5, 0.9, 2.0], metrics=["tpr", "ppv", "lr_plus", "equal_opportunity"])
MANY = swept(made(900, groups=12), [0.3, 0.4, 0.5, 0.6], metrics=["tpr", "fpr"])


@pytest.mark.parametrize("threshold", [-1.0, 0.0, 0.3, 0.5, 0.7, 1.0, 1.5])
def test_a_score_at_or_above_the_threshold_is_positive(threshold: float) -> None:
    """TP, FN, FP and TN at t are those of score >= t, ties included."""
    s = swept(ROWS, [0.3, threshold, 0.61], metrics="tpr")
    assert any(score == 0.3 for _, _, score in ROWS), "there are ties"
    for row in s.at(threshold).rows:
        assert (row.tp, row.fn, row.fp, row.tn) == counted(ROWS, row.group, threshold)


def test_each_audit_is_that_of_its_threshold_alone() -> None:
    for threshold in (0.3, 0.5, 0.7):
        alone = eh.audit(
            columns(ROWS), y_true="label", y_score="score", groups="race", threshold=threshold,
            metrics=["tpr", "ppv", "lr_plus"],
        )  # fmt: skip
        assert SWEEP.at(threshold).rows == alone.rows
        assert SWEEP.at(threshold).findings == alone.findings


def test_thresholds_are_sorted_and_repeated_ones_are_audited_once() -> None:
    s = swept(ROWS, [0.7, 0.3, 0.7, 0.5, 0.3], metrics=["tpr", "ppv", "lr_plus"])
    assert s.thresholds == (0.3, 0.5, 0.7)
    assert s == SWEEP
    assert s.to_text() == SWEEP.to_text()


def test_a_list_of_one_threshold_gives_a_sweep_of_one() -> None:
    s = swept(ROWS, [0.5], metrics="tpr")
    assert isinstance(s, eh.Sweep)
    assert len(s) == 1
    assert s.to_text().startswith("Audit of 500 cases in 4 groups by race at 1 threshold\n")
    assert "at every threshold" not in s.to_text()
    assert "NaN" not in s.to_html()
    with pytest.raises(eh.InvalidInput, match=r"^threshold must contain at least one number$"):
        swept(ROWS, [])


def test_the_text_has_every_score_with_the_sign_of_its_verdict() -> None:
    """The score of tpr is TP/(TP+FN), counted by hand."""
    header, *lines = table_of(SWEEP.to_text(), "True positive rate (tpr)")
    assert header == ["group", "n", "0.3", "0.5", "0.7"]
    assert {line[1] for line in lines} == {"0", "1", "2", "3"}
    for _, number, n, *cells in lines:
        group = f"group {number}"
        assert int(n) == sum(name == group for name, _, _ in ROWS)
        for threshold, score, sign in zip((0.3, 0.5, 0.7), cells[::2], cells[1::2], strict=True):
            tp, fn, _, _ = counted(ROWS, group, threshold)
            assert score == f"{tp / (tp + fn):.3f}"
            (row,) = [r for r in SWEEP.at(threshold).rows if r.group == group and r.metric == "tpr"]
            assert sign == SIGNS[row.verdict.value]


def test_the_text_says_what_a_threshold_is_and_over_what_p_is_adjusted() -> None:
    text = " ".join(SWEEP.to_text().split())
    assert "A score (column score) at or above a threshold is a positive prediction." in text
    assert "P-values are adjusted over groups (Holm) within each threshold, not over thresholds." in text
    plain = " ".join(swept(ROWS, [0.5], metrics="tpr", adjust="none").to_text().split())
    assert "P-values are not adjusted." in plain
    assert "within each threshold" not in plain


@pytest.mark.parametrize(("settings", "shown"), [({}, "undefined"), ({"replace_undefined_by": 0}, "undefined")])
def test_an_undefined_score_is_called_so_and_is_never_0(settings: dict[str, Any], shown: str) -> None:
    """PPV = TP/(TP+FP) at a threshold above all scores is 0/0."""
    s = swept(ROWS, [0.3, 2.0], metrics="ppv", **settings)
    for _, _, _, low, _, high, sign in table_of(s.to_text(), "Positive predictive value (ppv)")[1:]:
        assert 0 < float(low) < 1
        assert (high, sign) == (shown, "✕")
    assert "✕ no predicted positives (TP + FP = 0)." in s.to_text()
    assert len(re.findall(r"\| undefined ✕ \|$", s.to_markdown(), re.MULTILINE)) == 4
    assert s._repr_html_().count("<td>undefined ✕</td>") == 4
    assert s.to_html().count("<td>undefined <") == 4


def test_a_score_without_a_defined_reference_is_still_shown() -> None:
    rows: Rows = [("a", 1, 0.9), ("a", 0, 0.1), ("b", 0, 0.9), ("b", 0, 0.2)]
    text = swept(rows, [0.5], metrics="tpr").to_text()
    assert "a     2     1.000 ✕" in text
    assert "b     2 undefined ✕" in text
    own = "no actual positives (TP + FN = 0)"
    (said,) = re.findall(r"✕ (\S.*?)\.(?= at)", " ".join(text.split("1.000 ✕")[1].split("undefined ✕")[1].split()))
    assert set(said.split("; ")) == {own, f"the reference's score is undefined, {own}"}


def test_constant_scores_and_thresholds_beyond_them() -> None:
    rows: Rows = [(group, label, 0.5) for group in "ab" for label in (0, 1, 1)]
    s = swept(rows, [0.4, 0.5, 0.6], metrics=["tpr", "ppv", "lr_plus"])
    assert [s.at(t).rows[0].tp for t in (0.4, 0.5, 0.6)] == [2, 2, 0]
    text = s.to_text()
    assert [line[2:] for line in table_of(text, "True positive rate (tpr)")[1:]] == [
        ["1.000", "□", "1.000", "□", "0.000", "□"]
    ] * 2
    found = " ".join(text.split())
    assert "at 0.4: Every prediction of all 6 cases is positive" in found
    assert "at 0.6: Every prediction of all 6 cases is negative" in found
    assert "NaN" not in s.to_html() and "inf" not in s.to_html().lower().replace("information", "")


@pytest.mark.parametrize("most", [0, 1, 3, 11, 12, None])
def test_groups_that_are_left_out_are_counted(most: int | None) -> None:
    text = MANY.to_text(most)
    for key, name in (("tpr", "True positive rate (tpr)"), ("fpr", "False positive rate (fpr)")):
        shown = [" ".join(line[:2]) for line in table_of(text, name)[1:]]
        assert len(shown) == min(12, 12 if most is None else most)
        differ = {r.group for a in MANY for r in a.rows if r.metric == key and r.verdict.value in ("higher", "lower")}
        assert {"group 1"} <= differ
        left = {f"group {i}" for i in range(12)} - set(shown)
        (part,) = [part for part in text.split("\n\n") if part.startswith(name)]
        said = re.findall(r"^… and (.*)$", part, re.MULTILINE)
        n, k = len(left), len(left & differ)
        if not left:
            assert said == []
        elif n == 1:
            assert k == 0 and said == ["1 more group, which is not higher or lower at any threshold"]
        elif k == 0:
            assert said == [f"{n} more groups, none of which is higher or lower at any threshold"]
        else:
            verb = "is" if k == 1 else "are"
            assert said == [f"{n} more groups, {k} of which {verb} higher or lower at some threshold"]
        assert k == 0 or len(set(shown) & differ) == len(shown), "groups that differ come first"


def test_many_thresholds_continue_below_and_no_line_is_too_long() -> None:
    thresholds = [round(0.05 * i, 2) for i in range(1, 20)]
    s = swept(ODD, [*thresholds, 0.123456789], metrics=["tpr", "lr_plus"])
    text = s.to_text()
    assert max(map(len, text.splitlines())) <= 80
    rows = table_of(text, "True positive rate (tpr)")
    shown = [word for row in rows if row[0] == "group" and row[1] == "n" for word in row[2:]]
    assert [float(word) for word in shown] == sorted([*thresholds, 0.123456789])


def test_thresholds_that_are_close_are_told_apart() -> None:
    s = swept(ROWS, [0.3, 0.300000000001, 1234567.25], metrics="tpr")
    assert table_of(s.to_text(), "True positive rate (tpr)")[0] == ["group", "n", "0.3", "0.300000000001", "1234567.25"]
    assert "threshold (not to scale)" in s.to_html()
    assert "not to scale" not in SWEEP.to_html()


def test_findings_name_their_threshold_and_what_holds_everywhere_is_said_once() -> None:
    rows: list[Any] = [*ROWS, *[("group 1", None, 0.4)] * 3]
    s = swept(rows, [0.3, 0.5, 0.7], metrics="tpr")
    page = html.unescape(s.to_html())
    assert {f.severity for f in s.findings} == {"alert", "warning", "note"}
    for text in (" ".join(s.to_text().split()), page):
        assert text.count("at every threshold: 3 rows without a label were left out.") == 1
    for threshold, a in zip(s.thresholds, s, strict=True):
        for finding in [f for f in a.findings if f.severity == "alert"][:3]:
            assert f"at {threshold}: {finding.sentence}." in " ".join(s.to_text().split())
        for finding in a.findings:
            where = "every threshold" if finding.kind == "left-out" else str(threshold)
            assert f"at {where}: {finding.sentence}." in page
        left = len(a.findings) - 1 - 3
        said = re.findall(rf"at {threshold}: and (\d+) more finding", s.to_text())
        assert said == ([str(left)] if left > 0 else [])


def test_names_from_data_are_inert() -> None:
    text, page, small, marked = STRANGE.to_text(), STRANGE.to_html(), STRANGE._repr_html_(), STRANGE.to_markdown()
    for shown in (text, page, small, marked):
        assert "\u202e" not in shown
        assert "\x1b" not in shown
    for shown in (page, small, marked):
        assert "<img" not in shown
    assert page.count("</script>") == 1
    assert "{{7*7}}" in page
    (line,) = [line for line in marked.split("## ")[2].splitlines() if "onerror" in line]
    assert r"\|\`\*\_\[x\](http\://evil.org) www\.evil" in line
    assert len(re.findall(r"(?<!\\)\|", line)) == 7, "6 cells: group, n and 4 thresholds"


def test_nothing_is_fetched() -> None:
    page = SWEEP.to_html()
    assert "default-src 'none'" in unescape(page)
    assert not re.findall(r'(?:src|href)="(?!#)', page)
    assert "http:" not in page.replace("http-equiv", "")
    assert "https:" not in page


def test_the_page_says_what_was_audited(tmp_path: Path) -> None:
    import hashlib

    path = tmp_path / "decisions.csv"
    path.write_text("race,label,score\n" + "".join(f"{g},{y},{s}\n" for g, y, s in ROWS), "utf-8")
    s = eh.audit(
        path, y_true="label", y_score="score", groups="race", threshold=[0.5, 0.3], metrics="tpr",
        title="A <title>", system="Model & 3", author="me",
    )  # fmt: skip
    page = s.to_html(tmp_path / "audit.html")
    assert (tmp_path / "audit.html").read_text("utf-8") == page
    said = {k: html.unescape(v) for k, v in re.findall(r"<dt>(.*?)</dt><dd[^>]*>(.*?)</dd>", page)}
    content = path.read_bytes()
    assert said == {
        "title": "A <title>", "system": "Model & 3", "author": "me", "made at": "2023-11-14T22:13:20+00:00",
        "source": "decisions.csv", "size": f"{len(content):,} bytes", "SHA-256": hashlib.sha256(content).hexdigest(),
        "rows": "500", "column of labels": "label", "column of scores": "score", "group column": "race",
        "positive label": "1", "thresholds": "0.3, 0.5",
    }  # fmt: skip
    assert f"evenhand audit {path} --label label --score score --group race --threshold 0.3 --threshold 0.5" in page
    assert eh.Sweep.from_json(s.to_json()).to_html() == page


def test_the_table_of_the_page_has_every_row() -> None:
    page = html.unescape(SWEEP.to_html())
    for row in SWEEP.at(0.5).rows:
        if row.score is not None:
            sign = SIGNS[row.verdict.value]
            assert f'{row.score:.3f} <span class="sign" title="{row.verdict}">{sign}</span>' in page
            assert f"{row.group} at 0.5: {row.score:.3f}, interval {row.low:.3f} to {row.high:.3f}" in page


def test_the_reference_is_a_line_only_where_groups_share_one() -> None:
    """The rest differs from group to group; a group, a matrix or all cases do not."""
    drawn = '<path class="shared" d="M'
    assert drawn not in SWEEP.to_html().split("</header>")[1].split('<ul class="legend">')[0]
    assert "reference: group 0" in swept(ROWS, [0.3, 0.5], metrics="tpr", reference="group 0").to_html()
    assert "reference: all cases" in swept(ROWS, [0.3, 0.5], metrics="tpr", reference="all").to_html()
    assert "reference: all cases" not in SWEEP.to_html()
    same: Rows = [(group, label, 0.5) for group in "ab" for label in (0, 1)]
    assert "reference: " not in swept(same, [0.4, 0.6], metrics="tpr").to_html()
    tied: Rows = [
        (g, y, s) for g, scores in (("a", (0.9, 0.9, 0.1)), ("b", (0.5, 0.5, 0.5))) for y in (0, 1) for s in scores
    ]
    best = swept(tied, [0.4, 0.8], metrics="tpr", reference="best")
    assert [{r.reference for r in a.rows} for a in best] == [{"b"}, {"a"}]
    assert "reference: chosen at each threshold" in best.to_html()


def test_the_notebook_counts_verdicts_per_threshold() -> None:
    shown = SWEEP._repr_html_()
    for threshold in SWEEP.thresholds:
        verdicts = [row.verdict.value for row in SWEEP.at(threshold).rows]
        counts = [str(verdicts.count(v)) for v in SIGNS if any(r.verdict.value == v for a in SWEEP for r in a.rows)]
        assert f"<tr><td>{threshold}</td>" + "".join(f"<td>{n}</td>" for n in counts) + "</tr>" in shown
    assert shown.count("<tr>") == 1 + 3 + 1 + 12
    large = swept(made(900, groups=30), [0.3, 0.5], metrics=["tpr", "fpr"])._repr_html_()
    assert large.count("<tr>") == 1 + 2 + 1 + 24
    assert "36 more lines in to_html()" in large


def test_csv_has_the_cells_at_each_threshold() -> None:
    for line in csv.DictReader(StringIO(SWEEP.to_csv())):
        cells = tuple(int(line[c]) for c in ("tp", "fn", "fp", "tn"))
        assert cells == counted(ROWS, line["group"], float(line["threshold"]))


# Plots


@pytest.fixture
def _closed() -> Iterator[None]:
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.mark.usefixtures("_closed")
def test_the_plot_has_a_line_per_group_through_its_scores() -> None:
    ax = SWEEP.plot("tpr")
    ax.figure.canvas.draw()
    drawn = {line.get_label(): line for line in ax.get_lines()}
    for group in {name for name, _, _ in ROWS}:
        n = sum(name == group for name, _, _ in ROWS)
        line = drawn[f"{group} ({n})"]
        cells = [counted(ROWS, group, t) for t in (0.3, 0.5, 0.7)]
        assert list(line.get_xdata()) == [0.3, 0.5, 0.7]
        assert list(line.get_ydata()) == pytest.approx([tp / (tp + fn) for tp, fn, _, _ in cells])
    spans = {tuple(line.get_ydata()) for line in ax.get_lines() if len(line.get_ydata()) == 2}
    assert {(r.low, r.high) for a in SWEEP for r in a.rows if r.metric == "tpr"} <= spans
    shown = {text.get_text() for text in ax.get_legend().get_texts()}
    assert {r.verdict.value for a in SWEEP for r in a.rows if r.metric == "tpr"} <= shown


@pytest.mark.usefixtures("_closed")
@pytest.mark.parametrize("sweep", [STRANGE, MANY, swept(ROWS, [0.5]), swept(ROWS, [0.3, 0.3 + 1e-12, 1e300])])
def test_every_metric_can_be_plotted(sweep: eh.Sweep) -> None:
    from matplotlib import pyplot

    for key in sweep.audits[0].settings["metrics"]:
        _, given = pyplot.subplots()
        ax = sweep.plot(key, ax=given)
        assert ax is given
        ax.figure.canvas.draw()


def test_what_was_not_audited_cannot_be_plotted() -> None:
    with pytest.raises(eh.UnknownName, match=r"^no metric of this audit is called 'mcc'; known: tpr, ppv, lr_plus$"):
        SWEEP.plot("mcc")
    with pytest.raises(eh.UnknownName, match=r"^no group column of this audit is called 'sex'; known: race$"):
        SWEEP.plot(by="sex")


# The command


def run(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(command, words, input=stdin, catch_exceptions=False)


def written(path: Path, rows: Rows) -> str:
    path.write_text("race,label,score\n" + "".join(f"{g},{y},{s}\n" for g, y, s in rows), "utf-8")
    return str(path)


COLUMNS = ["--label", "label", "--score", "score", "--group", "race", "--metric", "tpr"]
TWO = [*COLUMNS, "--threshold", "0.7", "--threshold", "0.3"]


def test_the_command_writes_what_the_library_does(tmp_path: Path) -> None:
    file = written(tmp_path / "d.csv", ROWS)
    outputs = [str(tmp_path / name) for name in ("o.json", "o.html", "o.md")]
    done = run(file, *TWO, "--json", outputs[0], "--html", outputs[1], "--markdown", outputs[2])
    assert done.exit_code == 0
    s = eh.audit(file, y_true="label", y_score="score", groups=["race"], metrics=["tpr"], threshold=[0.3, 0.7])
    assert done.output == s.to_text(24) + "\n"
    texts = [Path(name).read_text("utf-8") for name in outputs]
    assert eh.Sweep.from_json(texts[0]) == s
    assert texts[1:] == [s.to_html(), s.to_markdown()]
    assert run("-", *TWO, stdin=Path(file).read_text("utf-8")).output == done.output


@pytest.mark.parametrize(("kind", "code"), [("differs", 1), ("any", 1), ("constant", 0), ("undefined", 0)])
def test_exit_codes_look_at_every_threshold(tmp_path: Path, kind: str, code: int) -> None:
    assert run(written(tmp_path / "d.csv", ROWS), *TWO, "--fail-on", kind).exit_code == code


def test_a_finding_at_one_threshold_is_enough_to_fail(tmp_path: Path) -> None:
    file = written(tmp_path / "d.csv", ROWS)
    assert run(file, *TWO, "--threshold", "2", "--fail-on", "constant").exit_code == 1


def test_saved_sweeps_are_repeated_and_compared_at_each_threshold(tmp_path: Path) -> None:
    file, saved = written(tmp_path / "d.csv", ROWS), str(tmp_path / "o.json")
    run(file, *TWO, "--json", saved)
    again = run("--repeat", saved)
    assert (again.exit_code, again.stderr) == (0, "Nothing changed.\n")
    assert again.stdout == eh.Sweep.from_json(Path(saved).read_text("utf-8")).to_text(24) + "\n"
    group, label, _ = ROWS[0]
    other = written(tmp_path / "e.csv", [(group, label, 0.6), *ROWS[1:]])
    first = min(ROWS[0][2], 0.6)
    changed = run("--repeat", saved, other)
    assert changed.exit_code == 1
    lines = changed.stderr.splitlines()
    assert sum("SHA-256 of the data" in line for line in lines) == 1
    assert any(line.startswith("- at 0.3: tpr of group") for line in lines) == (first < 0.3)
    assert not any(line.startswith("- at 0.7:") for line in lines)
    assert run("--repeat", saved, "--html", saved).exit_code == 2


def test_a_repeated_sweep_reads_the_data_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import evenhand.auditing.audits as audits
    from evenhand.tabulate import tabulate_each

    calls = []

    def noted(*given: Any, **named: Any) -> Any:
        calls.append(1)
        return tabulate_each(*given, **named)

    monkeypatch.setattr(audits, "tabulate_each", noted)
    assert SWEEP.changes(SWEEP.repeat(columns(ROWS))) == []
    assert calls == [1]


def test_thresholds_that_come_and_go_are_changes() -> None:
    one, other = swept(ROWS, [0.3, 0.5], metrics="tpr"), swept(ROWS, [0.5, 0.7], metrics="tpr")
    assert one.changes(other) == ["the threshold 0.3 is no longer audited", "the threshold 0.7 was not audited before"]


_NOT_SAVED = "text must be audits at several thresholds written by to_json()"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"schema": "evenhand.sweep/1", "audits": []}', _NOT_SAVED),
        ('{"schema": "evenhand.sweep/9", "audits": [1]}',
         "the schema of the audit must be 'evenhand.audit/2'; got 'evenhand.sweep/9'"),
        ("[", "text must be an audit written by to_json(): "),
        ("[1]", "text must be an audit written by to_json(): "),
    ],
)  # fmt: skip
def test_what_is_not_a_saved_sweep_is_refused(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "o.json"
    path.write_text(content, "utf-8")
    done = run("--repeat", str(path))
    assert done.exit_code == 2
    assert f"{path} cannot be read: {sentence}" in " ".join(done.stderr.split())


@pytest.mark.parametrize("thresholds", [[0.7, 0.3], [0.3, 0.3], [0.3, None], [True, 2], ["0.3", "0.5"]])
def test_thresholds_of_saved_sweeps_must_ascend(thresholds: list[Any]) -> None:
    content = swept(ROWS, [0.3, 0.7], metrics="tpr").to_dict()
    for a, threshold in zip(content["audits"], thresholds, strict=True):
        a["record"]["threshold"] = threshold
    with pytest.raises(eh.InvalidInput) as found:
        eh.Sweep.from_json(json.dumps(content))
    assert str(found.value) == f"the thresholds of the audits must be numbers in ascending order; got {thresholds}"


# In a browser


def watched(opened: Any) -> tuple[list[str], list[str]]:
    """What goes wrong in a page, and what it asks for, from now on."""
    errors: list[str] = []
    requests: list[str] = []
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("dialog", lambda dialog: errors.append(dialog.message))
    opened.on("request", lambda request: requests.append(request.url))
    return errors, requests


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 768, 375])
@pytest.mark.parametrize("sweep", [STRANGE, MANY], ids=["strange", "many"])
def test_no_error_no_sideways_scrolling_and_no_serious_accessibility_violation(
    browser: Any, violations: Any, tmp_path: Path, sweep: eh.Sweep, width: int, scheme: str
) -> None:
    path = tmp_path / "audit.html"
    sweep.to_html(path)
    # axe is put into the page by the test; the page's own policy would keep it out.
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    opened = context.new_page()
    errors, requests = watched(opened)
    opened.goto(path.as_uri())
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    assert (errors, requests) == ([], [path.as_uri()])
    assert violations(opened) == []
    context.close()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """A page to open files in, under the page's own policy."""
    page = browser.new_page()
    errors, _ = watched(page)
    yield page
    assert errors == []
    page.close()


def visible(opened: Any, selector: str) -> list[str]:
    """The groups whose parts of that kind are visible in the first figure."""
    found: list[str] = opened.eval_on_selector_all(
        f"figure:first-of-type .line {selector}",
        "parts => parts.filter(p => getComputedStyle(p).visibility === 'visible')"
        ".map(p => p.closest('.line').dataset.group)",
    )
    return sorted(set(found))


def test_a_group_is_highlighted_by_its_button_with_the_keyboard(opened: Any, tmp_path: Path) -> None:
    SWEEP.to_html(tmp_path / "audit.html")
    opened.goto((tmp_path / "audit.html").as_uri())
    assert visible(opened, ".whisker") == []
    button = opened.locator("figure button[data-group='2']").first
    button.focus()
    first = "figure[data-column='0'] .line.peek"
    assert opened.locator(first).get_attribute("data-group") == "2"
    opened.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    assert opened.locator("figure .line.chosen").count() == 3, "once per metric"
    opened.keyboard.press("Escape")
    assert opened.locator("figure .line.chosen").count() == 0
    assert button.get_attribute("aria-pressed") == "false"


def test_of_many_groups_one_is_chosen_from_a_list_with_the_keyboard(opened: Any, tmp_path: Path) -> None:
    MANY.to_html(tmp_path / "audit.html")
    opened.goto((tmp_path / "audit.html").as_uri())
    assert opened.locator("figure button").count() == 0
    select = opened.locator("figure select").first
    assert len(select.locator("option").all()) == 13
    select.focus()
    opened.keyboard.press("g")
    chosen = select.input_value()
    assert chosen != ""
    assert visible(opened, ".whisker") == [chosen]
    assert [s.input_value() for s in opened.locator("figure select").all()] == [chosen] * 2
    opened.keyboard.press("Escape")
    assert visible(opened, ".whisker") == []


def test_pointing_at_a_line_shows_its_intervals(opened: Any, tmp_path: Path) -> None:
    SWEEP.to_html(tmp_path / "audit.html")
    opened.goto((tmp_path / "audit.html").as_uri())
    opened.locator("figure .line[data-group='1'] .mark").first.hover(force=True)
    assert len(visible(opened, ".whisker")) == 1


def test_without_javascript_everything_is_there(browser: Any, tmp_path: Path) -> None:
    MANY.to_html(tmp_path / "audit.html")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "audit.html").as_uri())
    assert page.locator("svg.sweep:visible").count() == 2
    assert page.locator("figure tbody tr:visible").count() == 24
    assert not page.locator(".choose").first.is_visible()
    context.close()


def test_marks_lie_where_the_scores_are(opened: Any, tmp_path: Path) -> None:
    """The height of a mark is linear in the score, between the ticks of 0 and 1."""
    SWEEP.to_html(tmp_path / "audit.html")
    opened.goto((tmp_path / "audit.html").as_uri())
    ticks = opened.eval_on_selector_all(
        "figure:first-of-type svg.sweep > line.axis",
        "lines => lines.map(l => [+l.getAttribute('y1'), +l.getAttribute('y2')])",
    )
    levels = sorted({a for a, b in ticks if a == b})
    top, bottom = levels[0], levels[-1]
    marks = opened.eval_on_selector_all(
        "section[aria-labelledby=metric-0] .line > g",
        "marks => marks.map(m => [m.querySelector('title').textContent, m.getAttribute('transform')])",
    )
    assert len(marks) == 12
    for title, place in marks:
        group, threshold = re.findall(r"^(group \d) at (\S+):", title)[0]
        tp, fn, _, _ = counted(ROWS, group, float(threshold))
        y = float(place.split(",")[1].rstrip(")"))
        assert (bottom - y) / (bottom - top) == pytest.approx(tp / (tp + fn), abs=0.001)
