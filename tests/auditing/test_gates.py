"""Gates: they cover what was requested, and what they could not look for never passes."""

from __future__ import annotations

import re
from math import comb, isnan
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from pytest import approx
from scipy.stats import hypergeom

import evenhand as eh
from evenhand.auditing import GATES, KINDS, Audit, GateResult, check_gates
from evenhand.cli import evenhand as command
from evenhand.errors import GateFailed, InvalidInput, UnknownName

# Of the issue: "1 higher, 1 lower", exit 0.
TODAY = {"A": (400, 100, 300, 200), "B": (100, 400, 50, 450)}
LIKE = {"A": (30, 10, 8, 30), "B": (300, 100, 120, 480)}


def one(audit: Audit, gate: str, **asked: Any) -> GateResult:
    """The result of one gate."""
    (result,) = check_gates(audit, [gate], **asked)
    return result


def counts_file(tmp_path: Any, counts: dict[str, Any], name: str = "c.csv") -> str:
    lines = [",".join(map(str, (group, *cells))) for group, cells in counts.items()]
    (tmp_path / name).write_text("\n".join(["g,tp,fn,fp,tn", *lines, ""]), "utf-8")
    return str(tmp_path / name)


def run(*words: str, command_name: str = "audit") -> Result:
    return CliRunner().invoke(command, [command_name, *words], catch_exceptions=False)


# What the issue says of today


def test_differences_of_selection_rates_fail_the_gates_that_are_asked(tmp_path: Any) -> None:
    file = counts_file(tmp_path, TODAY)
    for gate in ("differs", "beyond-margin"):
        done = run("--counts", file, "--metric", "ppr", "--fail-on", gate, "--quiet")
        assert done.exit_code == 1
        assert done.stdout.splitlines()[-1] == f"gate {gate}: ppr over 2 groups: failed (2 rows)"
        assert done.stdout.count("alert EH104") == 2
    done = run("--counts", file, "--fail-on", "differs", "--quiet")
    assert "gate differs: ppr, tpr, fpr, ppv, acc over 2 groups: failed (6 rows)" in done.stdout


def test_four_fifths_needs_favourable_and_adds_selection_rates_by_itself(tmp_path: Any) -> None:
    file = counts_file(tmp_path, TODAY)
    for more in ([], ["--metric", "tpr"]):
        done = run("--counts", file, *more, "--fail-on", "four-fifths", "--quiet")
        said = "gate four-fifths: could not be evaluated: it needs --favourable\n"
        assert (done.exit_code, done.stdout) == (2, said)
        done = run("--counts", file, *more, "--favourable", "positive", "--fail-on", "four-fifths", "--quiet")
        assert done.exit_code == 1 and "B: impact ratio 0.214" in done.stdout
        assert "gate four-fifths: ppr over 2 groups: failed (1 row)" in done.stdout
    words = ["--metric", "tpr", "--favourable", "positive", "--fail-on", "four-fifths", "--fail-on", "differs"]
    done = run("--counts", file, *words, "--quiet")
    assert "gate differs: tpr over 2 groups: failed (2 rows)" in done.stdout, "of what was requested"
    like = counts_file(tmp_path, {"A": (400, 100, 50, 450), "B": (100, 400, 350, 150)}, "like.csv")
    assert run("--counts", like, *words[2:], "--metric", "acc", "--quiet").exit_code == 1
    done = run("--counts", like, "--favourable", "positive", "--metric", "ppr", "--fail-on", "four-fifths")
    assert done.exit_code == 0 and "gate four-fifths: ppr over 2 groups: passed" in done.stdout


def test_one_gate_fails_and_another_cannot_be_evaluated(tmp_path: Any) -> None:
    """The exit code is 1, and both sentences are printed."""
    words = ["--metric", "tpr", "--fail-on", "differs", "--fail-on", "four-fifths", "--quiet"]
    done = run("--counts", counts_file(tmp_path, TODAY), *words)
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-2:] == [
        "gate differs: tpr over 2 groups: failed (2 rows)",
        "gate four-fifths: could not be evaluated: it needs --favourable",
    ]
    assert run("--counts", counts_file(tmp_path, LIKE), *words).exit_code == 2


@pytest.mark.parametrize("absent", ["north", "south", "west"])
def test_no_gate_passes_if_a_required_group_is_missing_from_the_file(tmp_path: Any, absent: str) -> None:
    counts = {"north": (180, 40, 30, 250), "south": (90, 18, 17, 125), "west": (11, 3, 2, 16)}
    required = [word for group in counts for word in ("--require", f"g={group}")]
    asked = [*required, "--favourable", "positive", "--quiet"]
    whole = counts_file(tmp_path, counts)
    (tmp_path / "before.csv").write_text((tmp_path / "c.csv").read_text("utf-8").replace("180", "190"), "utf-8")
    before = str(tmp_path / "before.json")
    run("--counts", str(tmp_path / "before.csv"), "--json", before)
    part = counts_file(tmp_path, {g: c for g, c in counts.items() if g != absent}, "part.csv")
    assert run("--counts", whole, *asked).exit_code == 0
    for gate in [None, *GATES]:
        more = [] if gate is None else ["--fail-on", gate]
        more += ["--since", before] if gate == "worse" else []
        done = run("--counts", part, *asked, *more)
        assert done.exit_code == 1, gate
        assert f"alert EH309: '{absent}' of 'g' has no cases" in done.stdout
        assert "gate absent-group: 3 required groups: failed (1 finding)" in done.stdout
    done = run("--counts", whole, *required, "--require", "region=west")
    assert (done.exit_code, done.stderr) == (2, "Error: no group column in --require is called 'region'; known: g\n")


def test_a_group_without_cases_is_absent() -> None:
    a = eh.audit_counts(LIKE | {"C": (0, 0, 0, 0)}, metrics="tpr")
    assert one(a, "absent-group", require={"group": ["C"]}).outcome == "failed"
    a.check(require={"group": "A"})
    for require, error, sentence in (
        (["A"], InvalidInput, "require must map group columns to groups, as {'region': ['west']}; got ['A']"),
        ({"site": "A"}, UnknownName, "no group column in require is called 'site'; known: group"),
    ):
        with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
            a.check("differs", require=require)  # type: ignore[arg-type]


def test_required_groups_must_have_conclusive_verdicts(tmp_path: Any) -> None:
    counts = {"A": (400, 100, 300, 200), "B": (100, 400, 50, 450), "small": (1, 1, 0, 2), "none": (0, 0, 3, 4)}
    a = eh.audit_counts(counts, metrics="tpr")
    for group, outcome in (("A", "passed"), ("small", "failed"), ("none", "failed")):
        _, result = check_gates(a, [], {"group": group}, require_conclusive=True)
        assert (result.gate, result.outcome) == ("require-conclusive", outcome), group
    (result,) = check_gates(a, [], require_conclusive=True)
    assert str(result) == "gate require-conclusive: could not be evaluated: it needs require"
    file = counts_file(tmp_path, counts)
    for group, code in (("A", 0), ("small", 1)):
        words = ["--metric", "tpr", "--require", f"g={group}", "--require-conclusive", "--quiet"]
        assert run("--counts", file, *words).exit_code == code


def test_the_header_says_that_the_gate_changed_the_family(tmp_path: Any) -> None:
    file = counts_file(tmp_path, LIKE)
    said = "adjusted over the whole audit because of --fail-on"
    for words, is_said in (
        (["--fail-on", "differs"], True),
        ([], False),
        (["--family", "audit", "--fail-on", "differs"], False),
        (["--family", "metric", "--fail-on", "differs"], False),
    ):
        html = tmp_path / "a.html"
        text = " ".join(run("--counts", file, *words, "--html", str(html)).stdout.split())
        page = " ".join(html.read_text("utf-8").split())
        assert (said in text, said in page) == (is_said, is_said), words


# What gates are adjusted over


def test_gates_are_adjusted_over_the_whole_audit_by_holms_method_whatever_is_displayed() -> None:
    """Over everything together, or with an equal share of the level for each metric."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        counts = {g: tuple(rng.integers(0, 40, 4).tolist()) for g in "abcd"}
        asked: Any = {"metrics": ["tpr", "fpr", "ppr", "mcc"]}
        whole = eh.audit_counts(counts, family="audit", **asked)
        expected = {(r.group, r.metric): r.p_adjusted for r in whole.rows}
        of_metrics = eh.audit_counts(counts, **asked).rows
        shares = {(r.group, r.metric): 4 * r.p_adjusted for r in of_metrics}
        together: Any = {"adjust": "bh", "family": "audit"}
        displayed: Any = (({}, shares), ({"adjust": "none"}, shares), (together, expected))
        for other, values in displayed:
            a = eh.audit_counts(counts, **asked, **other)
            saved = Audit.from_json(a.to_json())
            for row in (*a.rows, *saved.rows):
                value = values[row.group, row.metric]
                assert row.p_gate == approx(value if isnan(value) else min(1.0, value), nan_ok=True)
            for gate in ("differs", "beyond-margin"):
                keys = [{(r.group, r.metric) for r in one(x, gate).rows} for x in (a, saved)]
                assert keys[0] == keys[1]


def test_a_difference_in_its_family_only_is_inconclusive_for_gates() -> None:
    counts = {"A": (30, 20, 20, 30), "B": (300, 100, 200, 300)}
    a = eh.audit_counts(counts, metrics=["tpr", "fpr", "ppv", "acc", "ppr"], adjust="none")
    (row,) = [row for row in a.rows if row.group == "A" and row.metric == "tpr"]
    assert row.differs and row.p_gate > 0.05
    assert one(a, "differs").outcome == "passed"
    assert row in one(a, "inconclusive").rows


# What an audit of two groups lacks: required groups, earlier cases, goals, and a column of three groups.
APART = {"absent-group", "worse", "varies", "below-goal", "goal-unproven"}


def test_any_is_all_kinds_that_are_alerts_or_warnings() -> None:
    rows = {"g": ["a", "b"] * 20, "y": [0, 1, 1, 0] * 10, "p": [0, 1, 0, 1] * 10}
    a = eh.audit(rows, y_true="y", y_pred="p", groups="g", favourable="positive")
    gates = [result.gate for result in check_gates(a, ["any"])]
    severe = [kind for kind, (_, severity) in KINDS.items() if severity != "note"]
    assert gates == [kind for kind in severe if kind not in APART]
    with pytest.raises(InvalidInput, match=r"^name a gate, such as 'differs', or pass require$"):
        a.check()
    with pytest.raises(UnknownName, match=r"^no gate is called 'difers'; did you mean 'differs'\?$"):
        a.check("difers")


def test_check_raises_the_sentences_of_the_command() -> None:
    a = eh.audit_counts(TODAY, metrics="tpr")
    with pytest.raises(GateFailed) as failed:
        a.check("differs", "four-fifths", "undefined", require={"group": ["C"]})
    lines = str(failed.value).splitlines()
    assert lines[0] == "gate differs: tpr over 2 groups: failed (2 rows)"
    assert lines[1].startswith("- alert EH104: A: true positive rate 0.800 (n = 500)")
    assert lines[3:] == [
        "gate four-fifths: could not be evaluated: it needs favourable",
        "gate absent-group: 1 required group: failed (1 finding)",
        "- alert EH309: 'C' of 'group' has no cases",
    ]
    assert isinstance(failed.value, AssertionError) and isinstance(failed.value, eh.errors.EvenhandError)
    assert [r.outcome for r in failed.value.results] == ["failed", "not evaluated", "passed", "failed"]
    assert eh.audit_counts(LIKE, metrics="tpr").check("differs", "undefined") is None  # type: ignore[func-returns-value]


# Every kind, and every way in which it can be impossible

ROWS = {"g": list("ab") * 40, "y": [0, 1, 1, 0] * 20, "p": [0, 1, 0, 1] * 20, "s": list("cccd") * 20}
ROWS["u"] = [str(i) for i in range(80)]
CALL: Any = {"y_true": "y", "y_pred": "p", "groups": "g"}
MODELS: Any = {"y_true": "y", "models": {"old": "p", "new": "y"}, "groups": "g"}


def agreement(y: Any, p: Any) -> float:
    return float(np.mean(y == p))


UNDEFINED = "every comparison is undefined, not tested, or cannot attain p <= 0.05"
IMPOSSIBLE: dict[str, tuple[Any, dict[str, str]]] = {
    "counts have no rows of cases": (
        lambda: eh.audit_counts(LIKE),
        dict.fromkeys(
            ("left-out", "absent-label", "repeated-rows", "skipped-files"),
            "it needs rows of cases; the audit is of counts",
        )
        | {"four-fifths": "it needs favourable"},
    ),
    "no labels": (
        lambda: eh.audit(ROWS, y_pred="p", groups="g", count=1),
        {"spread": "it needs labels (y_true)"},
    ),
    "rounded counts": (
        lambda: eh.audit(ROWS, **CALL, count=1, protect="opensafely", metrics=["acc", "mcc"]),
        dict.fromkeys(
            (
                "constant",
                "left-out",
                "missing-group",
                "repeated-rows",
                "skipped-files",
                "absent-label",
                "similar-groups",
            ),
            "it needs what protect hides",
        )
        | {
            "differs": f"mcc: {UNDEFINED}",
            "beyond-margin": f"mcc: {UNDEFINED}, or its gap has no bound",
        },
    ),
    "rounded counts that show zeros": (
        lambda: eh.audit_counts(TODAY, protect="cms"),
        {"similar-groups": "it needs what protect hides"},
    ),
    "two groups": (
        lambda: eh.audit(ROWS, **CALL),
        {"varies": "it needs a rate and a column of three or more groups"}
        | dict.fromkeys(("below-goal", "goal-unproven"), "it needs goal"),
    ),
    "models": (
        lambda: eh.compare(ROWS, **MODELS, favourable="positive"),
        dict.fromkeys(
            ("constant", "spread", "chosen-reference", "repeated-rows", "four-fifths"),
            "it needs an audit of one model",
        ),
    ),
    "strata": (
        lambda: eh.audit(ROWS, **CALL, count=1, strata="s"),
        dict.fromkeys(("spread", "chosen-reference"), "it needs an audit without strata"),
    ),
    "functions only": (
        lambda: eh.audit(ROWS, **CALL, count=1, metrics=agreement),
        dict.fromkeys(("constant", "spread"), "it needs a metric of counts")
        | {"beyond-margin": f"agreement: {UNDEFINED}, or its gap has no bound"},
    ),
    "too few cases for a permutation": (
        lambda: eh.audit({"g": list("aab"), "y": [0, 1, 1], "p": [1, 0, 1]}, **CALL, count=1, metrics=agreement),
        dict.fromkeys(("differs",), f"agreement: {UNDEFINED}"),
    ),
    "a metric that was not requested": (
        lambda: eh.audit_counts(TODAY, metrics="tpr", favourable="positive"),
        {"four-fifths": "it needs the metric ppr"},
    ),
    "nobody is selected": (
        lambda: eh.audit_counts({"A": (0, 5, 0, 9), "B": (0, 50, 0, 90)}, metrics="ppr", favourable="positive"),
        {"four-fifths": "ppr: no two groups have rates to compare"},
    ),
    "every row is undefined": (
        lambda: eh.audit_counts({"A": (0, 0, 8, 30), "B": (0, 0, 120, 480)}, metrics="tpr"),
        {
            "differs": f"tpr: {UNDEFINED}",
            "beyond-margin": f"tpr: {UNDEFINED}, or its gap has no bound",
            "inconclusive": f"tpr: {UNDEFINED}",
        },
    ),
    "one metric is undefined": (
        lambda: eh.audit_counts({"A": (0, 0, 8, 30), "B": (0, 0, 120, 480)}, metrics=["tpr", "fpr"]),
        {"differs": f"tpr: {UNDEFINED}"},
    ),
    "a reference that was chosen by outcomes": (
        lambda: eh.audit_counts(TODAY, metrics="ppr", favourable="positive", reference="best"),
        {"differs": f"ppr: {UNDEFINED}"},
    ),
    "nothing is required and there is no earlier audit": (
        lambda: eh.audit_counts(LIKE),
        {"absent-group": "it needs require", "worse": "it needs since"},
    ),
}


@pytest.mark.parametrize("way", IMPOSSIBLE)
def test_a_gate_that_cannot_be_evaluated_says_what_it_lacks(way: str) -> None:
    make, lacks = IMPOSSIBLE[way]
    a = make()
    for audit in (a, Audit.from_json(a.to_json())):
        for gate, lack in lacks.items():
            result = one(audit, gate)
            said = str(result).removeprefix(f"gate {gate}: ").partition("could not be evaluated: ")[2]
            assert (result.outcome, said) == ("not evaluated", lack), gate
            with pytest.raises(GateFailed):
                audit.check(gate)


def test_every_other_kind_can_be_evaluated() -> None:
    """So that the table above lists every way but for facts that are always known."""
    rows = eh.audit(ROWS, **CALL, favourable="positive")
    known = {result.gate for result in check_gates(rows, set(KINDS) - APART) if result.outcome}
    assert known == set(KINDS) - APART
    for result in check_gates(rows, known):
        assert result.outcome != "not evaluated", str(result)
    always = set(KINDS) - {gate for _, lacks in IMPOSSIBLE.values() for gate in lacks}
    assert always == {"undefined", "weighted", "not-pooled", "protected", "clusters"}


def test_tests_that_cannot_attain_alpha_are_those_of_few_divisions() -> None:
    """Two of six cases can be chosen in 15 ways, three in 20."""
    for n, other in ((2, 4), (3, 3)):
        y = [1] * (n + other)
        rows = {"g": ["a"] * n + ["b"] * other, "y": y, "p": [1] * n + [0] * other}
        a = eh.audit(rows, **CALL, count=1, metrics=agreement, positive=1)
        assert (one(a, "differs").outcome == "not evaluated") == (comb(n + other, n) < 20)


# Earlier cases


def holm(pvalues: list[float]) -> list[float]:
    order = sorted(range(len(pvalues)), key=lambda i: pvalues[i])
    adjusted, largest = [0.0] * len(pvalues), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, pvalues[i] * (len(pvalues) - rank)))
        adjusted[i] = largest
    return adjusted


def test_worse_is_fishers_test_towards_worse_adjusted_by_holm() -> None:
    """The oracle: hypergeometric tails of SciPy."""
    rng = np.random.default_rng(3)
    for _ in range(15):
        then, now = ({g: tuple(rng.integers(1, 40, 4).tolist()) for g in "abc"} for _ in range(2))
        keys, pvalues = [], []
        for group in "abc":
            (tp, fn, fp, tn), (tp0, fn0, fp0, tn0) = now[group], then[group]
            n, n0 = sum(now[group]), sum(then[group])
            for metric, x, m, x0, m0 in (
                ("tpr", tp, tp + fn, tp0, tp0 + fn0),
                ("fpr", fp, fp + tn, fp0, fp0 + tn0),
                ("ppr", tp + fp, n, tp0 + fp0, n0),
            ):
                law = hypergeom(m + m0, x + x0, m)
                lower, upper = law.cdf(x), law.sf(x - 1)
                p = {"tpr": lower, "fpr": upper, "ppr": min(1, 2 * min(lower, upper))}[metric]
                keys.append((group, metric))
                pvalues.append(float(p))
        expected = {key for key, p in zip(keys, holm(pvalues), strict=True) if p <= 0.05}
        metrics = ["tpr", "fpr", "ppr"]
        before, after = (eh.audit_counts(x, metrics=metrics) for x in (then, now))
        result = one(after, "worse", since=before)
        assert {(row.group, row.metric) for row in result.rows} == expected
        assert result.outcome == ("failed" if expected else "passed")
        for row, found in zip(result.rows, result.findings, strict=True):
            assert (": changed" if row.metric == "ppr" else ": worse") in found.sentence


def test_what_is_missing_on_either_side_could_not_be_evaluated() -> None:
    before = eh.audit_counts({"A": (300, 100, 120, 480), "B": (30, 10, 8, 30)}, metrics=["tpr", "mcc"])
    now = eh.audit_counts({"A": (299, 101, 120, 480), "C": (0, 0, 8, 30)}, metrics=["tpr", "fpr"])
    result = one(now, "worse", since=before)
    assert result.outcome == "not evaluated"
    assert "tpr of C (not in the earlier audit)" in str(result) and "2 more" in str(result)
    far = eh.audit_counts({"A": (200, 200, 120, 480), "C": (1, 1, 8, 30)}, metrics="tpr")
    result = one(far, "worse", since=before)
    assert result.outcome == "failed" and "failed (1 row); could not be evaluated for " in str(result)
    twins = [eh.audit_counts({"A": (9, n, 8, 30), "B": (30, 10, 8, 30)}, metrics="mcc") for n in (1, 2)]
    assert "mcc of A (Fisher's test needs a rate)" in str(one(twins[0], "worse", since=twins[1]))


def test_selection_rates_without_labels_and_thresholds_and_classes_are_compared_with_before() -> None:
    rng = np.random.default_rng(2)
    data = [
        {"g": rng.choice(list("ab"), 400), "s": rng.random(400) * top, "y": rng.integers(0, 2, 400)} for top in (1, 0.7)
    ]
    old, new = (eh.audit(d, y_score="s", groups="g", threshold=0.5, count=1, metrics="ppr") for d in data)
    assert {row.metric for row in one(new, "worse", since=old).rows} == {"ppr"}
    call: Any = {"y_true": "y", "y_score": "s", "groups": "g", "threshold": [0.3, 0.6], "count": 1, "metrics": "tpr"}
    old, new = (eh.audit(d, **call) for d in data)
    result = one(new, "worse", since=old)
    assert result.outcome == "failed" and {row.threshold for row in result.rows} <= {0.3, 0.6}
    other = eh.audit(data[0], **call | {"threshold": 0.3})
    with pytest.raises(InvalidInput, match=r"^threshold must be as in the audit of since; got 0\.6 and 0\.3$"):
        one(eh.audit(data[1], **call | {"threshold": 0.6}), "worse", since=other)
    kinds = [{"g": d["g"], "y": list(map("cdf".__getitem__, d["y"])), "p": ["c"] * 400} for d in data]
    old, new = (eh.audit(d, y_true="y", y_pred="p", groups="g", classes="all", count=1, metrics="acc") for d in kinds)
    assert "Fisher" not in str(one(new.at(**{"class": "c"}), "worse", since=old.at(**{"class": "c"})))


def test_audits_that_cannot_be_compared_with_earlier_ones_are_refused(tmp_path: Any) -> None:
    a, b = (eh.audit_counts({"A": (n, 10, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr") for n in (30, 31))
    rounded = eh.audit_counts(TODAY, metrics="tpr", protect="cms")
    models = eh.compare(ROWS, **MODELS, metrics="tpr")
    weighted = eh.audit(ROWS | {"w": [0.5, 1.5, 1.0, 1.0] * 20}, **CALL, sample_weight="w", metrics="ppv")
    for now, then, sentence in (
        (a, a, "since must be an audit of other cases; it is of the same data"),
        (a, rounded, "protect and since cannot be combined: changes of rounded counts have no bound"),
        (rounded, a, "protect and since cannot be combined: changes of rounded counts have no bound"),
        (a, models, "since is for audits of one model; got one of several models"),
        (a, "b.json", "since must be an Audit; got 'b.json'"),
    ):
        with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
            now.check("worse", since=then)  # type: ignore[arg-type]
    a.check("worse", since=b)
    earlier = eh.audit(ROWS | {"y": [1, 1, 1, 0] * 20}, **CALL, metrics="ppv")
    assert "ppv of b (weighted or clustered)" in str(one(weighted, "worse", since=earlier))
    file = counts_file(tmp_path, {"A": (20, 20, 8, 30), "B": (200, 200, 120, 480)})
    saved = tmp_path / "before.json"
    saved.write_text(eh.audit_counts({"A": (30, 10, 8, 30), "B": (300, 100, 120, 480)}, by="g").to_json(), "utf-8")
    done = run("--counts", file, "--metric", "tpr", "--since", str(saved), "--quiet")
    assert done.exit_code == 1 and "alert EH107: B: tpr 0.500 (n = 400), was 0.750 (n = 400): worse" in done.stdout
    done = run("--counts", file, "--since", file)
    assert done.exit_code == 2 and done.stderr.startswith("Error: --since must be an audit written by to_json(): ")
    done = run("--counts", file, "--since", str(saved), "--json", str(saved))
    assert done.exit_code == 2 and "would overwrite the input" in done.stderr


# Disclosure control


def test_with_protect_gates_depend_on_rounded_counts_only(tmp_path: Any) -> None:
    """All tables behind one rounding have the same output and exit code."""
    rng = np.random.default_rng(5)
    exact: dict[str, Any] = {"A": (400, 100, 300, 200), "B": (100, 400, 50, 450), "C": (3, 1, 9, 2)}
    tables: list[dict[str, Any]] = [exact]
    for _ in range(4):
        # By this rule counts of 1 to 10 are small, and others are rounded in blocks of 11 that begin with 11.
        lows = {g: [1 if n < 11 else n // 11 * 11 for n in cells] for g, cells in exact.items()}
        tables.append({g: tuple(int(n + rng.integers(0, 10 + (n > 1))) for n in cells) for g, cells in lows.items()})
    gates = [word for gate in (*KINDS, "any") for word in ("--fail-on", gate)]
    for rule in ("cms", "11"):
        for words in (gates, ["--fail-on", "differs"], ["--require", "g=C"], ["--require", "g=D", "--quiet"]):
            asked = [*words, "--protect", rule, "--favourable", "positive"]
            done = [run("--counts", counts_file(tmp_path, table), *asked) for table in tables]
            first = done[0]
            assert all((d.exit_code, d.output) == (first.exit_code, first.output) for d in done), words
    rounded = eh.audit_counts(tables[0], protect="cms")
    lack = "'C' of 'group' has no cases, or too few to be shown with protect"
    assert str(one(rounded, "absent-group", require={"group": "C"})).endswith(lack)


# Outputs for pipelines, and config files


def test_gates_are_in_junit_and_annotations(tmp_path: Any) -> None:
    words = ["--metric", "tpr", "--fail-on", "differs", "--fail-on", "four-fifths", "--fail-on", "undefined"]
    xml = tmp_path / "a.xml"
    done = run("--counts", counts_file(tmp_path, TODAY), *words, "--quiet", "--github", "--junit", str(xml))
    text = xml.read_text("utf-8")
    assert 'failures="3" skipped="0" errors="1"' in text
    assert '<error type="not evaluated" message="gate four-fifths: could not be evaluated' in text
    assert (
        "::error title=gate four-fifths::gate four-fifths: could not be evaluated: it needs favourable" in done.stdout
    )


def test_config_files_require_groups(tmp_path: Any) -> None:
    file = counts_file(tmp_path, LIKE)
    for table, code in (
        ('require = ["g=A", "g=C"]', 1),
        ("[require]\ng = ['A', 'B']", 0),
        ("[require]\ng = 'C'", 1),
        ("require-conclusive = true\nrequire = ['g=A']", 1),
        ("require = ['A']", 2),
    ):
        (tmp_path / "o.toml").write_text(table, "utf-8")
        done = run("--counts", file, "--config", str(tmp_path / "o.toml"), "--quiet")
        assert done.exit_code == code, table
    assert done.stderr == "Error: --require must be COLUMN=GROUP; got 'A'\n"


def test_models_and_frames_have_gates(tmp_path: Any) -> None:
    path = tmp_path / "d.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    words = [str(path), "--label", "y", "--model", "old=p", "--model", "new=y", "--group", "g", "--metric", "acc"]
    done = run(*words, "--fail-on", "worse", "--quiet", command_name="compare")
    assert (done.exit_code, done.stdout) == (0, "gate worse: acc over 3 groups: passed\n")
    backwards = [*words[:3], "--model", "new=y", "--model", "old=p", *words[7:]]
    done = run(*backwards, "--fail-on", "worse", "--quiet", command_name="compare")
    assert done.exit_code == 1 and done.stdout.endswith("gate worse: acc over 3 groups: failed (3 rows)\n")
    done = run(*words, "--fail-on", "four-fifths", "--quiet", command_name="compare")
    assert done.exit_code == 2 and done.stdout.endswith("could not be evaluated: it needs an audit of one model\n")


def test_goals_and_changes_that_could_not_be_tested_do_not_pass() -> None:
    """Goals of a rate without cases passed, as did changes of metrics without a direction, and 1 case against 1."""
    undefined = eh.audit_counts({"a": (50, 50, 0, 0), "b": (40, 60, 0, 0)}, metrics="tpr", goal={"fpr": "<=0.1"})
    one_case = eh.audit_counts({"a": (1, 0, 5, 500), "b": (0, 1, 5, 500)}, metrics="tpr", goal={"tpr": 0.8})
    rows: Any = {"y": [1] * 40, "o": [0] * 20 + [1] * 20, "n": [1] * 40, "g": list("ab") * 20}
    of_models: Any = {"y_true": "y", "models": {"o": "o", "n": "n"}, "groups": "g", "positive": 1}
    without_direction = eh.compare(rows, metrics="ppr", **of_models)
    five = {name: values[:5] for name, values in rows.items()}
    few = eh.compare(five, **of_models | {"groups": None}, metrics="acc")
    for audit, gate in (
        (undefined, "below-goal"),
        *((one_case, gate) for gate in ("differs", "beyond-margin", "below-goal")),
        *((audit, "worse") for audit in (without_direction, few)),
    ):
        assert one(audit, gate).outcome == "not evaluated", gate
    assert one(undefined, "goal-unproven").outcome == "failed"
    assert one(eh.compare(rows, **of_models), "worse").text.startswith("gate worse: acc, tpr, fpr over 3 groups")
    before, now = (eh.audit_counts({"a": (1, 0, 9, 9), "b": cells}, metrics="tpr") for cells in
                   ((1, 0, 5, 500), (0, 1, 5, 501)))  # fmt: skip
    assert one(now, "worse", since=before).outcome == "not evaluated"


def test_keys_beside_the_table_of_a_command_are_refused(tmp_path: Any) -> None:
    """`fail-on` above [audit] was dropped, so that the gate passed."""
    (tmp_path / "c.toml").write_text('fail-on = ["differs"]\n[audit]\nmetric = ["tpr"]\n')
    file = counts_file(tmp_path, {"A": (20, 20, 8, 30), "B": (400, 0, 120, 480)})
    done = run("--counts", file, "--config", str(tmp_path / "c.toml"), "--quiet")
    assert done.exit_code == 2 and "'fail-on' in " in done.stderr and "table [audit]" in done.stderr
