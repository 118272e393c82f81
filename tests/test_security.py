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
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from engines import optional, pa, pl

import evenhand as eh

ROWS = "g,y,p\n" + "A,1,1\nA,0,0\nB,1,0\nB,0,1\n" * 5


HOSTILE_COLUMNS = [
    "read_text('secret.csv')", "(SELECT g FROM 'secret.csv')", 'g" FROM \'secret.csv\'; --', "*", "COLUMNS('.*')",
    "getenv('HOME')", "count(*)", "c0", "'secret.csv'",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("column", HOSTILE_COLUMNS)
def test_the_name_of_a_column_is_only_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str, kind: str
) -> None:

    (tmp_path / "secret.csv").write_text("g\nSECRET\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    rows = pl.DataFrame({column: ["A", "B"] * 10, "y": [1, 0] * 10, "p": [1, 1, 0, 0] * 5})
    if kind == "csv":
        rows.write_csv("x.csv")
    elif kind == "parquet":
        rows.write_parquet("x.parquet")
    else:
        rows.write_ndjson("x.jsonl")
    a = eh.audit(f"x.{kind}", y_true="y", y_pred="p", groups=column, metrics="ppr")
    assert {(row.by, row.group, row.n) for row in a.rows} == {(column, "A", 10), (column, "B", 10)}


def test_a_parquet_file_that_points_at_another_one_does_not_open_it(tmp_path: Path) -> None:
    """The parts of a data set may be in other files, as its description says."""
    pq = optional("pyarrow.parquet")

    secret = pa.table({"g": ["SECRET"] * 8, "y": [1, 0] * 4, "p": [1, 0] * 4})
    parts: list[Any] = []
    pq.write_table(secret, tmp_path / "secret.parquet", metadata_collector=parts)
    parts[0].set_file_path("secret.parquet")
    parts[0].write_metadata_file(tmp_path / "x.parquet")
    assert pq.ParquetFile(tmp_path / "x.parquet").metadata.row_group(0).column(0).file_path == "secret.parquet"
    with pytest.raises(eh.errors.InvalidInput, match=r"x\.parquet cannot be read: ") as refusal:
        eh.audit(tmp_path / "x.parquet", y_true="y", y_pred="p", groups="g")
    assert "SECRET" not in str(refusal.value)


@pytest.mark.parametrize(
    "path",
    ["s3://bucket/x.csv", "https://evil.example/x.csv", "file:///etc/passwd", "hf://datasets/x.parquet"],
)
def test_addresses_are_not_files(path: str) -> None:
    with pytest.raises(
        eh.errors.InvalidInput, match=r"^data must be a local file; got '.*', which must be downloaded first$"
    ):
        eh.audit(path, y_true="y", y_pred="p", groups="g")


@pytest.mark.parametrize("path", ["read_csv('secret.csv')", "x\0.csv", "'secret.csv'", "secret.csv'; --"])
def test_a_path_is_never_a_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    (tmp_path / "secret.csv").write_text(ROWS, "utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(eh.errors.InvalidInput):
        eh.audit(path, y_true="y", y_pred="p", groups="g")


def test_a_name_that_is_a_pattern_stands_for_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text(ROWS.replace("A", "SECRET"), "utf-8")
    (tmp_path / "*[s].csv").write_text(ROWS, "utf-8")
    a = eh.audit(str(tmp_path / "*[s].csv"), y_true="y", y_pred="p", groups="g", metrics="ppr")
    assert {row.group for row in a.rows} == {"A", "B"}


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evenhand.data import readers

    monkeypatch.setattr(readers, "LONGEST_LINE", 2**20)
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"g,y,p\n" + b"A,1,1\n" * 60 + b"A" * 2**22))
    with pytest.raises(
        eh.errors.InvalidInput, match=r"x\.csv\.gz cannot be read: it has a line of more than 1,048,576 char"
    ):
        eh.audit(path, y_true="y", y_pred="p", groups="g")
    path.write_bytes(gzip.compress(b"A" * 2**22))
    with pytest.raises(eh.errors.InvalidInput, match=r"it has a line of more than 1,048,576 characters$"):
        eh.audit(path, y_true="y", y_pred="p", groups="g")


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


@pytest.fixture(scope="module")
def plain() -> list[Counter[str]]:
    return [Counter(Rendered(result.to_markdown()).tags) for result in _by_name("plain")]


@pytest.mark.many(12)
@pytest.mark.parametrize("name", MARKUP)
def test_markdown_shows_names_as_text_on_github_too(name: str, plain: list[Counter[str]]) -> None:
    """The document has the tags that it has for a plain name, and the name is in it as it is."""
    for result, tags in zip(_by_name(name), plain, strict=True):
        page = Rendered(result.to_markdown())
        assert Counter(page.tags) == tags
        assert page.noticed == []
        shown = [cell.replace("\u200b", "").strip() for cell in page.cells]
        assert any(name.replace("\n", "\\n").replace("  ", "␣␣") in cell for cell in shown)


def test_what_renders_these_names_would_notice_markup() -> None:
    harmless = {
        *("a|b", "a\\|b", "a\\", "\\", "&copy;", "&lt;b&gt;", "[^1]", "[x]", "[ ]", "| - |", "a\nb"),
        "WWW.evil.example",
    }
    pages = {name: Rendered(name) for name in MARKUP}
    assert {name for name, page in pages.items() if page.tags != ["p"] or page.noticed} == set(MARKUP) - harmless


SECURITY = (Path(__file__).parent.parent / "SECURITY.md").read_text("utf-8")


def test_every_dependency_is_accounted_for() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {"–": project["dependencies"], **project["optional-dependencies"]}
    for for_developers in ("check", "dev", "docs", "nightly", "peers", "test"):
        del extras[for_developers]
    needed: dict[str, list[str]] = {}
    for extra, requirements in extras.items():
        for name in (re.match(r"[\w-]+", text)[0] for text in requirements):  # type: ignore[index]
            if name != "evenhand":
                needed.setdefault(name, []).append(extra)
    table = SECURITY.split("## Dependencies")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    assert {name.strip(): extra.strip().split(", ") for name, extra, *_ in rows} == needed


@pytest.mark.many(2)
@pytest.mark.parametrize(
    ("affected", "code"),
    [
        ({"versions": ["{version}"]}, 1),
        ({"versions": ["0.0.1"]}, 0),
        ({"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}]}, 1),
        ({"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "{version}"}]}]}, 0),
        ({"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"last_affected": "{version}"}]}]}, 1),
        (None, 2),
    ],
)
def test_advisories_are_looked_up_offline(tmp_path: Path, affected: dict[str, Any] | None, code: int) -> None:
    """A copy of the database is searched; one that is empty, or none, is no success."""
    from importlib.metadata import version

    path = tmp_path / "all.zip"
    with ZipFile(path, "w") as archive:
        if affected is not None:
            made = json.dumps({"package": {"ecosystem": "PyPI", "name": "Narwhals"}, **affected})
            made = made.replace("{version}", version("narwhals"))
            archive.writestr("X-1.json", json.dumps({"id": "X-1", "affected": [json.loads(made)]}))
    script = Path(__file__).parent.parent / "benchmarks/dependencies.py"
    found = subprocess.run([sys.executable, script, "--advisories", path], capture_output=True, text=True)
    assert found.returncode == code, found.stderr
    assert ("X-1" in found.stdout) == (code == 1)
    assert ("Not looked up" in found.stdout) == (code == 2)
