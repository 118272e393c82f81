"""A web page on this machine to audit a file or a table of counts (extra ``web``).

It listens on loopback only. The address contains a random token, the Host header must be that of this machine, and
requests that change something need a header that no other site can send; there is no CORS. Files are kept in a folder
that is deleted when the process ends. Everything that reads files or computes runs in processes that can be ended at
any time. Reports are shown in a sandboxed frame.
"""

from .app import create_app
from .server import serve
from .store import MEGABYTE

__all__ = ["MEGABYTE", "create_app", "serve"]
