"""A web page on this machine to audit a file or a table of counts (extra ``web``).

It listens on loopback only. The address contains a random token, the Host header must be that of this machine, and
requests that change something need a header that no other site can send; there is no CORS. Files are kept in a folder
that is deleted when the process ends. Reports are shown in a sandboxed frame.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..auditing import Audit, ReferenceKind, audit, audit_counts
from ..cells import ConfusionMatrix
from ..errors import EvenhandError, InvalidInput, MissingExtra
from ..inference import cross_prior_smooth, disparity, interval, match_test, undefined_probability
from ..metrics import metric as find_metric
from ..records import plain_value
from ..tabulate import first_rows, read_counts

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["create_app", "serve"]

MEGABYTE = 2**20
_SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".csv.gz", ".tsv.gz")
_PREVIEWED = 8
# How many files and audits are kept at a time, and the largest request other than a file.
_KEPT, _LARGEST_REQUEST = 8, 16 * MEGABYTE
_GUESSES = {
    "label": ("y", "y_true", "label", "labels", "target", "actual", "outcome", "truth"),
    "prediction": ("yhat", "y_pred", "y_hat", "pred", "prediction", "predicted", "decision"),
    "group": ("race", "sex", "gender", "group", "ethnicity", "age_group"),
}
_HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)


@dataclass(frozen=True, slots=True)
class Desk:
    """The state of the page: uploaded files and audits by id."""

    folder: Path
    limit: int
    uploads: dict[str, tuple[Path, str]] = field(default_factory=dict)
    audits: dict[str, Audit] = field(default_factory=dict)


def create_app(token: str, hosts: set[str], folder: Path, *, limit: int = 4096 * MEGABYTE) -> Starlette:
    """The application behind the page; ``hosts`` are the allowed values of the Host header."""
    try:
        from starlette.applications import Starlette
        from starlette.routing import Mount, Route
    except ModuleNotFoundError:
        raise MissingExtra.named("web", "the page") from None
    desk = Desk(folder, limit)

    def door(handle: Callable[[Request, Desk], Any]) -> Callable[[Request], Any]:
        async def enter(request: Request) -> Response:
            return await _guarded(request, desk, handle, token, hosts)

        return enter

    inside = [
        Route("/", door(_page)),
        Route("/static/{name}", door(_static)),
        Route("/file", door(_upload), methods=["PUT"]),
        Route("/audit", door(_audit), methods=["POST"]),
        Route("/counts", door(_counts), methods=["POST"]),
        Route("/what-if", door(_what_if), methods=["POST"]),
        Route("/report/{name}", door(_report)),
    ]
    app = Starlette(routes=[Mount("/{token}", routes=inside)])
    # No redirect to an address with a trailing slash before the token is checked.
    app.router.redirect_slashes = False
    return app


def serve(port: int, *, limit: int, opened: Callable[[str], None]) -> None:
    """Serve the page on loopback until interrupted; ``opened`` is called with its address."""
    try:
        import uvicorn
    except ModuleNotFoundError:
        raise MissingExtra.named("web", "the page") from None
    import socket

    with socket.socket() as listener, tempfile.TemporaryDirectory(prefix="evenhand-") as folder:
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as refusal:
            raise InvalidInput(
                f"port {port} cannot be used: {refusal.strerror}; leave out --port to use a free one"
            ) from None
        port = listener.getsockname()[1]
        token = secrets.token_urlsafe(24)
        app = create_app(token, {f"127.0.0.1:{port}", f"localhost:{port}"}, Path(folder), limit=limit)
        opened(f"http://127.0.0.1:{port}/{token}/")
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


async def _guarded(
    request: Request, desk: Desk, handle: Callable[[Request, Desk], Any], token: str, hosts: set[str]
) -> Response:
    from starlette.requests import ClientDisconnect
    from starlette.responses import JSONResponse, PlainTextResponse

    if request.headers.get("host", "") not in hosts:
        return PlainTextResponse("this page is only available on this machine\n", 421, headers=_HEADERS)
    if not secrets.compare_digest(str(request.path_params["token"]).encode(), token.encode()):
        return PlainTextResponse(
            "the address is incomplete; use the one printed when the page was started\n", 404, headers=_HEADERS
        )
    if request.method not in ("GET", "HEAD") and request.headers.get("x-evenhand") != "1":
        return PlainTextResponse("only the page itself may send this request\n", 403, headers=_HEADERS)
    if request.method == "POST" and int(request.headers.get("content-length", 0)) > _LARGEST_REQUEST:
        return PlainTextResponse("the request is too large\n", 413, headers=_HEADERS)
    try:
        response: Response = await handle(request, desk)
    except EvenhandError as refusal:
        response = JSONResponse({"error": str(refusal)}, 400)
    except (ArithmeticError, AttributeError, ClientDisconnect, LookupError, TypeError, ValueError):
        # The page itself never sends such a request.
        response = JSONResponse({"error": "invalid request"}, 400)
    for name, value in _HEADERS.items():
        response.headers[name] = value
    response.headers.setdefault("Content-Security-Policy", _PAGE_POLICY)
    return response


def _shipped(name: str) -> bytes:
    return (files("evenhand.faces") / "static" / name).read_bytes()


async def _page(request: Request, desk: Desk) -> Response:
    from starlette.responses import HTMLResponse

    return HTMLResponse(_shipped("page.html"))


async def _static(request: Request, desk: Desk) -> Response:
    from starlette.responses import PlainTextResponse, Response

    kinds = {"page.js": "text/javascript", "page.css": "text/css"}
    name = request.path_params["name"]
    if name not in kinds:
        return PlainTextResponse("not found\n", 404)
    return Response(_shipped(name), media_type=kinds[name])


async def _upload(request: Request, desk: Desk) -> Response:
    """Keep a file until the process ends, and return a preview of it."""
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse

    name = Path(request.query_params.get("name", "")).name
    suffix = next((s for s in sorted(_SUFFIXES, key=len, reverse=True) if name.lower().endswith(s)), None)
    if suffix is None:
        raise InvalidInput(f"{name or 'the file'} must be a CSV, TSV or Parquet file by its extension")
    key = secrets.token_hex(8)
    path = desk.folder / f"{key}{suffix}"
    try:
        await _keep(request, path, desk.limit, name)
        columns, rows = await run_in_threadpool(_preview, path, name)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    while len(desk.uploads) >= _KEPT:
        desk.uploads.pop(next(iter(desk.uploads)))[0].unlink(missing_ok=True)
    desk.uploads[key] = path, name
    guesses = {role: next((c for c in columns if c.lower() in names), None) for role, names in _GUESSES.items()}
    return JSONResponse({"file": key, "name": name, "columns": columns, "rows": rows, "guesses": guesses})


async def _keep(request: Request, path: Path, limit: int, name: str) -> None:
    size = 0
    with path.open("wb") as copy:
        async for part in request.stream():
            size += len(part)
            if size > limit:
                raise InvalidInput(
                    f"{name} is larger than {limit / MEGABYTE:g} MB; start the page with a larger --limit"
                )
            copy.write(part)


def _named(path: Path, name: str, work: Callable[[], Any]) -> Any:
    """Do the work; errors mention the name of the uploaded file rather than its path."""
    try:
        return work()
    except EvenhandError as refusal:
        raise InvalidInput(str(refusal).replace(str(path), name)) from None


def _preview(path: Path, name: str) -> tuple[list[str], list[list[str]]]:
    columns, rows = _named(path, name, lambda: first_rows(path, _PREVIEWED))
    return columns, [["" if v is None else str(v)[:80] for v in row] for row in rows]


async def _audit(request: Request, desk: Desk) -> Response:
    from starlette.concurrency import run_in_threadpool

    asked = await request.json()
    if asked.get("file") not in desk.uploads:
        raise InvalidInput("the file is no longer available; choose it again")
    path, name = desk.uploads[asked["file"]]
    columns: dict[str, Any] = {
        "y_true": asked.get("label") or None,
        "y_pred": asked.get("prediction") or None,
        "y_score": asked.get("score") or None,
        "groups": asked.get("groups") or None,
        "positive": asked.get("positive") or None,
        "threshold": float(asked.get("threshold") or 0.5),
    }
    return _answer(
        desk, await run_in_threadpool(_named, path, name, lambda: audit(path, **columns, **_settings(asked)))
    )


async def _counts(request: Request, desk: Desk) -> Response:
    from starlette.concurrency import run_in_threadpool

    asked = await request.json()
    by, matrices = read_counts(StringIO(str(asked.get("text", "")), newline=""), "the table")
    return _answer(desk, await run_in_threadpool(lambda: audit_counts(matrices, by=by, **_settings(asked))))


def _settings(asked: Mapping[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {"reference": asked.get("reference") or ReferenceKind.REST}
    if asked.get("metrics"):
        settings["metrics"] = asked["metrics"]
    return settings


def _answer(desk: Desk, result: Audit) -> Response:
    from starlette.responses import JSONResponse

    key = secrets.token_hex(8)
    while len(desk.audits) >= _KEPT:
        desk.audits.pop(next(iter(desk.audits)))
    desk.audits[key] = result
    findings = [{"sentence": f.sentence, "severity": f.severity} for f in result.findings[:5]]
    return JSONResponse({"audit": key, "n": result.n, "findings": findings, "more": max(0, len(result.findings) - 5)})


async def _report(request: Request, desk: Desk) -> Response:
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import PlainTextResponse, Response

    key, _, kind = request.path_params["name"].partition(".")
    kinds: dict[str, tuple[str, Callable[[Audit], str]]] = {
        "html": ("text/html", lambda result: result.to_html()),
        "json": ("application/json", lambda result: result.to_json()),
        "csv": ("text/csv", lambda result: result.to_csv()),
    }
    if key not in desk.audits or kind not in kinds:
        return PlainTextResponse("not found\n", 404)
    media, write = kinds[kind]
    headers = {"Content-Security-Policy": _REPORT_POLICY}
    if "download" in request.query_params:
        headers["Content-Disposition"] = f'attachment; filename="audit.{kind}"'
    return Response(await run_in_threadpool(write, desk.audits[key]), media_type=media, headers=headers)


async def _what_if(request: Request, desk: Desk) -> Response:
    """Test, interval, smoothed score and undefined cases for the counts of a group and a reference."""
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse

    return JSONResponse(await run_in_threadpool(_imagined, await request.json()))


def _count(text: Any) -> int:
    try:
        if isinstance(text, float) and not text.is_integer():
            raise ValueError
        return int(text)
    except ValueError:
        raise InvalidInput(f"a count must be a whole number; got {str(text)[:20]!r}") from None


def _imagined(asked: Mapping[str, Any]) -> dict[str, Any]:
    group, reference = (ConfusionMatrix(*map(_count, asked[who])) for who in ("group", "reference"))
    m = find_metric(str(asked.get("metric", "tpr")))
    if m.comparisons:
        raise InvalidInput(f"{m.key} compares two groups; choose a metric of one group")
    strength = float(asked.get("strength") or 0)
    test, gap = match_test(group, reference, m), disparity(group, reference, m)
    between = interval(group, m)
    smoothed = cross_prior_smooth(group, reference, strength)
    answer = {
        "score": test.statistic,
        "reason": test.reason,
        "reference": test.reference_score,
        "gap": gap.estimate,
        "gap_low": gap.low,
        "gap_high": gap.high,
        "pvalue": gap.pvalue,
        "percentile": test.percentile,
        "low": between.low,
        "high": between.high,
        "smoothed": float(m(smoothed)),
        "shrinkage": smoothed.shrinkage if m.base.linear is not None else None,
        "undefined": undefined_probability(m, int(group.n), reference),
    }
    return dict(plain_value(answer))
