"""The event loop for cells with a top-level await. It does not run between cells, so asyncio.run works in them."""
import contextvars

_loop = None
_context = None


def context():
    """The one context in which all cells run, with and without await: what one sets, the next sees."""
    global _context
    if _context is None:
        _context = contextvars.copy_context()
    return _context


def run(coroutine):
    """Runs the coroutine of a cell to its end. Tasks that it started go on with the next such cell; those of a cell that
    is stopped are cancelled."""
    global _loop
    import asyncio
    if _loop is None or _loop.is_closed():
        _loop = asyncio.new_event_loop()
    before = asyncio.all_tasks(_loop)
    task = _loop.create_task(coroutine, context=context())
    try:
        return _loop.run_until_complete(task)
    except (KeyboardInterrupt, SystemExit):
        for pending in asyncio.all_tasks(_loop) - before:
            pending.cancel()
        if task.done() and not task.cancelled():
            task.exception()  # it has been seen
        raise
