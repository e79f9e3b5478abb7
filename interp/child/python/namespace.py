"""What a cell finds in __main__ and builtins besides Python's own."""
import builtins
import sys

import _gloveport_native as native


def start_session(inspector):
    """Once per session, before its first cell."""
    from . import streams
    streams.open_streams()
    if inspector:
        return
    import _sitebuiltins
    from . import display, tools
    main = sys.modules["__main__"]
    for name in list(main.__dict__):
        if name not in ("__name__", "__doc__", "__package__", "__loader__", "__spec__", "__builtins__"):
            del main.__dict__[name]
    builtins.quit = _sitebuiltins.Quitter("quit", "Ctrl-D")
    builtins.exit = _sitebuiltins.Quitter("exit", "Ctrl-D")
    builtins.help = _sitebuiltins._Helper()
    builtins.input = no_input
    builtins.final_answer = native.final_answer
    builtins.display = display.display
    builtins.ToolError = tools.ToolError


def no_input(prompt="", /):
    """Replaces input(): nobody is there to answer."""
    raise EOFError("input() cannot be used here: nobody can answer. Put the value into the code, or ask for it in "
                   "your answer")
