"""What SECURITY.md promises, attacked: files from inside, and text that would rather be markup.

Kept elsewhere: the page in web/, the terminal in cli/, DuckDB's locked connection, the progress line, and reports.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from html.parser import HTMLParser
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from engines import optional, pa, pl

import evenhand as eh
from evenhand.errors import InvalidInput

ROOT = Path(__file__).parent.parent
ROWS = "g,y,p\n" + "A,1,1\nA,0,0\nB,1,0\nB,0,1\n" * 5
COLUMNS: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "g", "metrics": "ppr"}


def refused(path: object) -> str:
    with pytest.raises(InvalidInput) as refusal:
        eh.audit(path, **COLUMNS)
    assert "SECRET" not in str(refusal.value)
    return str(refusal.value)


@pytest.fixture(autouse=True)
def _secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that nobody asks for."""
    (tmp_path / "secret.csv").write_text(ROWS.replace("A", "SECRET"), "utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_the_name_of_a_column_is_only_a_name(kind: str) -> None:
    for column in (
        "read_text('secret.csv')", "(SELECT g FROM 'secret.csv')", 'g" FROM \'secret.csv\'; --', "*", "COLUMNS('.*')",
        "getenv('HOME')", "count(*)", "c0", "'secret.csv'",
    ):  # fmt: skip
        rows = pl.DataFrame({column: ["A", "B"] * 10, "y": [1, 0] * 10, "p": [1, 1, 0, 0] * 5})
        getattr(rows, {"csv": "write_csv", "parquet": "write_parquet", "jsonl": "write_ndjson"}[kind])(f"x.{kind}")
        a = eh.audit(f"x.{kind}", **COLUMNS | {"groups": column})
        assert {(row.by, row.group, row.n) for row in a.rows} == {(column, "A", 10), (column, "B", 10)}


def test_a_parquet_file_that_points_at_another_one_does_not_open_it() -> None:
    """The parts of a data set may be in other files, as its description says."""
    pq = optional("pyarrow.parquet")
    parts: list[Any] = []
    secret = pa.table({"g": ["SECRET"] * 8, "y": [1, 0] * 4, "p": [1, 0] * 4})
    pq.write_table(secret, "secret.parquet", metadata_collector=parts)
    parts[0].set_file_path("secret.parquet")
    parts[0].write_metadata_file("x.parquet")
    assert pq.ParquetFile("x.parquet").metadata.row_group(0).column(0).file_path == "secret.parquet"
    assert "x.parquet cannot be read: " in refused("x.parquet")


def test_a_path_is_neither_an_address_nor_a_query_nor_a_pattern() -> None:
    for path in ("s3://bucket/x.csv", "https://evil.example/x.csv", "file:///etc/passwd", "hf://datasets/x.parquet"):
        assert refused(path) == f"data must be a local file; got {path!r}, which must be downloaded first"
    for path in ("read_csv('secret.csv')", "x\0.csv", "'secret.csv'", "secret.csv'; --"):
        refused(path)
    Path("*[s].csv").write_text(ROWS, "utf-8")
    assert {row.group for row in eh.audit("*[s].csv", **COLUMNS).rows} == {"A", "B"}, "it stands for its own file"


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.data import readers

    monkeypatch.setattr(readers, "LONGEST_LINE", 2**20)
    for before in (b"g,y,p\n" + b"A,1,1\n" * 60, b""):
        Path("x.csv.gz").write_bytes(gzip.compress(before + b"A" * 2**22))
        assert "x.csv.gz cannot be read: it has a line of more than 1,048,576 characters" in refused("x.csv.gz")


# Names, and what is wrong if one of them is more than text: tags, or what GitHub finds in text afterwards.
MARKUP = [
    "<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "[x](https://evil.example)", "![x](https://evil.example)",
    "https://evil.example/a", "http://localhost", "www.evil.example", "WWW.evil.example", "ftp://evil.example",
    "ada@evil.example", "mailto:ada@evil.example", "xmpp:ada@evil.example/x", "<https://evil.example>",
    "@ada", "@org/team", "(@ada)", "#12", "ada/repo#12", "GH-12", "gh-12", ":tada:", ":+1:", "$x$", "$$x$$",
    "$`x`$", "**b**", "__b__", "*b*", "_b_", "~~b~~", "~b~", "`b`", "``b``", "a|b", "a\\|b", "a\\", "\\", "&copy;",
    "&#64;ada", "&lt;b&gt;", "[^1]", "[x]", "[ ]", "- [x] b", "# b", "> b", "1. b", "---", "| - |", "<!-- b -->",
    "<b>b</b>", "a\nb", "a  \nb", "[b]: https://evil.example",
]  # fmt: skip


NOTICED = re.compile(
    r"@[A-Za-z0-9]|(?:^|[^\w&])(?:[\w-]+/[\w-]+)?#\d|\bGH-\d|:[\w+-]+:|(?:^|\s|\()\$\S", re.IGNORECASE | re.MULTILINE
)


class Rendered(HTMLParser):
    """The tags, the text and the cells of a page."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts = [""]
        self.cells: list[str] = []
        options = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES
        self.feed(cmarkgfm.github_flavored_markdown_to_html(markdown, options))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.texts.append("")
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        self.texts.append("")

    def handle_comment(self, data: str) -> None:
        self.tags.append("!--")

    def handle_data(self, data: str) -> None:
        self.texts[-1] += data
        if self.cells:
            self.cells[-1] += data

    @property
    def noticed(self) -> list[str]:
        """What GitHub would make a link, a picture or a formula of."""
        return [found[0] for text in self.texts for found in NOTICED.finditer(text)]


def _by_name(name: str) -> list[eh.Audit]:
    cells = {name: (9, 6, 4, 21), "B": (30, 10, 12, 48)}
    rows = [(g, y, s) for g in cells for y, s in [(1, 0.9), (1, 0.2), (0, 0.8), (0, 0.1)] * 5]
    groups, labels, scores = ([row[i] for row in rows] for i in range(3))
    frame = {"y": labels, "s": scores, name: groups}
    sweep = eh.audit(frame, y_true="y", y_score="s", groups=name, threshold=[0.5, 0.6], metrics="tpr")
    return [eh.audit_counts(cells, by=name, metrics=["tpr", "ppr"]), sweep]


@pytest.mark.parametrize("names", [MARKUP[::5], pytest.param(MARKUP, marks=pytest.mark.slow)], ids=["some", "all"])
def test_markdown_shows_names_as_text_on_github_too(names: list[str]) -> None:
    """The document has the tags that it has for a plain name, and the name is in it as it is."""
    plain = [Counter(Rendered(result.to_markdown()).tags) for result in _by_name("plain")]
    for name in names:
        for result, tags in zip(_by_name(name), plain, strict=True):
            page = Rendered(result.to_markdown())
            assert Counter(page.tags) == tags and page.noticed == [], name
            shown = [cell.replace("\u200b", "").strip() for cell in page.cells]
            assert any(name.replace("\n", "\\n").replace("  ", "␣␣") in cell for cell in shown)


def test_what_renders_these_names_would_notice_markup() -> None:
    harmless = {
        *("a|b", "a\\|b", "a\\", "\\", "&copy;", "&lt;b&gt;", "[^1]", "[x]", "[ ]", "| - |", "a\nb"),
        "WWW.evil.example",
    }
    pages = {name: Rendered(name) for name in MARKUP}
    assert {name for name, page in pages.items() if page.tags != ["p"] or page.noticed} == set(MARKUP) - harmless


def test_every_dependency_is_accounted_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {"–": project["dependencies"], **project["optional-dependencies"]}
    for for_developers in ("check", "dev", "docs", "nightly", "peers", "test"):
        del extras[for_developers]
    needed: dict[str, list[str]] = {}
    for extra, requirements in extras.items():
        for name in (re.match(r"[\w-]+", text)[0] for text in requirements):  # type: ignore[index]
            if name != "evenhand":
                needed.setdefault(name, []).append(extra)
    table = (ROOT / "SECURITY.md").read_text("utf-8").split("## Dependencies")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    assert {name.strip(): extra.strip().split(", ") for name, extra, *_ in rows} == needed


@pytest.mark.slow
def test_advisories_are_looked_up_offline() -> None:
    """A copy of the database is searched; one that is empty, or none, is no success."""

    def events(*later: dict[str, str]) -> dict[str, Any]:
        return {"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, *later]}]}

    installed = version("narwhals")
    cases: list[tuple[dict[str, Any] | None, int]] = [
        ({"versions": [installed]}, 1), ({"versions": ["0.0.1"]}, 0), (events(), 1), (None, 2),
        (events({"fixed": installed}), 0), (events({"last_affected": installed}), 1),
    ]  # fmt: skip
    for affected, code in cases:
        with ZipFile("all.zip", "w") as archive:
            if affected is not None:
                made = {"package": {"ecosystem": "PyPI", "name": "Narwhals"}, **affected}
                archive.writestr("X-1.json", json.dumps({"id": "X-1", "affected": [made]}))
        words = [sys.executable, str(ROOT / "benchmarks/dependencies.py"), "--advisories", "all.zip"]
        found = subprocess.run(words, capture_output=True, text=True)
        assert found.returncode == code, found.stderr
        assert (("X-1" in found.stdout), ("Not looked up" in found.stdout)) == (code == 1, code == 2)
