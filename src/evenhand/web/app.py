"""The routes: they take what is sent, start jobs, and tell how far they are."""

from __future__ import annotations

import asyncio
import os
import time
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

from ..auditing import METRICS, WITHOUT_LABELS, Settings, flat_settings
from ..confusion import CELLS
from ..data import FORMATS, accepted_endings, any_of, names_of
from ..errors import EvenhandError
from ..examples import compas
from ..metrics import CATALOGUE, RANKING_METRICS
from .form import FIELD_NAMES, LABELS, SETTINGS
from .guard import Guard, read_json
from .store import Store, Upload
from .uploads import receive_file

HERE = Path(__file__).parent
TEMPLATES = Jinja2Templates(HERE / "templates")
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
)
# A request for the state of a job waits so long for a change, and looks so often.
LONGEST_WAIT, LOOK_SECONDS = 10.0, 0.03
# What the web app itself never sends ends in these.
MALFORMED = (AttributeError, ClientDisconnect, LookupError, TypeError, ValueError)


def create_app(
    token: str, hosts: set[str], folder: Path, *, limit: int = 2**32, patience: float = 30.0
) -> Guard:
    """Create the web app.

    Parameters
    ----------
    token : str
        The secret first part of every path.
    hosts : set of str
        The allowed values of the Host header.
    folder : Path
        Where uploads and results are kept.
    limit : int
        The size of the largest upload, in bytes.
    patience : float
        How many seconds the body of a request may take to begin.

    Returns
    -------
    Guard
        An ASGI app; ``state.store`` holds its state, and ``state.store.close()`` ends all work.
    """
    app = Starlette(
        routes=[Mount(f"/{token}", routes=ROUTES)],
        exception_handlers=dict.fromkeys((EvenhandError, *MALFORMED), refuse),
    )
    app.state.store = Store(folder, limit, patience)
    return Guard(app, token, hosts)


async def refuse(request: Request, error: Exception) -> Response:
    """The sentence that says why a request is refused."""
    if not isinstance(error, EvenhandError):
        error = EvenhandError("invalid request")
    return JSONResponse({"error": error.spelled(FIELD_NAMES)}, 400)


async def show_form(request: Request) -> Response:
    """The only page: the form, the plans, and the frame of reports."""
    rows = [("race", *CELLS), *((group, *cm.cells) for group, cm in compas().items())]
    context = {
        "settings": SETTINGS,
        "shared": list(flat_settings(Settings)),
        "labels": LABELS,
        "metrics": [*CATALOGUE, *RANKING_METRICS],
        "ranking_metrics": RANKING_METRICS,
        "default_metrics": METRICS,
        "without_labels": WITHOUT_LABELS,
        "limit": request.app.state.store.limit,
        "endings": ",".join(accepted_endings()),
        "formats": any_of(names_of(FORMATS)),
        "example": "\n".join(",".join(map(str, row)) for row in rows),
    }
    return TEMPLATES.TemplateResponse(request, "page.html", context)


def start_job(request: Request, task: str, folder: Path, **arguments: object) -> Response:
    """Start a job in a folder, and in the slot that the request names."""
    slot = request.query_params.get("slot", "")[:80]
    job = request.app.state.store.start(task, folder, slot, arguments)
    return JSONResponse({"job": job.key, "file": folder.name})


async def send_file(request: Request) -> Response:
    """Keep a file, alone or beside others, and start to look into it."""
    upload = await receive_file(request, request.app.state.store)
    return start_job(request, "file", upload.folder, data=upload.data)


async def send_counts(request: Request) -> Response:
    """Keep a table of counts, and start to look into it."""
    store, asked = request.app.state.store, await read_json(request)
    content = str(asked["text"]).encode()
    store.audits.check_room()
    upload = Upload(store.new_folder(), ["counts.csv"], counts=True)
    (upload.folder / "counts.csv").write_bytes(content)
    store.keep(upload)
    return start_job(request, "counts", upload.folder, data=upload.data)


async def start_task(task: str, request: Request) -> Response:
    """Start what is asked: a look into columns, an audit, a batch of a monitor, or a plan."""
    store, asked = request.app.state.store, await read_json(request)
    if task == "plan":
        return start_job(request, task, store.folder, asked=asked)
    upload = store.upload(asked.get("file"))
    arguments = {"data": upload.data, "asked": asked}
    if task in ("audit", "monitor"):
        arguments |= {"counts": upload.counts, "out": str(store.new_result())}
    return start_job(request, task, upload.folder, **arguments)


async def show_job(request: Request) -> Response:
    """How far a job is, as soon as that differs from what was seen; or give it up."""
    store = request.app.state.store
    job = store.jobs.get(request.path_params["key"])
    if job is None:
        raise HTTPException(404)
    if request.method == "DELETE":
        store.queue(job).cancel(job)
    seen = int(request.query_params.get("seen", 0))
    latest = time.monotonic() + LONGEST_WAIT
    while job.version <= seen and not job.is_over and time.monotonic() < latest:
        await asyncio.sleep(LOOK_SECONDS)
    names = ("state", "version", "progress", "answer")
    return JSONResponse({name: getattr(job, name) for name in names})


async def show_report(request: Request) -> Response:
    """A file that an audit or a monitor wrote."""
    key, name = request.path_params["key"], request.path_params["name"]
    folder = request.app.state.store.results.get(key)
    if folder is None or name not in os.listdir(folder):
        raise HTTPException(404)
    return FileResponse(folder / name, headers={"Content-Security-Policy": REPORT_POLICY})


ROUTES = [
    Route("/", show_form),
    Mount("/static", StaticFiles(directory=HERE / "static")),
    Route("/file", send_file, methods=["PUT"]),
    Route("/table", send_counts, methods=["POST"]),
    *(
        Route(f"/{task}", partial(start_task, task), methods=["POST"])
        for task in ("values", "bins", "audit", "monitor", "plan")
    ),
    Route("/job/{key}", show_job, methods=["GET", "DELETE"]),
    Route("/report/{key}/{name}", show_report),
]
