// Python callables as what the host library tells and asks: events of sessions, approvals, steps of an agent.
//
// Each may be called on threads that Python has never seen. What a callable raises is reported with
// sys.unraisablehook and changes nothing.
#ifndef GLOVEPORT_INTERP_PYTHON_OBSERVERS_H_
#define GLOVEPORT_INTERP_PYTHON_OBSERVERS_H_

#include <memory>

#include "gloveport/core/agent/agent_observer.h"
#include "gloveport/core/host/event_sink.h"
#include "gloveport/interp/python/ownership.h"
#include "gloveport/tools/approval.h"

namespace gloveport::python {

// callback(kind: str, data: dict) for each event.
std::shared_ptr<EventSink> MakeSink(py::object callback);

// ask(request: dict, answer) is called once a question and must return at once; answer(dict) decides, from
// any thread. ask.withdraw(id) says that the question needs no answer any more.
std::shared_ptr<Approver> MakeApprover(py::object ask);

// callback(kind: str, data: dict) for each event of an agent run.
std::shared_ptr<AgentObserver> MakeAgentObserver(py::object callback);

}  // namespace gloveport::python

#endif  // GLOVEPORT_INTERP_PYTHON_OBSERVERS_H_
