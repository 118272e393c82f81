"""``evenhand serve``: start the web page."""

from __future__ import annotations

import click

from .command import Command

__all__ = ["serve"]


@click.command(cls=Command)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port to listen on.  [default: a free one]")
@click.option("--limit", type=click.IntRange(1), default=4096, show_default=True, help="The largest file, in MB.")
@click.option("--open/--no-open", "browser", default=True, help="Open the page in the browser.")
def serve(port: int, limit: int, browser: bool) -> None:
    """Serve a web page on this machine to audit a file.

    It listens on loopback only, at an address with a random token. Ctrl-C stops it, and no data is kept.
    """
    from ..web import MEGABYTE, serve as run

    def opened(address: str) -> None:
        click.echo(f"The page is at {address}\nCtrl-C stops it; no data is kept.")
        if browser:
            import webbrowser

            webbrowser.open(address)

    run(port, limit=limit * MEGABYTE, opened=opened)
