"""The application behind the page: routes that take what is sent, start jobs, and tell how far they are."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...auditing import METRICS
from ...errors import EvenhandError, InvalidInput, MissingExtra
from ...metrics import CATALOGUE
from ...tabulate import input_files
from .desk import MEGABYTE, Desk, Upload
from .guard import SMALL, Guard, arriving, read_json
from .jobs import Job

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
_MOST_UPLOADS_AT_ONCE, _MOST_FILES = 4, 100
_COUNTS = "counts.csv"

Handler = Callable[["Request", Desk], Awaitable["Response"]]


def create_app(token: str, hosts: set[str], folder: Path, *, limit: int = 4096 * MEGABYTE) -> Starlette:
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

    Returns
    -------
    starlette.applications.Starlette
        The application; ``state.desk`` holds its state, and ``state.desk.close()`` ends all work.
    """
    try:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.routing import Mount, Route
    except ModuleNotFoundError:
        raise MissingExtra.named("web", "the page") from None
    desk = Desk(folder, limit)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        desk.close()

    inside = [
        Route("/", _door(_page, desk)),
        Route("/static/{name}", _door(_static, desk)),
        Route("/about", _door(_about, desk)),
        Route("/file", _door(_upload, desk), methods=["PUT"]),
        Route("/table", _door(_table, desk), methods=["POST"]),
        Route("/values", _door(_values, desk), methods=["POST"]),
        Route("/scores", _door(_scores, desk), methods=["POST"]),
        Route("/bins", _door(_bins, desk), methods=["POST"]),
        Route("/audit", _door(_audit, desk), methods=["POST"]),
        Route("/what-if", _door(_what_if, desk), methods=["POST"]),
        Route("/plan", _door(_plan, desk), methods=["POST"]),
        Route("/job/{key}", _door(_job, desk), methods=["GET", "DELETE"]),
        Route("/report/{name}", _door(_report, desk)),
    ]
    guard = Middleware(Guard, token=token, hosts=hosts)
    app = Starlette(routes=[Mount(f"/{token}", routes=inside)], middleware=[guard], lifespan=lifespan)
    app.router.redirect_slashes = False
    app.state.desk = desk
    return app


def _door(handle: Handler, desk: Desk) -> Callable[[Request], Awaitable[Response]]:
    """A route; what is refused becomes a sentence."""

    async def enter(request: Request) -> Response:
        from starlette.requests import ClientDisconnect
        from starlette.responses import JSONResponse

        try:
            return await handle(request, desk)
        except EvenhandError as refusal:
            return JSONResponse({"error": str(refusal)}, 400)
        except (AttributeError, ClientDisconnect, LookupError, TypeError, ValueError):
            # The page itself never sends such a request.
            return JSONResponse({"error": "invalid request"}, 400)

    return enter


def _shipped(name: str) -> bytes:
    return (files("evenhand.faces") / "static" / name).read_bytes()


def _not_found() -> Response:
    from starlette.responses import PlainTextResponse

    return PlainTextResponse("not found\n", 404)


async def _page(request: Request, desk: Desk) -> Response:
    from starlette.responses import HTMLResponse

    return HTMLResponse(_shipped("page.html"))


async def _static(request: Request, desk: Desk) -> Response:
    from starlette.responses import Response

    name = str(request.path_params["name"])
    known = {file.name for file in (files("evenhand.faces") / "static").iterdir()}
    kind = _TYPES.get(name.rpartition(".")[2])
    if kind is None or name not in known:
        return _not_found()
    return Response(_shipped(name), media_type=kind)


async def _about(request: Request, desk: Desk) -> Response:
    """What the page must know before anything is chosen: the metrics, and the largest file."""
    from starlette.responses import JSONResponse

    metrics = [
        {
            "key": m.key,
            "name": m.name,
            "formula": m.formula,
            "synonyms": list(m.synonyms),
            "compares": bool(m.comparisons),
            "distance": m.is_distance,
            "chosen": m.key in METRICS,
        }
        for m in CATALOGUE
    ]
    return JSONResponse({"metrics": metrics, "limit": desk.limit})


def _started(job: Job, **more: Any) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse({"job": job.key, **more})


def _slot(request: Request) -> str:
    """What the page calls the place of a job, of which there is one at a time."""
    return str(request.query_params.get("slot", ""))[:80]


async def _upload(request: Request, desk: Desk) -> Response:
    """Keep a file until the page ends, alone or beside others that were sent before, and start to look into it."""
    name = _file_name(str(request.query_params.get("name", "")))
    beside = request.query_params.get("beside")
    if desk.uploading >= _MOST_UPLOADS_AT_ONCE:
        raise InvalidInput("too many files are being sent at once; wait for them")
    first = desk.upload(beside) if beside else None
    if first is not None and first.counts:
        raise InvalidInput(f"{name} cannot be audited together with a table of counts")
    names = [] if first is None else _names(first)
    folder = first.folder if first else desk.new_folder()
    desk.uploading += 1
    try:
        await _keep(request, folder, [*names, name], desk.limit - (_size(folder) if first else 0))
    except BaseException:
        if first is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        desk.uploading -= 1
    data: str | list[str] = name
    if first is None:
        key = desk.keep_upload(Upload(folder, data))
    else:
        # Another file may have arrived meanwhile.
        key, data = folder.name, [*_names(desk.upload(folder.name)), name]
        desk.uploads[key] = Upload(folder, data)
    return _started(desk.start("look", folder, {"data": data}, _slot(request)), file=key)


def _names(upload: Upload) -> list[str]:
    return [upload.data] if isinstance(upload.data, str) else upload.data


def _file_name(given: str) -> str:
    """The name of an uploaded file, without anything that could lead out of its folder."""
    name = given.replace("\\", "/").rpartition("/")[2].strip()
    name = "".join(c if c.isprintable() and c not in '*?[]<>:"|' else "_" for c in name).lstrip("~.-")
    stem, suffix = name[: len(name) - len(_suffix(name))], _suffix(name)
    if not stem:
        raise InvalidInput(f"{given[:60] or 'the file'} cannot be used: its name must have a stem and an extension")
    while len(f"{stem}{suffix}".encode("utf-8", "replace")) > 200:
        stem = stem[:-1]
    return f"{stem}{suffix}".encode("utf-8", "replace").decode()


def _suffix(name: str) -> str:
    """The extension of a file, with that of its compression."""
    last = Path(name).suffix
    return "".join(Path(name).suffixes[-2:]) if last.lower() in (".gz", ".zst") else last


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


async def _keep(request: Request, folder: Path, names: list[str], limit: int) -> None:
    """Write the last of some files while it arrives; it is refused as soon as it is too large or of a wrong kind."""
    path, before = folder / names[-1], _size(folder)
    too_large = InvalidInput(
        f"{path.name} is larger than {max(limit, 0) / MEGABYTE:g} MB; start the page with a larger --limit"
    )
    said = request.headers.get("content-length", "")
    if said.isdecimal() and int(said) > limit:
        raise too_large
    if path.exists():
        raise InvalidInput(f"there are two files called {path.name}; rename one of them")
    if len(names) > _MOST_FILES:
        raise InvalidInput(f"more than {_MOST_FILES} files cannot be audited together on the page")
    size = 0
    try:
        with path.open("xb") as copy:
            async for part in arriving(request):
                if size == 0 and part:
                    copy.write(part[:1])
                    copy.flush()
                    _check_kind(folder, names)
                    copy.seek(0)
                size += len(part)
                if size > limit:
                    raise too_large
                copy.write(part)
        _check_kind(folder, names)
        # Others may have arrived beside it.
        if _size(folder) - before > limit:
            raise too_large
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _check_kind(folder: Path, names: list[str]) -> None:
    try:
        input_files([folder / name for name in names])
    except EvenhandError as refusal:
        raise InvalidInput(str(refusal).replace(f"{folder}{os.sep}", "")) from None


async def _table(request: Request, desk: Desk) -> Response:
    """Keep a table of counts that was pasted, or the counts of an example, and start to look into it."""
    asked = await read_json(request)
    text = None if asked.get("example") else str(asked["text"]).encode()
    desk.audits.check_room()
    folder = desk.new_folder()
    upload = Upload(folder, _COUNTS, counts=True)
    arguments = {"example": "compas"} if text is None else {}
    if text is not None:
        (folder / _COUNTS).write_bytes(text)
    return _started(
        desk.start("look_at_counts", folder, {"data": _COUNTS, **arguments}, _slot(request)),
        file=desk.keep_upload(upload),
    )


async def _values(request: Request, desk: Desk) -> Response:
    """Start to count the values of columns."""
    asked = await read_json(request, SMALL)
    upload = desk.upload(asked.get("file"))
    columns = {str(role): str(name) for role, name in asked["columns"].items()}
    return _started(desk.start("values", upload.folder, {"data": upload.data, "columns": columns}, _slot(request)))


async def _scores(request: Request, desk: Desk) -> Response:
    """Start to count the scores of a column for a histogram."""
    asked = await read_json(request, SMALL)
    upload = desk.upload(asked.get("file"))
    arguments = {"data": upload.data, "column": str(asked["column"])}
    return _started(desk.start("scores", upload.folder, arguments, _slot(request)))


async def _bins(request: Request, desk: Desk) -> Response:
    """Start to count the bins of a group column."""
    asked = await read_json(request, SMALL)
    upload = desk.upload(asked.get("file"))
    arguments = {"data": upload.data, "column": str(asked["column"]), "cuts": [float(cut) for cut in asked["cuts"]]}
    return _started(desk.start("bins", upload.folder, arguments, _slot(request)))


async def _audit(request: Request, desk: Desk) -> Response:
    """Start an audit of a file or of a table of counts."""
    asked = await read_json(request)
    upload = desk.upload(asked.get("file"))
    desk.audits.check_room()
    out = desk.result()
    arguments = {"data": upload.data, "counts": upload.counts, "asked": asked, "out": str(out)}
    return _started(desk.start("audit", upload.folder, arguments, _slot(request)))


async def _what_if(request: Request, desk: Desk) -> Response:
    """Start to compute what would follow from the counts of a group and a reference."""
    asked = await read_json(request, SMALL)
    return _started(desk.start("what_if", desk.folder, {"asked": asked}, _slot(request), lane=desk.what_ifs))


async def _plan(request: Request, desk: Desk) -> Response:
    """Start to answer a question of planning."""
    asked = await read_json(request, SMALL)
    return _started(desk.start("plan", desk.folder, {"asked": asked}, _slot(request), lane=desk.what_ifs))


async def _job(request: Request, desk: Desk) -> Response:
    """How far a job is, as soon as that differs from what was seen; or give it up."""
    from starlette.responses import JSONResponse

    job = desk.jobs.get(str(request.path_params["key"]))
    if job is None:
        return _not_found()
    if request.method == "DELETE":
        desk.cancel(job)
    seen, latest = int(request.query_params.get("seen", 0)), time.monotonic() + _LONGEST_WAIT
    while job.version <= seen and not job.over and time.monotonic() < latest:
        await asyncio.sleep(_LOOK_SECONDS)
    state = {"state": job.state, "seen": job.version, "what": job.what, "done": job.done, "total": job.total}
    if job.state == "done":
        state["answer"] = job.answer
    elif job.state == "failed":
        state["error"] = job.answer
    return JSONResponse(state)


async def _report(request: Request, desk: Desk) -> Response:
    from starlette.responses import FileResponse

    key, _, kind = str(request.path_params["name"]).partition(".")
    folder = desk.results.get(key)
    if folder is None or kind not in _FORMATS or not (folder / f"audit.{kind}").is_file():
        return _not_found()
    headers = {"Content-Security-Policy": _REPORT_POLICY}
    if "download" in request.query_params:
        headers["Content-Disposition"] = f'attachment; filename="audit.{kind}"'
    return FileResponse(folder / f"audit.{kind}", media_type=_FORMATS[kind], headers=headers)
