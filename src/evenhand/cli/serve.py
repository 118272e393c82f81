"""``evenhand serve``: start the web app."""

from __future__ import annotations

import webbrowser

import click

from .command import command

_HELP = """It listens on loopback only, at an address with a random token. Ctrl-C stops it, and no data
is kept."""
_PORT = "The port.  [default: a free one]"
_LIMIT = click.IntRange(1)


@command("serve", _HELP)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help=_PORT)
@click.option("--limit", type=_LIMIT, default=4096, show_default=True, help="Largest upload in MB.")
@click.option("--open/--no-open", "browser", default=True, help="Open the app in the browser.")
def serve(port: int, limit: int, browser: bool) -> None:
    """Serve the web app and print its address."""
    from .. import web

    def show_address(address: str) -> None:
        click.echo(f"The app is at {address}\nCtrl-C stops it; no data is kept.")
        if browser:
            webbrowser.open(address)

    web.serve(port, limit=limit * web.MEGABYTE, opened=show_address)
