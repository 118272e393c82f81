"""The blocks of the documentation: what they are, and what happens when their commands are run.

``python tests/pages.py docs/tutorial.md`` runs a page and writes what its commands and Python examples print into it,
so that nobody types a number. The tests run the same blocks and compare.

In a ``console`` block every command begins with ``$``; what follows is what it prints. A block with a caption is a file
of this name. Commands of a page run one after the other in an empty folder that holds the files of the page.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

__all__ = ["DOCS", "ROOT", "Block", "blocks", "commands", "pages", "play"]

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
FILTERS = {"cat", "cut", "grep", "head", "ls", "sed", "sort", "tail", "wc"}
FENCE = re.compile(r"^(?P<ticks>```+)(?P<what>[^\n`]*)\n(?P<body>.*?)^(?P=ticks)$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language or directive, its caption if it has one, and its text."""

    what: str
    caption: str | None
    body: str
    at: int

    def __str__(self) -> str:
        return f"line {self.at}, {self.what}"


def pages() -> list[Path]:
    """The pages in Markdown."""
    return sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    for found in FENCE.finditer(text):
        what, body, caption = found["what"].strip(), found["body"], None
        if what.startswith("{code-block}"):
            what = what.removeprefix("{code-block}").strip()
            options = re.match(r"(?::\w+:[^\n]*\n)+\n?", body)
            if options:
                said = re.search(r":caption: (.*)", options[0])
                caption, body = said and said[1].strip("`"), body[options.end() :]
        yield Block(what, caption, body, text.count("\n", 0, found.start()) + 1)


def commands(body: str) -> Iterator[tuple[str, str]]:
    """The commands of a block, and what the block says that each prints."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        last = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
        yield "\n".join(lines[: last + 1]), "".join(f"{line}\n" for line in lines[last + 1 :])


def play(text: str, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Run the commands of a page in a folder: each command, what the page says that it prints, and what it prints."""
    code = 0
    for block in blocks(text):
        if block.caption:
            (folder / block.caption).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.caption).write_text(block.body, "utf-8")
        if block.what != "console":
            continue
        told = list(commands(block.body))
        for i, (command, said) in enumerate(told):
            if command == "echo $?":
                yield command, said, f"{code}\n"
                continue
            with chdir(folder):
                printed, code = run(command)
            if code and not (i + 1 < len(told) and told[i + 1][0] == "echo $?"):
                raise AssertionError(f"{command!r} exits with {code}:\n{printed}")
            yield command, said, printed


def run(command: str) -> tuple[str, int]:
    """Run one line of a page; what it prints, and its exit code."""
    whole = shlex.shlex(command.replace("\\\n", " "), posix=True, punctuation_chars="|>")
    whole.whitespace_split = True
    parts: list[list[str]] = [[]]
    for word in whole:
        parts.append([]) if word == "|" else parts[-1].append(word)
    printed, code = "", 0
    for words in parts:
        target = words[words.index(">") + 1] if ">" in words else None
        printed, code = run_words(words[: words.index(">")] if target else words, printed)
        if target:
            Path(target).write_text(printed, "utf-8")
            printed = ""
    return printed, code


def run_words(words: list[str], piped: str) -> tuple[str, int]:
    """Run a program that pages may use; fail for any other."""
    program = words[0].removeprefix(".venv/bin/")
    if program == "evenhand":
        from evenhand.cli import evenhand

        result = CliRunner().invoke(evenhand, words[1:], input=piped or None, prog_name="evenhand")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.output, result.exit_code
    if words == ["python3", "-m", "venv", ".venv"]:
        return "", 0
    if program == "pip":
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
        named = re.fullmatch(r"(?:(?:\./)?evenhand|\.)\[([\w,]+)\]", words[-1])
        assert words[1] == "install" and named and set(named[1].split(",")) <= extras.keys(), words
        return "", 0
    assert program in FILTERS or (program == "python" and words[1].endswith(".py")), f"no test runs {words}"
    words = [sys.executable, *words[1:]] if program == "python" else words
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(words, input=piped, capture_output=True, text=True, check=False, env=environment)
    return done.stdout + done.stderr, done.returncode


def rewrite(path: Path) -> None:
    """Write what commands and examples print into a page."""
    text = path.read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder:
        told = iter(list(play(text, Path(folder))))

    def console(found: re.Match[str]) -> str:
        if found["what"].strip() != "console":
            return found[0]
        printed = [(command, next(told)[2]) for command, _ in commands(found["body"])]
        return "```console\n" + "".join(f"$ {command}\n{text}" for command, text in printed) + "```"

    text = FENCE.sub(console, text)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    lines, shift = text.splitlines(keepends=True), 0
    scope: dict[str, object] = {}
    for example in doctest.DocTestParser().get_examples(text):
        test = doctest.DocTest([example], scope, "page", None, 0, None)
        heard: list[str] = []
        doctest.DocTestRunner(optionflags=flags).run(test, out=heard.append, clear_globs=False)
        scope = test.globs
        got = re.search(r"^Got:\n(.*)\n?\Z", "".join(heard), re.DOTALL | re.MULTILINE)
        quiet = "Expected nothing" not in "".join(heard) and "Expected:" in "".join(heard) and not got
        assert not heard or got or quiet, "".join(heard)
        if got or quiet:
            new = re.sub(r"^    ", "", got[1].rstrip(), flags=re.MULTILINE).splitlines() if got else []
            start = example.lineno + example.source.count("\n") + shift
            old = example.want.count("\n")
            lines[start : start + old] = [f"{line or '<BLANKLINE>'}\n" for line in new]
            shift += len(new) - old
    path.write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
    for name in sys.argv[1:]:
        rewrite(Path(name))
