"""An audit in a terminal and in a notebook: nothing cut, nothing hidden, nothing from data that acts."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import Counter
from html.parser import HTMLParser
from io import StringIO
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand.auditing import headlines, untold
from evenhand.faces.audit_command import audit
from evenhand.faces.terminal import as_text, folded_text
from evenhand.inference import spread_of

CM = eh.ConfusionMatrix
COMPAS = eh.audit_counts(eh.examples.compas(), by="race")
HOLES = eh.audit_counts(
    {"none": (0, 0, 2, 6), "some": (30, 10, 12, 48), "few": (0, 0, 0, 8)},
    metrics=["tpr", "mcc", "lr_plus", "demographic_parity", "equalized_odds"],
)
CODES = re.compile(r"\x1b\[\d+m")


def run(*words: str, **environment: str | None) -> Result:
    env = {"FORCE_COLOR": None, "NO_COLOR": None, **environment}
    return CliRunner(env=env).invoke(audit, words, catch_exceptions=False)


def across(text: str) -> int:
    """The columns that a terminal needs."""
    drawn = [c for c in text if unicodedata.category(c) not in ("Mn", "Me")]
    return len(drawn) + sum(unicodedata.east_asian_width(c) in "WF" for c in drawn)


def table_of(text: str) -> list[str]:
    """The lines from the heading of the table to the next empty line."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if re.match(r"group +metric", line))
    return lines[start : lines.index("", start)]


def first_words(lines: list[str], width: int, between: str = " ") -> list[str]:
    """The names in the first column, put together again from the lines that they are wrapped to."""
    names: list[str] = []
    for line in lines:
        end = max(i for i in range(len(line) + 1) if across(line[:i]) <= width)
        name, others = line[:end].strip(), line[end:]
        if others.strip():
            names.append(name)
        else:
            names[-1] += between + name
    return names


def test_the_summary_says_who_is_compared_with_whom_before_the_table() -> None:
    lines = str(COMPAS).splitlines()
    assert lines[:3] == [
        "Audit of 7,214 cases in 6 groups by race",
        "Each group is compared with all cases outside it.",
        "▲ 7 higher   ▼ 19 lower   ✕ 0 undefined   □ 16 too few to tell   ● 6 alike",
    ]
    kinds = Counter(finding.kind for finding in COMPAS.findings)
    counted = ", ".join(f"{n} {kind}" for kind, n in kinds.items())
    summary = " ".join(" ".join(lines[4 : lines.index(table_of(str(COMPAS))[0])]).split())
    assert summary.endswith(f"{len(COMPAS.findings)} findings: {counted}")


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        ("rest", "Each group is compared with all cases outside it."),
        ("all", "Each group is compared with all cases."),
        ("Other", "Each group is compared with the group Other."),
        (CM(3, 4, 5, 6), "Each group is compared with the counts that were given as reference."),
    ],
)
def test_the_reference_is_named(reference: Any, sentence: str) -> None:
    a = eh.audit_counts(eh.examples.compas(), metrics="tpr", reference=reference)
    assert sentence in str(a).splitlines()


def test_several_references_are_named_each() -> None:
    counts = {("a", "x"): (9, 6, 4, 21), ("b", "x"): (30, 10, 12, 48), ("a", "y"): (3, 4, 5, 6)}
    a = eh.audit_counts(counts, by=["one", "two"], metrics="tpr", reference={"one": "a"})
    said = " ".join(str(a).split())
    assert "compared with the reference of its column: the group a (one), all cases outside it (one & two), " in said
    assert said.startswith("Audit of 158 cases in 7 groups by one, two, one & two")


def test_every_row_shows_the_cases_that_its_score_rests_on() -> None:
    head, *lines = table_of(COMPAS.to_text())
    assert "cases" in head.split()
    counts = eh.examples.compas()
    bases = {"ppr": "tp fn fp tn", "tpr": "tp fn", "fpr": "fp tn", "ppv": "tp fp", "npv": "fn tn", "f1": "tp fn fp"}
    for line in lines:
        (name,) = [name for name in counts if line.startswith(name)]
        metric, cases = line[len(name) :].split()[:2]
        cells = bases.get(metric, "tp fn fp tn").split()
        assert cases == f"{sum(int(getattr(counts[name], cell)) for cell in cells):,}", line


def test_rows_left_out_are_counted_by_verdict_and_undefined_ones_say_why() -> None:
    assert "… and 24 more rows: 1 higher, 1 lower, 16 too few to tell, 6 alike" in str(COMPAS).splitlines()
    text = as_text(HOLES, None, width=132)
    wrapped = " ".join(" ".join(table_of(text)).split())
    assert wrapped.count("✕ undefined") == sum(r.verdict == "undefined" for r in HOLES.rows) == 12
    assert "no actual positives (TP + FN = 0) ✕ undefined" in wrapped
    verdicts = [line.split()[-1] for line in table_of(text) if "✕" in line or "□" in line]
    assert verdicts == ["undefined"] * 12 + ["tell"] * 3, "in the order of the audit"


def test_metrics_are_explained_once_below_the_table() -> None:
    text = str(COMPAS)
    for key in ("ppr", "tpr", "fpr", "ppv", "npv", "acc", "f1", "prev"):
        m = eh.metric(key)
        (line,) = [line for line in text.splitlines() if line.split()[:1] == [key] and "=" in line]
        assert f"{m.name} = {m.formula}" in line
        assert ("; better: " in line) == (m.better != "neither")


@pytest.mark.parametrize("width", [56, 64, 80, 100, 132, 200])
@pytest.mark.parametrize("given", [COMPAS, HOLES], ids=["compas", "holes"])
def test_the_text_fits_the_width_and_uses_it(width: int, given: eh.Audit) -> None:
    lines = as_text(given, None, width=width).splitlines()
    assert max(map(across, lines)) <= width
    titles = table_of("\n".join(lines))[0].split()
    assert {"group", "metric", "cases", "score", "gap", "verdict"} <= set(titles)
    if width >= 100:
        assert {"n", "versus", "interval", "p"} <= set(titles)


def test_colours_are_those_of_the_verdicts_and_change_nothing_else() -> None:
    plain, painted = as_text(COMPAS), as_text(COMPAS, colour=True)
    assert "\x1b" not in plain
    assert CODES.sub("", painted) == plain
    for sign, code in (("▲", "31"), ("▼", "34"), ("□", "2"), ("●", "32")):
        assert set(re.findall(rf"\x1b\[(\d+)m{sign}", painted)) == {code}


@pytest.mark.parametrize(
    ("environment", "painted"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "0"}, False), ({"FORCE_COLOR": ""}, False),
     ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False), ({"FORCE_COLOR": "1", "NO_COLOR": ""}, True)],
)  # fmt: skip
def test_colours_obey_the_environment(environment: dict[str, str | None], painted: bool) -> None:
    out = run("--example", "compas", "--metric", "tpr", **environment).output
    assert ("\x1b[" in out) == painted
    assert "▼ lower" in CODES.sub("", out)


class Terminal(StringIO):
    """Standard output that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("variables", "painted"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_a_terminal_gets_its_colours_and_its_whole_width(
    variables: dict[str, str], painted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = Terminal()
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm", "COLUMNS": "120", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout", out)
    audit.main(["--example", "compas"], standalone_mode=False)
    text = out.getvalue()
    assert ("\x1b[" in text) == painted
    lines = CODES.sub("", text).splitlines()
    assert 100 < max(map(len, lines)) <= 120
    assert "versus" in table_of("\n".join(lines))[0]


def test_csv_is_what_the_library_writes(tmp_path: Any) -> None:
    file = tmp_path / "rows.csv"
    result = run("--example", "compas", "--metric", "tpr", "--csv", str(file))
    assert result.output.startswith("Audit of 7,214 cases")
    printed = run("--example", "compas", "--metric", "tpr", "--csv", "-").output
    assert printed == file.read_text("utf-8")
    rows = list(csv.DictReader(StringIO(printed)))
    assert [(row["group"], row["basis"]) for row in rows] == [
        (r.group, str(r.basis)) for r in COMPAS.rows if r.metric == "tpr"
    ]
    counts = tmp_path / "counts.csv"
    counts.write_text("race,tp,fn,fp,tn\nA,9,6,4,21\nB,30,10,12,48\n", encoding="utf-8")
    refused = run("--counts", str(counts), "--csv", str(counts))
    assert (refused.exit_code, refused.stderr) == (
        2,
        f"Error: --csv {counts} would overwrite the input; choose another file\n",
    )


@pytest.mark.parametrize(
    ("kinds", "code", "codes"),
    [((), 0, set()), (("undefined",), 0, set()), (("differs",), 1, {"EH101"}), (("too-few", "four-fifths"), 1,
     {"EH102", "EH202"}), (("any",), 1, {"EH101", "EH102", "EH202"})],
)  # fmt: skip
def test_quiet_prints_what_fail_on_names_and_nothing_else(kinds: tuple[str, ...], code: int, codes: set[str]) -> None:
    words = ["--example", "compas", *(word for kind in kinds for word in ("--fail-on", kind))]
    result = run(*words, "--quiet")
    assert (result.exit_code, result.stderr) == (code, "")
    assert run(*words).exit_code == code
    lines = result.output.splitlines()
    assert len(lines) == sum(f.code in codes for f in COMPAS.findings)
    assert {line.split()[1].rstrip(":") for line in lines} == codes


def test_verbose_prints_every_row_every_finding_and_the_settings() -> None:
    out = run("--example", "compas", "--verbose").output
    said = " ".join(out.split())
    assert len(table_of(out)) == 1 + len(COMPAS.rows)
    for finding in COMPAS.findings:
        assert " ".join(f"{finding.code}: {finding.sentence}.".split()) in said
    for name, shown in (("alpha", "0.05"), ("adjust", "holm"), ("crossings", "2"), ("level", "0.95")):
        assert [name, shown] in [line.split() for line in out.splitlines()]
    assert f"evenhand {COMPAS.versions['evenhand']}" in said
    refused = run("--example", "compas", "--verbose", "--quiet")
    assert (refused.exit_code, refused.stderr) == (2, "Error: pass either --verbose or --quiet, not both\n")


def test_all_prints_every_row_and_the_usual_summary() -> None:
    everything, usual = run("--example", "compas", "--all").output, run("--example", "compas").output
    assert len(table_of(everything)) == 1 + len(COMPAS.rows)
    assert "Settings" not in everything
    assert everything.splitlines()[:10] == usual.splitlines()[:10]
    assert "(see --all)" in usual and "(see --all)" not in everything


def test_the_summary_says_what_matters_in_council_words() -> None:
    lines = " ".join(as_text(COMPAS).split())
    for headline in headlines(COMPAS.rows, COMPAS.settings):
        assert str(headline) in lines
    for sentence in untold(COMPAS.rows, COMPAS.settings):
        assert sentence in lines
    constant = eh.audit({"y": [1, 0, 1, 0], "p": [1, 1, 1, 1], "g": list("aabb")}, y_true="y", y_pred="p", groups="g")
    assert as_text(constant).split("\n\n")[1].startswith("- Every prediction of all 4 cases is positive")


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(st.text(min_size=0, max_size=60), min_size=2, max_size=6, unique=True),
    start=st.text(max_size=40),
    end=st.text(max_size=40),
    width=st.integers(56, 140),
)
def test_no_two_groups_look_alike_however_they_are_called(names: list[str], start: str, end: str, width: int) -> None:
    """One row per group: as many different names in the table as groups, and none wider than the terminal."""
    a = eh.audit_counts({start + name + end: (9, 6, 4, 21) for name in names}, metrics="tpr")
    text = as_text(a, None, width=width)
    head, *lines = table_of(text)
    shown = first_words(lines, head.index(" metric"), between="\n")
    assert len(set(shown)) == len(shown) == len(names)
    assert max(map(across, text.splitlines())) <= width
    assert all(c.isprintable() or c == "\n" for c in text)


def test_what_long_names_share_is_left_out_and_said_once() -> None:
    head = "Department of Health and Human Services, Region"
    names = [f"{head} {i}, office of the {where}" for i in (1, 2) for where in ("north", "south")]
    text = str(eh.audit_counts(dict.fromkeys(names, (9, 6, 4, 21)), metrics="tpr"))
    first, *lines = table_of(text)
    assert first_words(lines, first.index(" metric")) == [
        name.replace(f"{head} ", "…").replace("…", "…", 1) for name in names
    ]
    assert f"… at the start of a name stands for '{head} '." in " ".join(text.split())


def test_a_name_that_is_long_alone_is_whole() -> None:
    name = "People who answered that none of the categories of the form describes them"
    text = str(eh.audit_counts({name: (9, 6, 4, 21), "B": (30, 10, 12, 48)}, metrics="tpr"))
    first, *lines = table_of(text)
    assert set(first_words(lines, first.index(" metric"))) == {name, "B"}


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["White", "White ", " White"], {"White", "White␣", "␣White"}),
        (["", " ", "''"], {"''", "␣", "'' (2)"}),
        (["a\x1b", "a\\x1b"], {"a\\x1b", "a\\x1b (2)"}),
        (["a\u202eb", "ab"], {"a\\u202eb", "ab"}),
        (["a  b", "a b"], {"a␣␣b", "a b"}),
        (["x", "x (2)", "x\u200b"], {"x", "x (2)", "x\\u200b"}),
    ],
)
def test_names_that_would_look_alike_are_told_apart(names: list[str], shown: set[str]) -> None:
    a = eh.audit_counts(dict.fromkeys(names, (9, 6, 4, 21)), metrics="tpr")
    first, *lines = table_of(str(a))
    assert set(first_words(lines, first.index(" metric"))) == shown
    assert {row[0] for row in Page(a._repr_html_()).rows[1:]} == shown


def test_a_name_that_wraps_like_another_is_numbered() -> None:
    """At some widths the break falls on the one blank that tells the two apart."""
    names = ["0" * 48, "0" * 16 + " " + "0" * 32]
    a = eh.audit_counts(dict.fromkeys(names, (9, 6, 4, 21)), metrics="tpr")
    for width in range(56, 120):
        first, *lines = table_of(as_text(a, width=width))
        assert len(set(first_words(lines, first.index(" metric"), between="\n"))) == 2


@given(text=st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"])), width=st.integers(2, 30))
def test_folded_text_loses_nothing_but_blanks(text: str, width: int) -> None:
    lines = folded_text(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(across(line) <= width for line in lines)


class Page(HTMLParser):
    """What a notebook would show: tags, styles, titles, and the cells of tables."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.styles = self.titles = ""
        self.inside = False
        self.rows: list[list[str]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        values = dict(attrs)
        assert not [name for name in values if name.startswith("on") or name in ("class", "src", "href")]
        self.styles += values.get("style", "") + ";"
        self.titles += values.get("title", "") + "\n"
        self.inside = self.inside or tag == "tr"
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "table"

    def handle_data(self, data: str) -> None:
        if self.inside and self.rows[-1]:
            self.rows[-1][-1] += data


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_notebook_shows_an_audit_as_a_map_with_every_score() -> None:
    page = Page(COMPAS._repr_html_())
    head, *body = page.rows
    assert head == ["group", "n", "ppr", "tpr", "fpr", "ppv", "npv", "acc", "f1", "prev"]
    assert {row[0]: row[1] for row in body} == {name: f"{int(cm.n):,}" for name, cm in eh.examples.compas().items()}
    for name, _, *scores in body:
        for key, score in zip(head[2:], scores, strict=True):
            (row,) = [r for r in COMPAS.rows if (r.group, r.metric) == (name, key)]
            assert score.split()[0].rstrip("*") == row.verdict.sign
            assert score.split()[-1] == f"{row.score:.3f}"
    assert "too few to tell; rests on 9 cases; reference 0.626" in page.titles


@pytest.mark.parametrize("result", [COMPAS, HOLES, eh.interval(CM(3, 1, 0, 6), "tpr")], ids=["a", "b", "c"])
def test_marks_are_legible_on_light_and_on_dark_and_text_has_the_colour_of_the_notebook(result: Any) -> None:
    html = result._repr_html_()
    text_colours = set(re.findall(r"(?<![-\w])color:([^;\"]+)", html)) - {"inherit"}
    shapes = set(re.findall(r"(?:fill|stroke)=\"([^\"]+)\"", html)) - {"currentColor"}
    assert text_colours | shapes
    for colour in text_colours | shapes:
        for page in ("#ffffff", "#111111", "#1e1e1e"):
            assert contrast(colour, page) >= 3, colour
    assert "<style" not in html and "class=" not in html


def test_hundreds_of_groups_and_many_metrics_stay_short_in_a_notebook() -> None:
    counts = {f"group {i}": (i % 7, 9, i % 5, 20 + i) for i in range(400)}
    metrics = [m.key for m in eh.list_metrics() if m.groups == 1 and m.shape != "pair"][:14]
    a = eh.audit_counts(counts, metrics=metrics)
    html = a._repr_html_()
    page = Page(html)
    assert len(page.rows) == 41
    assert len(page.rows[0]) == 2 + 12
    assert "Not shown: 360 more groups and 2 more metrics." in html
    assert page.tags.count("li") <= 12


DISTRIBUTION = eh.distribution("mcc", 20, CM(116, 177, 554, 2429))
VIEWS: dict[str, tuple[Any, list[str]]] = {
    "match": (eh.match_test(CM(3, 1, 0, 6), CM(116, 177, 554, 2429), "tpr"), ["<svg", "p-value", "0.3568"]),
    "undefined match": (eh.match_test(CM(0, 0, 2, 6), CM(116, 177, 554, 2429), "tpr"), ["no actual positives"]),
    "interval": (eh.interval(CM(3, 1, 0, 6), "tpr"), ["<svg", "0.2838 to 0.9715"]),
    "interval without end": (eh.interval(CM(5, 0, 0, 5), "dor"), ["undefined"]),
    "difference": (eh.disparity(CM(3, 1, 0, 6), CM(116, 177, 554, 2429), "tpr"), ["<svg", "0.750", "0.396"]),
    "ratio": (eh.disparity(CM(3, 1, 0, 6), CM(116, 177, 554, 2429), "ppr", "ratio"), ["<svg", "0.300"]),
    "risk": (eh.risk("tpr", CM(3, 1, 0, 6), 8, eh.CrossPrior(CM(116, 177, 554, 2429), 5)), ["bias", "0.75"]),
    "smoothed": (eh.cross_prior_smooth(CM(3, 1, 0, 6), CM(116, 177, 554, 2429), 10), ["1.67705", "strength 10"]),
    "empty, smoothed": (eh.cross_prior_smooth(CM(0, 0, 0, 0), CM(1, 1, 1, 1), 4), ["the group is empty"]),
    "matrix": (CM(3, 1, 0, 6), ["actual +", "predicted"]),
    "distribution": (DISTRIBUTION, ["<svg", "mean", f"{DISTRIBUTION.mean:.4g}"]),
    "large distribution": (eh.distribution("mcc", 100_000, CM(116, 177, 554, 2429)), ["100,000 cases"]),
    "two groups": (eh.distribution("ofi", (10, 20)), ["<svg", "10 and 20 cases"]),
    "prior": (eh.check_prior(CM(3, 1, 0, 6), CM(116, 177, 554, 2429)), ["<li>", "doubtful"]),
    "stress": (eh.stress_test({"A": CM(30, 10, 12, 48), "B": CM(20, 20, 30, 30)}, ["acc"], [5, 9], [2.0, 5.0]),
               ["λ = 2", "λ = 5", "Worst: "]),
    "undefined": (eh.undefined_table(5, ["tpr"])[0], ["6 of 56"]),
    "spread": (spread_of({"A": CM(3, 1, 0, 6), "B": CM(116, 177, 554, 2429)}), ["groups spread like"]),
    "row": (COMPAS.rows[0], ["▲", "higher", "0.588", "3,696 of 3,696", "&lt; 0.001"]),
    "row with a hole": (HOLES.rows[-4], ["no actual positives"]),
    "finding": (COMPAS.findings[0], ["EH101"]),
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_every_result_has_a_compact_view(name: str) -> None:
    result, parts = VIEWS[name]
    html = result._repr_html_()
    Page(html)
    assert len(html) < 8000
    for part in parts:
        assert part in html
    assert ("<svg" in html) == ("<svg" in parts)
