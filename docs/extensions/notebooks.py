r"""Notebooks as pages: they are run while the documentation is built, and shown with what they give.

The files hold no outputs, so what is shown is always what the code of today gives. A cell that fails ends the build.

>>> cell = {"cell_type": "code", "source": "1 + 1", "outputs": [{"output_type": "stream", "text": "2\n"}]}
>>> print(as_markdown([{"cell_type": "markdown", "source": "# Sums"}, cell]))
# Sums
<BLANKLINE>
```python
1 + 1
```
<BLANKLINE>
```text
2
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from logging import getLogger
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from myst_parser.sphinx_ import Parser

__all__ = ["as_markdown", "executed", "setup"]


def executed(path: Path) -> list[dict[str, Any]]:
    """The cells of a notebook, with the outputs of running it here and now."""
    import nbformat
    from nbclient import NotebookClient
    from traitlets.config import Config

    notebook = nbformat.read(path, as_version=4)
    log = getLogger(__name__)
    log.setLevel("WARNING")
    with TemporaryDirectory() as folder:
        # The kernel is reached over files rather than ports, so that nothing listens on the network.
        files = Config({"AsyncKernelManager": {"transport": "ipc", "ip": f"{folder}/kernel"}})
        client = NotebookClient(
            notebook, kernel_name="python3", timeout=300, startup_timeout=300, log=log, config=files
        )
        client.execute(cwd=folder)
    cells: list[dict[str, Any]] = notebook["cells"]
    return cells


def as_markdown(cells: Iterable[Mapping[str, Any]]) -> str:
    """Executed cells as a page."""
    return "\n\n".join(part for cell in cells for part in _parts(cell))


def _parts(cell: Mapping[str, Any]) -> Iterator[str]:
    if cell["cell_type"] == "markdown":
        yield cell["source"]
        return
    yield f"```python\n{cell['source']}\n```"
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "image/png" in data:
            yield _html(f'<img alt="{data["text/plain"]}" src="data:image/png;base64,{data["image/png"].strip()}">')
        elif "text/html" in data:
            yield _html(data["text/html"])
        else:
            yield f"```text\n{(output.get('text') or data['text/plain']).rstrip()}\n```"


def _html(text: str) -> str:
    return f'````{{raw}} html\n<div class="output">{text}</div>\n````'


class NotebookParser(Parser):
    """Reads a notebook as the Markdown that it gives when it is run."""

    supported: ClassVar[tuple[str, ...]] = ("ipynb",)

    def parse(self, inputstring: str, document: Any) -> None:
        """Run the notebook and parse the result."""
        super().parse(as_markdown(executed(Path(document["source"]))), document)


def setup(app: Any) -> dict[str, bool]:
    """Register the kind of source."""
    app.add_source_suffix(".ipynb", "ipynb")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
