"""The application behind the page: routes that take what is sent, start jobs, and tell how far they are."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..auditing import METRICS, WITHOUT_LABELS
from ..data import FORMATS, accepted_endings, any_of, names_of
from ..errors import EvenhandError, MissingExtra
from ..metrics import CATALOGUE, RANKING_METRICS
from .form import FIELD_NAMES, LABELS, form_fields
from .guard import SMALL, Guard, read_json
from .jobs import Job
from .store import MEGABYTE, Store, Upload
from .uploads import received

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["create_app"]

_REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'; sandbox allow-scripts"
)
_TYPES = {"js": "text/javascript", "css": "text/css"}
_FORMATS = {"html": "text/html", "json": "application/json", "csv": "text/csv", "md": "text/markdown"}
# How long a request for the state of a job waits for a change, and how often it looks.
_LONGEST_WAIT, _LOOK_SECONDS = 10.0, 0.03
_COUNTS = "counts.csv"

Handler = Callable[["Request", Store], Awaitable["Response"]]


def create_app(
    token: str, hosts: set[str], folder: Path, *, limit: int = 4096 * MEGABYTE, patience: float = 30.0
) -> Starlette:
    """The application behind the page.

    Parameters
    ----------
    token : str
        The secret first part of every path.
    hosts : set of str
        The allowed values of the Host header.
    folder : Path
        Where uploads and results are kept.
    limit : int
        The size of the largest file, in bytes.
    patience : float
        How many seconds the body of a request may take to begin.

    Returns
    -------
    starlette.applications.Starlette
        The application; ``state.store`` holds its state, and ``state.store.close()`` ends all work.
    """
    try:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.routing import Mount, Route
    except ModuleNotFoundError:
        raise MissingExtra.named("web", "the page") from None
    store = Store(folder, limit, patience)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        store.close()

    routes = [Route(path, _door(handle, store), methods=methods) for path, handle, *methods in _ROUTES]
    guard = Middleware(Guard, token=token, hosts=hosts)
    app = Starlette(routes=[Mount(f"/{token}", routes=routes)], middleware=[guard], lifespan=lifespan)
    app.router.redirect_slashes = False
    app.state.store = store
    return app


def _door(handle: Handler, store: Store) -> Callable[[Request], Awaitable[Response]]:
    """A route; what is refused becomes a sentence."""

    async def enter(request: Request) -> Response:
        from starlette.requests import ClientDisconnect
        from starlette.responses import JSONResponse

        try:
            return await handle(request, store)
        except EvenhandError as refusal:
            return JSONResponse({"error": refusal.spelled(FIELD_NAMES)}, 400)
        except (AttributeError, ClientDisconnect, LookupError, TypeError, ValueError):
            # The page itself never sends such a request.
            return JSONResponse({"error": "invalid request"}, 400)

    return enter


def _shipped(name: str) -> bytes:
    return (files("evenhand.web") / "static" / name).read_bytes()


def _not_found() -> Response:
    from starlette.responses import PlainTextResponse

    return PlainTextResponse("not found\n", 404)


async def _page(request: Request, store: Store) -> Response:
    from starlette.responses import HTMLResponse

    return HTMLResponse(_shipped("page.html"))


async def _static(request: Request, store: Store) -> Response:
    from starlette.responses import Response

    name = str(request.path_params["name"])
    known = {file.name for file in (files("evenhand.web") / "static").iterdir()}
    kind = _TYPES.get(name.rpartition(".")[2])
    if kind is None or name not in known:
        return _not_found()
    return Response(_shipped(name), media_type=kind)


async def _about(request: Request, store: Store) -> Response:
    """What the page must know before anything is chosen: metrics, settings, and the files that it takes."""
    from starlette.responses import JSONResponse

    counted = [
        {
            "key": m.key,
            "name": m.name,
            "formula": m.formula,
            "synonyms": m.synonyms,
            "compares": bool(m.comparisons),
            "distance": m.is_distance,
            "chosen": m.key in METRICS,
            "needs": "" if m.key in WITHOUT_LABELS else "labels",
        }
        for m in CATALOGUE
    ]
    ranked = [
        {"key": m.key, "name": m.name, "formula": m.description, "synonyms": m.synonyms, "needs": "scores"}
        for m in RANKING_METRICS
    ]
    return JSONResponse(
        {
            "metrics": [*counted, *ranked],
            "settings": form_fields(),
            "labels": LABELS,
            "limit": store.limit,
            "files": {"accept": ",".join(accepted_endings()), "hint": _file_hint()},
        }
    )


def _file_hint() -> str:
    """Which files the page takes."""
    return (
        f"{any_of(names_of(FORMATS))}; one row per decision. Several files of one kind with the same columns are "
        "audited together."
    )


def _started(job: Job, **more: Any) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse({"job": job.key, **more})


def _slot(request: Request) -> str:
    """What the page calls the place of a job, of which there is one at a time."""
    return str(request.query_params.get("slot", ""))[:80]


async def _upload(request: Request, store: Store) -> Response:
    """Keep a file until the page ends, alone or beside others that were sent before, and start to look into it."""
    query = request.query_params
    upload = await received(request, store, str(query.get("name", "")), query.get("beside"))
    key = store.keep(upload)
    return _started(store.start("file", upload.folder, {"data": upload.data}, _slot(request)), file=key)


async def _table(request: Request, store: Store) -> Response:
    """Keep a table of counts that was pasted, or the counts of an example, and start to look into it."""
    asked = await read_json(request)
    text = None if asked.get("example") else str(asked["text"]).encode()
    store.audits.check_room()
    folder = store.new_folder()
    arguments = {"data": _COUNTS, "example": "compas" if text is None else None}
    if text is not None:
        (folder / _COUNTS).write_bytes(text)
    job = store.start("counts", folder, arguments, _slot(request))
    return _started(job, file=store.keep(Upload(folder, _COUNTS, counts=True)))


def _looking(task: str, arguments: Callable[[dict[str, Any]], dict[str, Any]]) -> Handler:
    """A route that starts a look into the columns of a file."""

    async def start(request: Request, store: Store) -> Response:
        asked = await read_json(request, SMALL)
        upload = store.upload(asked.get("file"))
        return _started(store.start(task, upload.folder, {"data": upload.data, **arguments(asked)}, _slot(request)))

    return start


def _answering(task: str) -> Handler:
    """A route that starts to answer what somebody types."""

    async def start(request: Request, store: Store) -> Response:
        asked = await read_json(request, SMALL)
        return _started(store.start(task, store.folder, {"asked": asked}, _slot(request)))

    return start


def _reporting(task: str) -> Handler:
    """A route that starts what ends in a report: an audit or a monitor of a file or of a table of counts."""

    async def start(request: Request, store: Store) -> Response:
        asked = await read_json(request)
        upload = store.upload(asked.get("file"))
        store.audits.check_room()
        arguments = {"data": upload.data, "counts": upload.counts, "asked": asked, "out": str(store.result())}
        return _started(store.start(task, upload.folder, arguments, _slot(request)))

    return start


async def _job(request: Request, store: Store) -> Response:
    """How far a job is, as soon as that differs from what was seen; or give it up."""
    from starlette.responses import JSONResponse

    job = store.jobs.get(str(request.path_params["key"]))
    if job is None:
        return _not_found()
    if request.method == "DELETE":
        store.cancel(job)
    seen, latest = int(request.query_params.get("seen", 0)), time.monotonic() + _LONGEST_WAIT
    while job.version <= seen and not job.over and time.monotonic() < latest:
        await asyncio.sleep(_LOOK_SECONDS)
    state = {"state": job.state, "seen": job.version, "what": job.what, "done": job.done, "total": job.total}
    if job.state == "done":
        state["answer"] = job.answer
    elif job.state == "failed":
        state["error"] = job.answer
    return JSONResponse(state)


async def _report(request: Request, store: Store) -> Response:
    from starlette.responses import FileResponse

    key, _, kind = str(request.path_params["name"]).partition(".")
    folder = store.results.get(key)
    found = [folder / f"{what}.{kind}" for what in ("audit", "monitor")] if folder and kind in _FORMATS else []
    file = next((path for path in found if path.is_file()), None)
    if file is None:
        return _not_found()
    headers = {"Content-Security-Policy": _REPORT_POLICY}
    if "download" in request.query_params:
        headers["Content-Disposition"] = f'attachment; filename="{file.name}"'
    return FileResponse(file, media_type=_FORMATS[kind], headers=headers)


_LOOKS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "values": lambda asked: {"columns": {str(role): str(name) for role, name in asked["columns"].items()}},
    "scores": lambda asked: {"column": str(asked["column"])},
    "bins": lambda asked: {"column": str(asked["column"]), "cuts": [float(cut) for cut in asked["cuts"]]},
}
_ROUTES: tuple[Any, ...] = (
    ("/", _page, "GET"),
    ("/static/{name}", _static, "GET"),
    ("/about", _about, "GET"),
    ("/file", _upload, "PUT"),
    ("/table", _table, "POST"),
    *((f"/{task}", _looking(task, arguments), "POST") for task, arguments in _LOOKS.items()),
    ("/audit", _reporting("audit"), "POST"),
    ("/monitor", _reporting("monitor"), "POST"),
    ("/what-if", _answering("what_if"), "POST"),
    ("/plan", _answering("plan"), "POST"),
    ("/job/{key}", _job, "GET", "DELETE"),
    ("/report/{name}", _report, "GET"),
)
