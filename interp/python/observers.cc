#include "gloveport/interp/python/observers.h"

#include <string>
#include <utility>

#include "gloveport/core/host/result_json.h"
#include "gloveport/interp/python/results.h"
#include "gloveport/interp/python/values.h"

namespace gloveport::python {
namespace {

// Calls `function(kind, data)` with the GIL; `fill` writes data.
class Teller {
 public:
  explicit Teller(py::object function) : function_(Share(std::move(function))) {}

  template <typename Fill>
  void operator()(const char* kind, Fill fill) {
    const py::gil_scoped_acquire gil;
    try {
      py::dict data;
      fill(data);
      (*function_)(kind, data);
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable(*function_);
    }
  }

 private:
  SharedObject function_;
};

py::str Text(std::string_view text) {
  PyObject* decoded = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  return py::reinterpret_steal<py::str>(decoded);
}

class Sink : public EventSink {
 public:
  explicit Sink(py::object callback) : tell_(std::move(callback)) {}

  void OnSessionOpen(const SessionFacts& facts) override {
    tell_("session_open", [&](py::dict& data) {
      data["session"] = facts.session;
      data["policy"] = facts.policy.name;
    });
  }
  void OnSessionClose(std::string_view session) override {
    tell_("session_close", [&](py::dict& data) { data["session"] = Text(session); });
  }
  void OnStateChange(std::string_view session, const StateChange& change) override {
    tell_("state_change", [&](py::dict& data) {
      data["session"] = Text(session);
      data["kind"] = change.kind;
      data["name"] = change.name;
    });
  }
  void OnCellStart(std::string_view session, std::uint32_t cell, std::string_view code) override {
    Tell("cell_start", session, cell, [&](py::dict& data) { data["code"] = Text(code); });
  }
  void OnVerdict(std::string_view session, std::uint32_t cell, const Verdict& verdict) override {
    Tell("verdict", session, cell, [&](py::dict& data) { data["verdict"] = ToPython(ToJson(verdict)); });
  }
  void OnOutput(std::string_view session, std::uint32_t cell, Stream stream, std::string_view text) override {
    // As bytes: a piece may end in the middle of a character.
    Tell(stream == Stream::kStdout ? "stdout" : "stderr", session, cell,
         [&](py::dict& data) { data["bytes"] = py::bytes(text.data(), text.size()); });
  }
  void OnApprovalDecided(std::string_view session, std::uint32_t cell, const ApprovalRequest& request,
                         const ApprovalDecision& decision) override {
    Tell("approval_decided", session, cell, [&](py::dict& data) {
      data["tool"] = request.tool;
      data["allowed"] = decision.allowed;
      data["reason"] = decision.reason;
      data["by"] = decision.by;
    });
  }
  void OnToolStart(std::string_view session, std::uint32_t cell, std::uint64_t call, std::string_view tool,
                   const Value& arguments) override {
    Tell("tool_start", session, cell, [&](py::dict& data) {
      data["call"] = call;
      data["tool"] = Text(tool);
      data["args"] = ToPythonOrForeign(arguments);
    });
  }
  void OnToolProgress(std::string_view session, std::uint32_t cell, std::uint64_t call, std::string_view tool,
                      const ToolProgress& progress) override {
    Tell("tool_progress", session, cell, [&](py::dict& data) {
      data["call"] = call;
      data["tool"] = Text(tool);
      data["done"] = progress.done;
      data["total"] = progress.total ? py::object(py::float_(*progress.total)) : py::none();
      data["message"] = Text(progress.message);
    });
  }
  void OnToolCall(std::string_view session, std::uint32_t cell, const ToolCallRecord& record) override {
    Tell("tool_call", session, cell, [&](py::dict& data) {
      const py::dict call = ToolCallDict(record);
      data["call"] = call;
    });
  }
  void OnDisplay(std::string_view session, std::uint32_t cell, const Value& bundle) override {
    Tell("display", session, cell, [&](py::dict& data) { data["bundle"] = ToPythonOrForeign(bundle); });
  }
  void OnRefusal(std::string_view session, std::uint32_t cell, const Refusal& refusal) override {
    Tell("refusal", session, cell, [&](py::dict& data) {
      data["source"] = refusal.source;
      data["rule"] = refusal.rule;
      data["what"] = Text(refusal.what);
      data["message"] = Text(refusal.message);
    });
  }

 private:
  template <typename Fill>
  void Tell(const char* kind, std::string_view session, std::uint32_t cell, Fill fill) {
    tell_(kind, [&](py::dict& data) {
      data["session"] = Text(session);
      data["cell"] = cell;
      fill(data);
    });
  }

  Teller tell_;
};

py::dict RequestDict(const ApprovalRequest& request) {
  py::dict data;
  data["id"] = request.id;
  data["session"] = request.session;
  data["cell"] = request.cell;
  data["kind"] = request.subject == ApprovalSubject::kCell ? "cell" : "tool_call";
  data["code"] = Text(request.code);
  data["tool"] = request.tool;
  data["args"] = ToPythonOrForeign(request.arguments);
  data["sha256"] = request.sha256;
  data["reason"] = Text(request.reason);
  data["grant"] = Text(request.grant);
  return data;
}

ApprovalDecision DecisionOf(const py::dict& answer) {
  ApprovalDecision decision;
  decision.allowed = py::cast<bool>(answer["allowed"]);
  decision.always = py::cast<bool>(answer["always"]);
  decision.reason = py::cast<std::string>(answer["reason"]);
  decision.by = py::cast<std::string>(answer["by"]);
  decision.sha256 = py::cast<std::string>(answer["sha256"]);
  if (answer.contains("code")) decision.code = py::cast<std::string>(answer["code"]);
  if (answer.contains("args")) decision.arguments = FromPython(answer["args"]).as_map();
  return decision;
}

class PythonApprover : public Approver {
 public:
  explicit PythonApprover(py::object ask) : ask_(Share(std::move(ask))) {}

  void Ask(const ApprovalRequest& request, Answer answer) override {
    const py::gil_scoped_acquire gil;
    try {
      const py::cpp_function decide([answer](const py::dict& given) {
        const ApprovalDecision decision = DecisionOf(given);
        Released([&] { answer(decision); });
      });
      (*ask_)(RequestDict(request), decide);
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable(*ask_);
      const py::gil_scoped_release released;
      answer({.allowed = false, .reason = "the question could not be asked"});
    }
  }

  void Withdraw(std::uint64_t id) override {
    const py::gil_scoped_acquire gil;
    try {
      ask_->attr("withdraw")(id);
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable(*ask_);
    }
  }

 private:
  SharedObject ask_;
};

class PythonAgentObserver : public AgentObserver {
 public:
  explicit PythonAgentObserver(py::object callback) : tell_(std::move(callback)) {}

  void OnStep(std::size_t number, std::size_t max_steps) override {
    tell_("step", [&](py::dict& data) {
      data["number"] = number;
      data["max_steps"] = max_steps;
    });
  }
  void OnAction(const Action& action) override {
    tell_("action", [&](py::dict& data) {
      data["thought"] = Text(action.thought);
      data["code"] = action.code ? py::object(Text(*action.code)) : py::none();
      data["error"] = std::string(ActionErrorName(action.error));
    });
  }
  void OnResult(const CellResult& result) override {
    tell_("result", [&](py::dict& data) { data["result"] = ResultDict(result); });
  }
  void OnValidation(const std::vector<SchemaError>& errors) override {
    tell_("validation", [&](py::dict& data) {
      py::list list;
      for (const SchemaError& error : errors) list.append(py::make_tuple(error.path, Text(error.message)));
      data["errors"] = list;
    });
  }
  void OnObservation(std::string_view text) override {
    tell_("observation", [&](py::dict& data) { data["text"] = Text(text); });
  }

 private:
  Teller tell_;
};

}  // namespace

std::shared_ptr<EventSink> MakeSink(py::object callback) {
  return std::make_shared<Sink>(std::move(callback));
}
std::shared_ptr<Approver> MakeApprover(py::object ask) {
  return std::make_shared<PythonApprover>(std::move(ask));
}
std::shared_ptr<AgentObserver> MakeAgentObserver(py::object callback) {
  return std::make_shared<PythonAgentObserver>(std::move(callback));
}

}  // namespace gloveport::python
