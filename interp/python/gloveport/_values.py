"""What crosses between this process and a session, and as what.

The forms are those of core/wire/FORMAT.md; the code is the child's own (gloveport._child.codec). What differs on this
side: a session's word is hostile, so that no class of this process is looked up for it unless it was registered.
"""
from __future__ import annotations

import base64
from typing import Any

from ._child import codec
from ._payloads import check_payload

__all__ = ["Foreign", "Image", "register_type"]


class Foreign:
    """A value that stayed in its session, or that cannot be had here: its class name and its repr."""

    __slots__ = ("repr", "type")

    def __init__(self, type: str, repr: str):  # noqa: A002 - the names of the form
        self.type = type
        self.repr = repr

    def __repr__(self) -> str:
        return self.repr or f"<{self.type}>"


class Image:
    """An image as a cell made it: ``data`` are the bytes of a file of the type ``mime``. Nothing decodes it here.

    >>> Image("image/png", b"...").mime
    'image/png'
    """

    __slots__ = ("data", "mime")

    def __init__(self, mime: str, data: bytes):
        self.mime = mime
        self.data = data

    def __repr__(self) -> str:
        return f"<Image {self.mime}, {len(self.data)} bytes>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Image) and (self.mime, self.data) == (other.mime, other.data)

    def __hash__(self) -> int:
        return hash((self.mime, self.data))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict:
        return {self.mime: base64.b64encode(self.data).decode(), "text/plain": repr(self)}

    def to_pil(self) -> Any:
        """The image as PIL decodes it: a parser for what a session wrote."""
        import io

        import PIL.Image
        return PIL.Image.open(io.BytesIO(self.data))


_registered: dict = {}


def register_type(cls: type) -> type:
    """Lets instances of a dataclass, enum or named tuple come back from sessions as such; usable as a decorator.

    Without it they come as a dict of the fields, the member's value, a plain tuple. The fields are the session's word:
    a dataclass's __init__ and __post_init__ are not called.

    >>> import enum
    >>> @register_type
    ... class Season(enum.Enum):
    ...     SPRING = 1
    """
    _registered[cls.__qualname__] = cls
    _registered[f"{cls.__module__}.{cls.__qualname__}"] = cls
    return cls


def to_form(value: Any) -> Any:
    """Called by the module: (form, payload) for a rich value."""
    if isinstance(value, Image):
        return "image", {"mime": value.mime, "data": value.data}
    return codec.to_form(value)


def from_form(form: str, payload: Any) -> Any:
    """Called by the module: the object of a form that a session sent."""
    if form == "image":
        return Image(str(payload["mime"]), bytes(payload["data"]))
    if form == "object":
        return Foreign(str(payload.get("type", "")), str(payload.get("repr", "")))
    try:
        check_payload(form, payload)
        return codec.from_form(form, payload)
    except RecursionError:
        raise ValueError(f"a {form} is nested too deeply") from None


def _find_class(name: Any) -> Any:
    return _registered.get(name) if isinstance(name, str) else None


_known_zone = codec._from_zone_name


def _from_zone_name(text: str) -> Any:
    """Not those for which pandas would open a file of the session's choice, or ask this machine."""
    if text.startswith(("dateutil/", "tzlocal(")):
        raise ValueError(f"the time zone {text!r} cannot cross to this process")
    return _known_zone(text)


codec._find_class = _find_class
codec._from_zone_name = _from_zone_name
