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


def run_parts(parts, namespace):
    """Runs the parts of one cell, of which one awaits: all of them with the loop running."""
    return run(_parts(parts, namespace))


async def _parts(parts, namespace):
    import inspect
    value = None
    for part in parts:
        value = eval(part, namespace)
        if part.co_flags & inspect.CO_COROUTINE:
            value = await value
    return value


def obstacle():
    """Why a copy of this process would lack something; empty where it would not."""
    if _loop is None or _loop.is_closed():
        return ""
    import asyncio
    tasks = asyncio.all_tasks(_loop)
    return f"{len(tasks)} tasks of asyncio are not finished, and a copy has none" if tasks else ""


def abandon():
    """In a copy of the process. The loop's epoll is one with the original's, so it goes before anything is unregistered."""
    global _loop
    if _loop is not None and not _loop.is_closed():
        import os
        os.close(_loop._selector.fileno())
        try:
            _loop.close()
        except OSError:
            pass
    _loop = None
