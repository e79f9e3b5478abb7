"""Rich output of cells: display(), the trailing value's rich forms, figures of matplotlib."""
import io
import sys

import _gloveport_native as native

from . import quiet, sources, streams

MAX_BYTES = 16 << 20  # of one form; larger ones are left out
MAX_FIGURES = 64      # of one cell

WRITTEN_BEFORE = "application/vnd.gloveport.written-before"  # for the host, which tells output and displays in order

_METHODS = (
    ("text/html", "_repr_html_"),
    ("text/markdown", "_repr_markdown_"),
    ("text/latex", "_repr_latex_"),
    ("image/svg+xml", "_repr_svg_"),
    ("image/png", "_repr_png_"),
    ("image/jpeg", "_repr_jpeg_"),
    ("application/json", "_repr_json_"),
    ("application/pdf", "_repr_pdf_"),
)


DISPLAY_ID = "application/vnd.gloveport.display-id"  # in a bundle: its name, for those who can update what they show
UPDATES = "application/vnd.gloveport.updates-display-id"  # it takes the place of what was shown under that name
CLEARS = "application/vnd.gloveport.clear-output"  # nothing is shown: what was before goes, at once or (true) with the next


def display(*values, display_id=None, raw=False, clear=False):
    """Show values as richly as they can be shown: tables, images, figures.

    With a display_id (a name, or True for a new one) the object that is returned can update what is shown; with raw
    the values are dicts of MIME types; with clear they take the place of all that the cell has shown.
    """
    if clear:
        clear_output(wait=True)
    bundle = dict if raw else _bundle
    if not display_id:
        for value in values:
            _show(bundle(value))
        return None
    if display_id is True:
        import uuid
        display_id = uuid.uuid4().hex
    for value in values:
        _show({**bundle(value), DISPLAY_ID: str(display_id)})
    return DisplayHandle(str(display_id))


class DisplayHandle:
    """What display() returns for something that can be updated."""

    def __init__(self, display_id):
        self.display_id = display_id

    def display(self, value):
        """Show a value under the same name once more."""
        display(value, display_id=self.display_id)

    def update(self, value):
        """Show this value in the place of the one before."""
        update_display(value, display_id=self.display_id)


def update_display(value, *, display_id, raw=False):
    """Show this value in the place of what was shown under that name."""
    _show({**(dict if raw else _bundle)(value), UPDATES: str(display_id)})


def clear_output(wait=False):
    """Take away what the cell has shown and printed so far, in a notebook; with wait when the next thing is shown."""
    _show({CLEARS: bool(wait)})


def patch_ipython(module):
    """A real IPython.display shows by way of a shell that is not here."""
    module.display, module.clear_output, module.update_display = display, clear_output, update_display


def _show(bundle):
    native.show({**bundle, WRITTEN_BEFORE: streams.written()})


def _bundle(value):
    bundle = rich_forms(value)
    bundle["text/plain"] = native.shown_repr(value)
    return bundle


def show_value(value):
    """Called with the value of a trailing expression; shows it where it has more than a repr."""
    if _is_figure(value):
        return  # finish_cell shows it
    bundle = rich_forms(value)
    if bundle and not quiet.is_quiet(next(reversed(sources.texts.values()), "")):
        bundle["text/plain"] = native.shown_repr(value)
        _show(bundle)


def rich_forms(value):
    """{MIME type: text or bytes} of what the value's class offers besides its repr."""
    cls = type(value)
    if isinstance(value, type) or cls.__module__ == "builtins":
        return {}
    if _is_figure(value):
        return {"image/png": _png_of(value)}
    forms = {}
    offered = _call(cls, value, "_repr_mimebundle_")
    if isinstance(offered, tuple) and offered:
        offered = offered[0]
    if isinstance(offered, dict):
        forms.update(offered)
    for mime, name in _METHODS:
        if mime not in forms:
            forms[mime] = _without_metadata(_call(cls, value, name))
    forms.pop("text/plain", None)
    return {mime: data for mime, data in forms.items() if isinstance(mime, str) and _fits(data)}


def _call(cls, value, name):
    """The method is looked up on the class: an object with a __getattr__ that answers everything offers nothing."""
    if getattr(cls, name, None) is None:
        return None
    try:
        return getattr(value, name)()
    except NotImplementedError:
        return None
    except Exception as error:
        print(f"{cls.__name__}.{name}() raised {type(error).__name__}: {error}", file=sys.stderr)
        return None


def _without_metadata(data):
    return data[0] if isinstance(data, tuple) and len(data) == 2 else data


def _fits(data):
    if isinstance(data, (str, bytes)):
        return len(data) <= MAX_BYTES
    return isinstance(data, (dict, list))


# ---- matplotlib ----

def _is_figure(value):
    figure = sys.modules.get("matplotlib.figure")
    return figure is not None and isinstance(value, figure.Figure)


def _png_of(figure):
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", bbox_inches="tight")
    return buffer.getvalue()


def _show_figures():
    """Sends the open figures in the order of their numbers, and closes them."""
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    if helpers is None:
        return
    managers = sorted(helpers.Gcf.get_all_fig_managers(), key=lambda manager: manager.num)
    try:
        for manager in managers[:MAX_FIGURES]:
            figure = manager.canvas.figure
            if len(figure.get_children()) > 1:  # more than its own background
                _show({"image/png": _png_of(figure), "text/plain": repr(figure)})
    finally:
        helpers.Gcf.destroy_all()


def finish_cell():
    """A cell's figures are shown without plt.show(), and not again by the next cell."""
    _show_figures()


def patch_pyplot(pyplot):
    """plt.show() shows what there is and returns at once."""
    def show(*args, **kwargs):
        """Show all open figures."""
        _show_figures()

    show.__module__ = pyplot.__name__
    pyplot.show = show
