"""What a session shows, made safe for a page of Jupyter.

A page runs the scripts of what is displayed, and may use the server's kernels and terminals: HTML from a session that came as
it is would lead out of the confinement. So text/html passes a list of elements and attributes, images are images, and forms
that can carry scripts are left out; there is always text/plain.
"""
from __future__ import annotations

import base64
import html
import json
import re
from html.parser import HTMLParser
from typing import Any, Optional

_ELEMENTS = frozenset("a abbr b blockquote br caption center code col colgroup dd details div dl dt em figcaption figure h1 h2 h3 "
                      "h4 h5 h6 hr i img kbd li ol p pre s samp small span strong sub summary sup table tbody td tfoot th thead "
                      "tr u ul var".split())
_VOID = frozenset(("br", "col", "hr", "img"))
_DROPPED = frozenset(("script", "style", "template", "title", "noscript", "iframe", "object", "embed", "svg", "math", "textarea",
                      "select", "xmp", "noembed", "noframes", "plaintext"))  # with what is in them
_ATTRIBUTES = frozenset("align alt border class colspan dir height lang open rowspan scope span start style title valign "
                        "width".split())
_STYLES = re.compile(r"^[\w\s.,#%:;()\-'\"]*$")
_UNWANTED_STYLE = re.compile(r"url|expression|import|position|behavior|@|\\|z-index|content", re.IGNORECASE)
_IMAGE = re.compile(r"^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*$")
_LINK = re.compile(r"^https?://[^\s\"'<>]*$")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")


def safe_html(text: str) -> str:
    """The text with nothing in it but harmless elements and attributes."""
    cleaner = _Cleaner()
    try:
        cleaner.feed(text)
        cleaner.close()
    except AssertionError:  # what html.parser says of some declarations: the rest is left out
        pass
    return cleaner.result()


def safe_text(text: str) -> str:
    """Text for a terminal or page: colours stay, other control characters are shown as what they are."""
    return _ESCAPES.sub(lambda found: found[0] if len(found[0]) > 1 or found[0] == "\b" else _visible(found[0]), text)


def _visible(character: str) -> str:
    code = ord(character)
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"


def safe_bundle(display: dict) -> dict:
    """A display of a cell as Jupyter wants it: bytes as base64, nothing that could run in the page."""
    bundle: dict = {}
    for mime, data in display.items():
        made = _safe_form(mime, data)
        if made is not None:
            bundle[made[0]] = made[1]
    if "text/html" not in bundle and "image/svg+xml" in display and isinstance(display["image/svg+xml"], str):
        picture = base64.b64encode(display["image/svg+xml"].encode()).decode()
        bundle["text/html"] = f'<img src="data:image/svg+xml;base64,{picture}">'  # as an image it runs no script
    if not {"text/html", "image/png", "image/jpeg"} & set(bundle):
        for mime in ("text/markdown", "text/latex"):  # as it was written: made into HTML it could hold more than text
            if isinstance(display.get(mime), str):
                bundle["text/plain"] = safe_text(display[mime])
                break
    return bundle


def _safe_form(mime: Any, data: Any) -> Optional[tuple]:
    if mime in ("image/png", "image/jpeg") and isinstance(data, (bytes, bytearray)):
        return mime, base64.b64encode(data).decode()
    if mime in ("image/png", "image/jpeg") and isinstance(data, str) and re.fullmatch(r"[A-Za-z0-9+/=\s]*", data):
        return mime, data
    if mime == "text/html" and isinstance(data, str):
        return mime, safe_html(data)
    if mime == "text/plain" and isinstance(data, str):
        return mime, safe_text(data)
    if mime == "application/json" and isinstance(data, (dict, list)):
        try:
            return mime, json.loads(json.dumps(data, allow_nan=False))
        except (TypeError, ValueError, RecursionError):  # what JSON has no form for would fail on its way to the page
            return None
    return None


class _Cleaner(HTMLParser):
    """Writes what passes anew, so that what a browser reads is what was judged."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._out: list = []
        self._open: list = []
        self._dropping: list = []

    def result(self) -> str:
        return "".join(self._out) + "".join(f"</{tag}>" for tag in reversed(self._open))

    def handle_starttag(self, tag: str, attributes: list) -> None:
        if self._dropping:
            if tag in _DROPPED:
                self._dropping.append(tag)
        elif tag in _DROPPED:
            self._dropping.append(tag)
        elif tag in _ELEMENTS:
            kept = "".join(f' {name}="{html.escape(value or "")}"' for name, value in attributes
                           if _passes(tag, name, value or ""))
            self._out.append(f"<{tag}{kept}>")
            if tag not in _VOID:
                self._open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._dropping:
            if tag in self._dropping:
                while self._dropping.pop() != tag:
                    pass
        elif tag in self._open:
            while True:
                last = self._open.pop()
                self._out.append(f"</{last}>")
                if last == tag:
                    break

    def handle_data(self, data: str) -> None:
        if not self._dropping:
            self._out.append(html.escape(data.replace("\0", ""), quote=False))


def _passes(tag: str, name: str, value: str) -> bool:
    if name == "style":
        return bool(_STYLES.match(value)) and not _UNWANTED_STYLE.search(value)
    if tag == "img" and name == "src":
        return bool(_IMAGE.match(value))
    if tag == "a" and name == "href":
        return bool(_LINK.match(value))
    return name in _ATTRIBUTES
