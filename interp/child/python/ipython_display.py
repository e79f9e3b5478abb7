"""What stands in for IPython.display where there is no IPython: notebooks import these names from there."""
from .display import DisplayHandle, clear_output, display, update_display

__all__ = ["HTML", "Image", "JSON", "Latex", "Markdown", "Math", "Pretty", "SVG", "DisplayHandle", "clear_output", "display",
           "update_display"]

_KINDS = ((b"\x89PNG", "png"), (b"\xff\xd8", "jpeg"))


class _Shown:
    """Data that is shown in one form, from an argument or a file of the work folder."""

    _binary = False

    def __init__(self, data=None, url=None, filename=None, metadata=None):
        if url is not None:
            raise ValueError(f"{type(self).__name__} cannot fetch {url!r}: network is not available here")
        if data is None and filename is not None:
            with open(filename, "rb" if self._binary else "r", **({} if self._binary else {"encoding": "utf-8"})) as file:
                data = file.read()
        self.data = data
        self.filename = filename
        self.metadata = metadata

    def __repr__(self):
        return f"<IPython.display.{type(self).__name__} object>"


class HTML(_Shown):
    def _repr_html_(self):
        return self.data


class Markdown(_Shown):
    def _repr_markdown_(self):
        return self.data


class Latex(_Shown):
    def _repr_latex_(self):
        return self.data


class Math(_Shown):
    def _repr_latex_(self):
        return f"$\\displaystyle {self.data.strip('$')}$"


class SVG(_Shown):
    def _repr_svg_(self):
        return self.data


class Pretty(_Shown):
    def __repr__(self):
        return str(self.data)


class JSON(_Shown):
    def _repr_json_(self):
        if isinstance(self.data, str):
            import json
            return json.loads(self.data)
        return self.data


class Image(_Shown):
    """A PNG or JPEG, from its bytes or a file."""

    _binary = True

    def __init__(self, data=None, url=None, filename=None, format=None, embed=None, width=None, height=None, **more):
        if isinstance(data, str) or hasattr(data, "__fspath__"):
            data, filename = None, data
        if isinstance(filename, str) and filename.startswith(("http://", "https://")):
            filename, url = None, filename
        super().__init__(data, url, filename)
        kind = next((kind for start, kind in _KINDS if self.data is not None and self.data.startswith(start)), format)
        if kind not in ("png", "jpeg"):
            raise ValueError("Image takes the bytes of a PNG or JPEG, or the name of such a file")
        self.format, self.width, self.height = kind, width, height

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {f"image/{self.format}": self.data}
