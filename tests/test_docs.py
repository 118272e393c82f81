"""The documentation: every block is run, every page is built, and nothing in it is fetched from anywhere."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
import types
import zlib
from contextlib import chdir, nullcontext
from html.parser import HTMLParser
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import click
import pytest
import yaml
from decisions import write_parquet
from engines import needs, optional
from pages import DOCS, ROOT, blocks, commands, pages, play, run_words

import evenhand as eh
from evenhand.auditing.findings import KINDS
from evenhand.cli import COMMANDS, evenhand as main_command

ALL = {str(path.relative_to(DOCS)): path.read_text("utf-8") for path in pages()}
WITH_COMMANDS = [name for name, text in ALL.items() if any(block.what == "console" for block in blocks(text))]
DIRECTIVES = {"toctree", "literalinclude", "command-list"}
DIRECTIVES |= {f"{what}-table" for what in ("metric", "undefined", "format", "finding", "column")}
TESTED_HERE = {
    "how-to/spark.md": {"audit_on_spark.py", "counts.sql"},
    "how-to/ci.md": {"audit.toml"},
    "how-to/mlflow.md": {"log_audit.py"},
    "how-to/warehouse.md": {"decisions.sql"},
}


# Every block is run


def kind_of(block: Any, used: str, page: str = "") -> str | None:
    """How a block is tested; None if it is not."""
    if block.what == "python" and block.body.startswith(">>> "):
        return "doctest"
    if block.what == "console" and block.body.startswith("$ "):
        return "command"
    if block.caption and (block.caption in used or block.caption in TESTED_HERE.get(page, ())):
        return "file"
    if block.what.startswith("{") and block.what[1:].split("}")[0] in DIRECTIVES:
        return "directive"
    return None


def test_every_block_is_closed_and_of_a_kind_that_is_run() -> None:
    """A block that no test runs could say anything; one that is not closed goes on to the end of the next one."""
    for name, text in ALL.items():
        used = " ".join(line for block in blocks(text) if block.what == "console" for line, _ in commands(block.body))
        assert [str(block) for block in blocks(text) if kind_of(block, used, name) is None] == [], name
        assert [str(block) for block in blocks(text) if re.search("^```", block.body, re.MULTILINE)] == [], name
        assert "~~~" not in text, name
    for what in ("py", "sh", "python", "json", "", "{eval-rst}", "{code-block} python"):
        (block,) = blocks(f"# Page\n\n```{what}\nprint(1)\n```\n")
        assert kind_of(block, "") is None, "other blocks would be noticed"


def test_pytest_collects_the_python_blocks() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
    assert "docs" in options["testpaths"]
    assert "--doctest-glob=*.md" in options["addopts"]


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_commands_print_what_the_page_says(name: str, tmp_path: Path) -> None:
    """``python tests/pages.py PAGE`` writes what they print into the page."""
    for command, said, printed in play(ALL[name], tmp_path):
        assert said == printed, command


def test_an_unknown_program_is_not_run() -> None:
    with pytest.raises(AssertionError, match=r"^no test runs \['rm', 'x'\]"):
        run_words(["rm", "x"], "")
    with pytest.raises(AssertionError):
        run_words(["pip", "install", "evenhand[nosuch]"], "")


# What cannot be run as it stands: a cluster, a database, and GitHub


def file_of(page: str, name: str) -> str:
    return next(block.body for block in blocks(ALL[page]) if block.caption == name)


def people() -> dict[str, list[Any]]:
    rows = [
        (race, sex, label, pred)
        for race, sex, cells in (("a", "f", (9, 3, 2, 8)), ("a", "m", (12, 2, 3, 9)), ("b", "f", (2, 2, 1, 4)))
        for (label, pred), count in zip(((1, 1), (1, 0), (0, 1), (0, 0)), cells, strict=True)
        for _ in range(count)
    ]
    return dict(zip(("race", "sex", "label", "pred"), map(list, zip(*rows, strict=True)), strict=True))


def test_the_script_for_spark_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """DuckDB stands in for Spark: a lazy table of a Parquet file. Real Spark is tested in data/test_frames.py."""
    needs("pyarrow")
    import duckdb

    write_parquet(people(), tmp_path / "decisions.parquet")
    session = types.SimpleNamespace(read=types.SimpleNamespace(parquet=duckdb.read_parquet))
    module = types.ModuleType("pyspark.sql")
    module.DataFrame = type("DataFrame", (), {})  # type: ignore[attr-defined]
    module.SparkSession = types.SimpleNamespace(  # type: ignore[attr-defined]
        builder=types.SimpleNamespace(getOrCreate=lambda: session)
    )
    monkeypatch.setitem(sys.modules, "pyspark", types.ModuleType("pyspark"))
    monkeypatch.setitem(sys.modules, "pyspark.sql", module)
    scope: dict[str, Any] = {}
    with chdir(tmp_path):
        exec(compile(file_of("how-to/spark.md", "audit_on_spark.py"), "audit_on_spark.py", "exec"), scope)
    expected = eh.audit(people(), y_true="label", y_pred="pred", groups=["race", "sex"])
    assert scope["a"].rows == expected.rows
    assert "evenhand audit: 57 cases" in capsys.readouterr().out


def test_the_script_for_mlflow_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module with the functions that it calls stands in for MLflow, and refuses the names that MLflow refuses."""
    logged: dict[str, Any] = {"metrics": {}, "files": {}}

    def log_metrics(metrics: dict[str, float]) -> None:
        assert all(re.fullmatch(r"[\w\-. :/]+", name) and value == float(value) for name, value in metrics.items())
        logged["metrics"] |= metrics

    module = types.ModuleType("mlflow")
    calls = {
        "start_run": lambda run_name: nullcontext(),
        "log_metrics": log_metrics,
        "log_params": lambda params: logged.update(params=params),
        "log_table": lambda table, file: logged["files"].update({file: table}),
        "log_text": lambda text, file: logged["files"].update({file: text}),
    }
    vars(module).update(calls)
    monkeypatch.setitem(sys.modules, "mlflow", module)
    data = people()
    places = ["north & east" if race == "a" else "süd" for race in data["race"]]
    lines = zip(places, data["label"], data["pred"], strict=True)
    text = "region,label,prediction\n" + "".join(f"{region},{label},{pred}\n" for region, label, pred in lines)
    (tmp_path / "predictions.csv").write_text(text, "utf-8")
    with chdir(tmp_path):
        exec(compile(file_of("how-to/mlflow.md", "log_audit.py"), "log_audit.py", "exec"), {})
    assert {"tpr/region/north _ east", "fpr/region/süd", "findings/inconclusive"} <= logged["metrics"].keys()
    assert logged["params"] == {"alpha": 0.05, "family": "metric", "cases": 57}
    files = logged["files"]
    assert list(files) == ["audit_table.json", "audit.html", "audit.json"]
    assert len(files["audit_table.json"]) == len(eh.Audit.from_json(files["audit.json"]).rows) == 6
    assert files["audit.html"].startswith("<!doctype html>")


def test_the_queries_give_the_counts_of_an_audit(tmp_path: Path) -> None:
    import duckdb
    import pandas as pd

    decisions = pd.DataFrame(people())
    counts = duckdb.query_df(decisions, "decisions", file_of("how-to/spark.md", "counts.sql")).df()
    audited = eh.audit(decisions, y_true="label", y_pred="pred", groups="race").rows
    assert eh.audit_counts(counts).rows == audited
    dated = decisions.rename(columns={"race": "region", "pred": "prediction"}).assign(
        decided_on=pd.Timestamp("2026-03-01")
    )
    counted = duckdb.query_df(dated, "decisions", file_of("how-to/warehouse.md", "decisions.sql")).df()
    asked: Any = {"y_true": "label", "y_pred": "prediction", "groups": ["region", "sex"]}
    assert eh.audit(counted, count="n", **asked).rows == eh.audit(dated, **asked).rows


WORKFLOW = (DOCS / "how-to/audit.yml").read_text("utf-8")


@pytest.mark.parametrize(("missed", "column", "code"), [(2, "label", 0), (60, "label", 1), (2, "other", 2)])
def test_the_workflow_runs_the_gate(
    missed: int, column: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its commands are run one after the other: for a good model, a bad one, and data that cannot be audited."""
    job = yaml.safe_load(WORKFLOW)["jobs"]["audit"]
    steps = [step for step in job["steps"] if "run" in step]
    found = {"north": (180, 2, 30, 250), "south": (90, missed, 17, 125), "west": (14, 0, 2, 16)}
    table = eh.examples.rows({name: eh.ConfusionMatrix.from_array(cells) for name, cells in found.items()})
    rows = zip(*(table[name].tolist() for name in ("group", "y_true", "y_pred")), strict=True)
    text = f"region,{column},prediction\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    (tmp_path / "predict.py").write_text(f"open('predictions.csv', 'w').write({text!r})", "utf-8")
    (tmp_path / "audit.toml").write_text(file_of("how-to/ci.md", "audit.toml"), "utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    ended, printed = {}, ""
    with chdir(tmp_path):
        for step in steps:
            needed = re.search(r"hashFiles\('(.*?)'\) != ''", step.get("if", ""))
            if needed and not Path(needed[1]).exists():
                continue
            words = shlex.split(step["run"], comments=True)
            if ">>" in words:
                assert words[-2:] == [">>", "$GITHUB_STEP_SUMMARY"]
                words = words[:-2]
            text, ended[words[0]] = run_words(words, "")
            printed += text if words[0] == "evenhand" else ""
    shown = {"cat": 0} if code < 2 else {}
    assert ended == {"pip": 0, "python": 0, "evenhand": code} | shown
    kept = next(step["with"]["path"] for step in job["steps"] if "upload" in step.get("uses", "")).split()
    assert all((tmp_path / name).exists() == bool(shown) for name in kept)
    assert all((tmp_path / name).stat().st_size > 500 for name in kept if shown)
    assert ("\n::error title=EH10" in printed) == (code == 1)
    if shown:
        failures = ElementTree.parse(tmp_path / "audit.xml").getroot().attrib["failures"]
        assert (failures != "0") == (code == 1)


def test_the_workflow_reads_little_and_pins_its_actions() -> None:
    workflow = yaml.safe_load(WORKFLOW)
    assert workflow["permissions"] == {"contents": "read"}
    used = [step["uses"] for step in workflow["jobs"]["audit"]["steps"] if "uses" in step]
    assert used and all(re.fullmatch(r"actions/[\w-]+@v\d+", name) for name in used)


# Notebooks

NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def test_notebooks_hold_no_outputs_and_nothing_of_a_machine() -> None:
    for path in NOTEBOOKS:
        notebook = json.loads(path.read_text("utf-8"))
        assert notebook["metadata"] == {"language_info": {"name": "python"}}
        for cell in notebook["cells"]:
            assert cell["metadata"] == {} and cell.get("outputs", []) == [] and cell.get("execution_count") is None


# The pages as they are built


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, made by the command in the Makefile; any warning is an error. Notebooks are run on the way."""
    (line,) = re.findall(r"^docs: ; \$\(bin\)/(sphinx-build .*?) ##", (ROOT / "Makefile").read_text("utf-8"), re.M)
    assert line == "sphinx-build -W -b html docs docs/_build/html"
    out = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "sphinx", *line.split()[1:-1], str(out), "-q", "-d", str(out / ".trees")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return out


def inventory(built: Path) -> set[tuple[str, str]]:
    """The names that the site documents, with their kinds."""
    packed = (built / "objects.inv").read_bytes().split(b"\n", 4)[4]
    lines = zlib.decompress(packed).decode().splitlines()
    return {(kind, name) for name, kind, *_ in (line.split() for line in lines)}


def test_every_public_name_is_in_the_reference(built: Path) -> None:
    documented = {name for kind, name in inventory(built) if kind.startswith("py:")}
    stub = (ROOT / "src/evenhand/__init__.pyi").read_text("utf-8")
    assert set(re.findall(r"(\w+) as \1", stub)) == set(eh.__all__)
    public = set(public_paths()) - {"evenhand.EvenhandError"}
    assert len(public) > 70
    assert public - documented == set()
    methods = {f"evenhand.Audit.{name}" for name in ("to_frame", "to_html", "to_json", "plot", "repeat", "changes")}
    assert methods - documented == set()


class Text(HTMLParser):
    """The text of a page, and what it would load."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.loaded: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = {name: value or "" for name, value in attrs}
        if tag in ("img", "script", "iframe", "source") or (tag == "link" and "stylesheet" in given.get("rel", "")):
            self.loaded += [value for name, value in given.items() if name in ("src", "href", "srcset")]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(path: Path) -> Text:
    page = Text()
    page.feed(path.read_text("utf-8"))
    return page


def text_of(built: Path, page: str) -> str:
    return " ".join(" ".join(read(built / page).words).split())


def test_metrics_findings_and_options_are_in_the_reference(built: Path) -> None:
    metrics = text_of(built, "reference/metrics.html")
    for metric in eh.list_metrics():
        assert metric.name in metrics and metric.key in metrics, metric.key
        if metric.in_paper:
            assert f"{eh.count_undefined(metric, 20 if metric.groups == 1 else (20, 20)):,}" in metrics
    findings = text_of(built, "reference/audit.html")
    for kind, (code, severity) in KINDS.items():
        assert f"{code} {kind} {severity}" in findings
    shown = text_of(built, "reference/commands.html")
    for name in COMMANDS:
        command = main_command.get_command(click.Context(main_command), name)
        assert command is not None
        inner = list(command.commands.items()) if isinstance(command, click.Group) else [("", command)]
        for sub, found in inner:
            assert f"evenhand {name} {sub}".strip() in shown
            for option in (p for p in found.params if isinstance(p, click.Option)):
                assert all(flag in shown for flag in option.opts)
                assert option.help, option.name
                assert " ".join(option.help.split()).split("`")[0] in shown, option.name


def test_formulas_are_mathml_and_nothing_is_loaded_from_elsewhere(built: Path) -> None:
    """No formula is left as it was typed, and none needs a script."""
    with_formulas = set()
    for path in built.rglob("*.html"):
        page = read(path)
        assert [url for url in page.loaded if re.match(r"(?:https?:)?//", url)] == [], path
        if "math" in page.tags:
            with_formulas.add(path.stem)
            text = re.sub(r"\$ \w+", "", " ".join(page.words))
            assert not re.search(r"\\(?:frac|sum|le|binom|lambda)\b|\$", text), path
    assert with_formulas >= {"errata", "splits", "undefined", "match"}
    for sheet in built.rglob("*.css"):
        assert not re.search(r"@import|url\(['\"]?(?:https?:)?//", sheet.read_text("utf-8")), sheet


def test_notebooks_are_shown_with_what_they_give(built: Path) -> None:
    for path in NOTEBOOKS:
        page = read(built / "notebooks" / f"{path.stem}.html")
        assert any(url.startswith("data:image/png;base64,") for url in page.loaded), path
    shown = text_of(built, "notebooks/audit.html")
    assert "10 of 24 comparisons differ" in shown and "adjusted p < 0.001; at least 18 points more" in shown
    assert "181 cases find a difference in ppr of -0.1" in text_of(built, "notebooks/planning.html")
    case = text_of(built, "notebooks/case-study.html")
    assert "Inconclusive: 8 of 10. The interval of the gap contains 0 in 8 of them" in case
    assert "Differences found: 15; published: 12; with the opposite direction: 0." in case
    alarmed = dict(re.findall(r"(monitor|repeated test) *: a false alarm in (\d+) of 40 years", case))
    assert int(alarmed["monitor"]) <= 2 < int(alarmed["repeated test"])


SHOWN = ("index", "tutorial", "explanation/errata", "reference/metrics", "notebooks/audit", "notebooks/case-study")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_open_in_a_browser_without_a_request(browser: Any, violations: Any, built: Path, scheme: str) -> None:
    """Nothing is fetched, nothing is wider than the screen, and axe finds nothing serious."""
    requests: list[str] = []
    errors: list[str] = []
    for width in (1280, 375):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        opened = context.new_page()
        opened.on("request", lambda request: requests.append(request.url))
        opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        for page in SHOWN:
            opened.goto((built / f"{page}.html").as_uri())
            wider = opened.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert wider <= 0, (page, width)
        context.close()
    assert errors == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    opened = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme).new_page()
    for page in ("tutorial", "notebooks/audit"):
        opened.goto((built / f"{page}.html").as_uri())
        assert violations(opened) == [], page
    opened.context.close()


# What is said in other places


def test_pages_that_are_named_elsewhere_exist_and_links_lead_somewhere() -> None:
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "pyproject.toml")]
    files = [p for folder in ("src", "tests", "benchmarks", "docs") for p in (ROOT / folder).rglob("*.*")]
    for path in [*top, *(p for p in files if p.suffix in (".py", ".html", ".md", ".js") and "_build" not in p.parts)]:
        for name in re.findall(r"\bdocs/(?:source/)?[\w/-]+\.md", path.read_text("utf-8")):
            assert (ROOT / name).exists(), (path, name)
    for path in top[:2]:
        links = re.findall(r"\]\(([^)\s#]+)[^)]*\)", path.read_text("utf-8"))
        assert [link for link in links if not link.startswith("http") and not (ROOT / link).exists()] == []


# Short summaries are enough; arguments that mean what they mean elsewhere are listed together, without their types.
LEFT_OUT = {"ES01", "SA01", "PR03", "PR04", "SS05"}


def public_paths() -> list[str]:
    """Every public name, in the top level or in one of the public modules."""
    modules = [name for name in eh.__all__ if isinstance(getattr(eh, name), ModuleType)]
    # A table of values has no docstring of its own.
    inside = [
        f"evenhand.{m}.{name}" for m in modules for name in getattr(eh, m).__all__
        if name not in eh.__all__ and not isinstance(getattr(getattr(eh, m), name), dict)
    ]  # fmt: skip
    return [f"evenhand.{name}" for name in eh.__all__ if name not in modules] + inside


def test_docstrings_are_in_the_form_that_numpydoc_asks_for() -> None:
    """Parameters by name, what is returned, an example. Records list their fields as attributes."""
    for path in public_paths():
        errors = dict(optional("numpydoc.validate").validate(path)["errors"])
        documented: Any = attrgetter(path.removeprefix("evenhand."))(eh)
        aliases = set(re.findall(r"'(\w+)'", errors.get("PR01", "")))
        if isinstance(documented, type) or all(f"``{name}`` is an alias" in documented.__doc__ for name in aliases):
            errors.pop("PR01", None)
        assert {code: said for code, said in errors.items() if code not in LEFT_OUT} == {}, path
