// Calls of host functions from cells.
#ifndef GLOVEPORT_INTERP_CHILD_TOOL_CALL_H_
#define GLOVEPORT_INTERP_CHILD_TOOL_CALL_H_

#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {

// make_caller(name, parameters, starts=False): a callable that takes exactly the values of all parameters, by
// position, checks them against their schemas, sends the call and returns what the host returned.
// `parameters` is a list of (name, schema). tools.py wraps it into a function with the tool's signature, so
// that CPython's own binding fills in defaults and complains of wrong counts and names.
//
// The callable: a TypeError that names the parameter, what was expected and what came, before the host is
// asked; the tool's own failure as the exception that the host names; the cell's stop while it waits. Any
// thread with the GIL, which is given up while the host works.
// With `starts` the callable only sends the call and returns its number; its reply comes by collect_replies.
PyObject* MakeCaller(PyObject* self, PyObject* args);

// collect_replies(): waits until replies to calls that were only started are there and returns them as a list
// of (call, value, None) and (call, None, exception); the list is empty when something else woke the thread.
// Any thread with the GIL, one at a time.
PyObject* CollectReplies(PyObject* self, PyObject* ignored);

// abandon_call(call): nobody wants the reply any longer; wakes the thread in collect_replies.
PyObject* AbandonCall(PyObject* self, PyObject* call);

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_TOOL_CALL_H_
