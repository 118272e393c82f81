r"""What the reference says is read from the code: public names, metrics, file formats, kinds of findings, and commands.

Nothing is written to the folder of the sources: each directive makes its part of a page while the page is built.

``{metric-table}`` lists the metrics of the catalogue of so many groups, ``{format-table}`` the file formats,
``{finding-table}`` the kinds of findings, each explained in the body of the directive, ``{column-table}`` the columns
of the results table, and ``{command-list}`` the commands. ``public-names`` documents the public names
of a package; it is for pages in reStructuredText, since docstrings are written in it.

>>> print(table(["a", "b"], [["1", "x | y"]]))
| a | b |
|---|---|
| 1 | x \| y |
>>> public_names()["audit"], public_names()["examples"]
('auditing', 'examples')
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import click
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

import evenhand
from evenhand.auditing.findings import KINDS
from evenhand.auditing.results_table import COLUMNS
from evenhand.cli import evenhand as main_command
from evenhand.data import FORMATS, PACKINGS

__all__ = ["every_command", "public_names", "setup", "table"]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *([str(cell).replace("|", "\\|") for cell in row] for row in rows)]
    marked = ["| " + " | ".join(line) + " |" for line in lines]
    marked[1] = marked[1].replace(" ", "")
    return "\n".join(marked)


def public_names() -> dict[str, str]:
    """Every public name and its package, as the stub file lists them."""
    stub = ast.parse(Path(evenhand.__file__).with_suffix(".pyi").read_text("utf-8"))
    return {
        name.asname or name.name: (node.module or name.name).split(".")[0]
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }


def every_command() -> Iterator[tuple[click.Command, click.Context]]:
    """Every command that does something itself, each with the context to describe it in.

    >>> [context.command_path for _, context in every_command()][0]
    'evenhand audit'
    """

    def below(group: click.Group, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            inner = click.Context(command, info_name=name, parent=context)
            if isinstance(command, click.Group):
                yield from below(command, inner)
            else:
                yield command, inner

    return below(main_command, click.Context(main_command, info_name="evenhand"))


class FromCode(SphinxDirective):
    """A directive that writes Markdown or reStructuredText and has it parsed."""

    def parsed(self, text: str) -> list[nodes.Node]:
        """What the text becomes."""
        here = nodes.container()
        self.state.nested_parse(StringList(text.splitlines(), "from_code"), self.content_offset, here)
        return here.children


class MetricTable(FromCode):
    """The metrics of one group, or of two."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The table."""
        metrics = [m for m in evenhand.list_metrics() if m.groups == int(self.arguments[0])]
        return self.parsed(
            table(
                ["key", "name, and others that find it", "formula", "range", "better", "undefined if"],
                [
                    [
                        f"`{m.key}`" + ("" if m.in_paper else " ᵉ"),
                        f"**{m.name}**" + (f"; {', '.join(m.synonyms)}" if m.synonyms else ""),
                        f"`{m.formula}`",
                        f"{m.low:g} to {m.high:g}".replace("inf", "∞").replace("-", "−"),
                        m.better,
                        m.undefined_if,
                    ]
                    for m in metrics
                ],
            )
        )


class UndefinedTable(FromCode):
    """How many matrices leave each of the paper's metrics undefined."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        sizes = (5, 20, 100)
        by_counts: dict[tuple[int, ...], list[str]] = {}
        for m in evenhand.list_metrics():
            if m.in_paper:
                counted = tuple(evenhand.count_undefined(m, n if m.groups == 1 else (n, n)) for n in sizes)
                by_counts.setdefault(counted, []).append(f"`{m.key}`")
        rows = [[" ".join(keys), *(f"{count:,}" for count in counted)] for counted, keys in by_counts.items()]
        rows.append(["all matrices", *(f"{evenhand.count_matrices(n):,}" for n in sizes)])
        rows.append(["all pairs", *(f"{evenhand.count_matrices(n) ** 2:,}" for n in sizes)])
        return self.parsed(table(["metrics", *(f"n = {n}" for n in sizes)], rows))


class FormatTable(FromCode):
    """The file formats."""

    needs: ClassVar[dict[str, str]] = {"duckdb": "the extra `files`", "": "nothing more"}

    def run(self) -> list[nodes.Node]:
        """The table."""
        rows = []
        for found in FORMATS:
            packed = PACKINGS if found.is_packed else ()
            endings = [*found.endings, *(f"{found.endings[0]}{packing}" for packing in packed)]
            rows.append(
                [
                    ", ".join(found.names),
                    ", ".join(f"`{ending}`" for ending in endings),
                    self.passed(found),
                    self.needs.get(found.needs, found.needs),
                ]
            )
        return self.parsed(table(["format", "files end in", "you pass", "it needs"], rows))

    @staticmethod
    def passed(found: Any) -> str:
        """What stands for files of a format."""
        return ", ".join(["the path", "several paths, a glob", *(["a folder"] if found.in_folders else [])])


class FindingTable(FromCode):
    """The kinds of findings. The body explains each on a line ``kind: what it says``; none may be missing."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The table."""
        explained = dict(line.split(": ", 1) for line in self.content if line)
        if explained.keys() != KINDS.keys():
            wrong = sorted(explained.keys() ^ KINDS.keys())
            raise self.error(f"these kinds of findings are not explained, or do not exist: {wrong}")
        rows = [[code, f"`{kind}`", severity, explained[kind]] for kind, (code, severity) in KINDS.items()]
        return self.parsed(table(["code", "kind", "severity", "what it says"], rows))


class ColumnTable(FromCode):
    """The columns of the results table, those of `to_frame` in bold."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        rows = [
            [f"**`{column.name}`**" if column.is_shown else f"`{column.name}`", column.kind, column.meaning]
            for column in COLUMNS
        ]
        return self.parsed(table(["column", "values", "meaning"], rows))


class Commands(FromCode):
    """Every command: what it does, how it is called, and its options."""

    def run(self) -> list[nodes.Node]:
        """A section for each."""
        return [self.section(command, context) for command, context in every_command()]

    def section(self, command: click.Command, context: click.Context) -> nodes.section:
        """Usage, text and options."""
        text = inspect.cleandoc(command.help or "").replace("\b\n", "")
        usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
        options = [
            (f"`{names}`", explained)
            for names, explained in (p.get_help_record(context) or ("", "") for p in command.get_params(context))
            if names
        ]
        name = context.command_path
        section = nodes.section(ids=[name.replace(" ", "-")], names=[name])
        section += nodes.title(text=name)
        section += self.parsed(f"```text\n{usage}\n```\n\n{text}\n\n{table(['option', 'meaning'], options)}\n")
        return section


MODULES = ("errors", "examples", "fairlearn", "results", "sklearn")
"""Public modules, whose names are all public."""


class PublicNames(FromCode):
    """Public classes and functions of a package: those of the stub file, or those of a module of its own."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        """The documentation of each, functions first."""
        package = self.arguments[0]
        if package in MODULES:
            module = getattr(evenhand, package)
            names = [(module, name) for name in module.__all__ if name not in evenhand.__all__ or package == "errors"]
        else:
            names = [(evenhand, name) for name, where in public_names().items() if where == package]
        lines = []
        for module, name in sorted(names, key=lambda found: (inspect.isclass(getattr(*found)), found[1].lower())):
            what = getattr(module, name)
            directive = "autofunction"
            if inspect.isclass(what):
                directive = "autoexception" if issubclass(what, Exception) else "autoclass"
            elif not callable(what):
                directive = "autodata"
            lines += [f".. {directive}:: {module.__name__}.{name}"]
            lines += ["   :members:", ""] if inspect.isclass(what) else [""]
        return self.parsed("\n".join(lines))


def setup(app: Any) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("metric-table", MetricTable)
    app.add_directive("undefined-table", UndefinedTable)
    app.add_directive("format-table", FormatTable)
    app.add_directive("finding-table", FindingTable)
    app.add_directive("column-table", ColumnTable)
    app.add_directive("command-list", Commands)
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
