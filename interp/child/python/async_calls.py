"""Calls of tools that are declared async: a future each, and one thread that takes the replies for all of them.

The thread lives only while such calls are in flight, and blocks where any thread that calls a tool blocks.
"""
import _thread

import _gloveport_native as native

_lock = _thread.allocate_lock()
_waiting = {}      # call -> future
_starting = 0      # calls that are being sent
_early = {}        # call -> (value, error): replies that came while their call was still being sent
_collects = False  # whether the thread is there


def awaitable(start):
    """What an async tool awaits: sends the call and returns the future of its reply."""
    def call(*arguments):
        global _starting
        import asyncio
        future = asyncio.get_running_loop().create_future()
        number = None
        with _lock:
            _starting += 1
        try:
            number = start(*arguments)
        finally:
            early = _started(number, future)
        if early is not None:
            _settle(future, *early)
        else:
            future.add_done_callback(lambda done: _give_up(number) if done.cancelled() else None)
        return future
    return call


def _started(call, future):
    """Notes the future down; returns the reply if it is there already. `call` is None if nothing was sent."""
    global _collects, _starting
    with _lock:
        _starting -= 1
        early = _early.pop(call, None)
        if not _starting:
            _early.clear()
        if call is None:
            return None
        if early is None:
            _waiting[call] = future
            if not _collects:
                _thread.start_new_thread(_collect, ())
                _collects = True
    return early


def _give_up(call):
    with _lock:
        unanswered = _waiting.pop(call, None) is not None
    if unanswered:
        native.abandon_call(call)


def _settle(future, value, error):
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(value)


def _hand_over(call, value, error):
    with _lock:
        future = _waiting.pop(call, None)
        if future is None:
            if _starting:
                _early[call] = (value, error)
            return
    try:
        future.get_loop().call_soon_threadsafe(_settle, future, value, error)
    except RuntimeError:
        pass  # the loop was closed meanwhile


def _collect():
    """Takes replies until none is waited for. A thread that is being stopped with its cell drops what is left: the
    coroutines that wait for it are being stopped, too."""
    global _collects
    try:
        while True:
            for reply in native.collect_replies():
                _hand_over(*reply)
            with _lock:
                if not _waiting:
                    _collects = False
                    return
    except BaseException as error:
        with _lock:
            _collects = False
            left = list(_waiting.items())
            _waiting.clear()
        for call, future in left:
            native.abandon_call(call)
            if isinstance(error, Exception):
                future.get_loop().call_soon_threadsafe(_settle, future, None, error)
