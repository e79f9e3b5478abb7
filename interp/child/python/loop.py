"""The event loop for cells with a top-level await. It does not run between cells, so asyncio.run works in them."""
_loop = None


def run(coroutine):
    """Runs the coroutine of a cell to its end; tasks that it started go on with the next such cell."""
    global _loop
    import asyncio
    if _loop is None or _loop.is_closed():
        _loop = asyncio.new_event_loop()
    return _loop.run_until_complete(coroutine)
