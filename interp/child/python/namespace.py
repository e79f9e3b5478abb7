"""What a cell finds in builtins and __main__ besides Python's own."""
import builtins
import sys

import _gloveport_native as native

from . import display, errors, imports, streams, tools

_MODULE_ATTRIBUTES = ("__name__", "__doc__", "__package__", "__loader__", "__spec__", "__builtins__", "__annotations__")


def prepare_sessions():
    """Once per template, when all its modules are there, and before any cell."""
    imports.close()
    main = sys.modules["__main__"]
    for name in list(main.__dict__):
        if name not in _MODULE_ATTRIBUTES:
            del main.__dict__[name]
    main.__doc__ = None
    main.__annotations__ = {}
    _fill_builtins()
    errors.install_hooks()


def _fill_builtins():
    """As site does it, and ours: in builtins, so that a cell that deletes one of its names gets it back."""
    import _sitebuiltins
    builtins.quit = _sitebuiltins.Quitter("quit", "nothing more")
    builtins.exit = _sitebuiltins.Quitter("exit", "nothing more")
    builtins.help = _sitebuiltins._Helper()
    builtins.copyright = _sitebuiltins._Printer("copyright", sys.copyright)
    builtins.input = native.no_input
    builtins.final_answer = native.final_answer
    builtins.display = display.display
    builtins.clear_output = display.clear_output
    builtins.update_display = display.update_display
    builtins.ToolError = tools.ToolError
    builtins.ToolTimeoutError = tools.ToolTimeoutError


def end_session():
    """When the host has closed the session: what cells registered with atexit runs, as at the end of any program. The
    host waits for that only so long."""
    import atexit
    atexit._run_exitfuncs()
    streams.finish_cell()
