#include <pybind11/stl.h>

#include <chrono>
#include <string>

#include "gloveport/core/agent/agent.h"
#include "gloveport/core/model/factory.h"
#include "gloveport/interp/python/bindings.h"
#include "gloveport/interp/python/observers.h"
#include "gloveport/interp/python/results.h"
#include "gloveport/interp/python/values.h"

namespace gloveport::python {
namespace {

std::string_view RoleName(Role role) {
  return role == Role::kSystem ? "system" : role == Role::kUser ? "user" : "assistant";
}

// A model that is a Python callable: messages -> text.
class PythonModel : public Model {
 public:
  PythonModel(std::string name, py::object call) : name_(std::move(name)), call_(Share(std::move(call))) {}

  const std::string& name() const override { return name_; }

  Result<ChatReply> Complete(const ChatRequest& request) override {
    const py::gil_scoped_acquire gil;
    try {
      py::list messages;
      for (const ChatMessage& message : request.messages) {
        py::dict one;
        one["role"] = std::string(RoleName(message.role));
        one["content"] = message.content;
        messages.append(one);
      }
      ChatReply reply;
      reply.content = py::cast<std::string>((*call_)(messages));
      reply.finish_reason = "stop";
      reply.model = name_;
      return reply;
    } catch (py::error_already_set& error) {
      return Fail(ErrorCode::kIo, ErrorOf(error).message);
    } catch (const py::cast_error&) {
      return Fail(ErrorCode::kProtocol, "the model's callable did not return a str");
    }
  }

 private:
  std::string name_;
  SharedObject call_;
};

AgentOptions OptionsOf(const py::dict& given) {
  AgentOptions options;
  options.goal = py::cast<std::string>(given["goal"]);
  options.instructions = py::cast<std::string>(given["instructions"]);
  options.max_steps = py::cast<std::size_t>(given["max_steps"]);
  if (!given["schema"].is_none()) options.schema = FromPython(given["schema"]);
  if (!given["timeout_s"].is_none()) {
    options.deadline =
        Deadline::After(std::chrono::milliseconds(std::llround(py::cast<double>(given["timeout_s"]) * 1000)));
  }
  for (const auto& [path, data] : py::cast<py::dict>(given["files"])) {
    const auto bytes = py::cast<std::string>(data);
    const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
    options.files.push_back({py::cast<std::string>(path), {first, first + bytes.size()}});
  }
  if (!given["on_step"].is_none()) options.observer = MakeAgentObserver(given["on_step"]);
  return options;
}

class BoundAgent {
 public:
  // `model`: "openai:NAME", "anthropic:NAME", "scripted:FILE", or a callable.
  BoundAgent(std::shared_ptr<BoundRuntime> runtime, const py::object& model, const py::dict& session,
             const py::dict& options)
      : runtime_(std::move(runtime)), model_(ModelOf(model)) {
    agent_ = std::make_unique<Agent>(runtime_->get(), *model_, SessionOptionsOf(session), OptionsOf(options));
  }
  BoundAgent(const BoundAgent&) = delete;
  BoundAgent& operator=(const BoundAgent&) = delete;
  ~BoundAgent() {
    if (!process_.is_this()) {  // its threads and children are another process's
      static_cast<void>(agent_.release());
      static_cast<void>(model_.release());
      new std::shared_ptr<BoundRuntime>(std::move(runtime_));
      return;
    }
    const py::gil_scoped_release released;  // it waits for tools, which are Python
    agent_.reset();
  }

  py::dict Run() {
    process_.Check("Agent.run");
    const auto result = Released([&] { return agent_->Run(); });
    return AgentResultDict(Unwrap(result, "Agent.run"));
  }
  void Interrupt() { agent_->Interrupt(); }

 private:
  static std::unique_ptr<Model> ModelOf(const py::object& model) {
    if (!py::isinstance<py::str>(model)) {
      const py::object name = py::getattr(model, "__name__", py::type::of(model).attr("__name__"));
      return std::make_unique<PythonModel>(py::cast<std::string>(name), model);
    }
    const auto spec = py::cast<std::string>(model);
    return Unwrap(MakeModel(spec), "making a model", spec);
  }

  Process process_;
  std::shared_ptr<BoundRuntime> runtime_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Agent> agent_;
};

}  // namespace

void BindAgent(py::module_& module) {
  py::class_<BoundAgent>(module, "Agent")
      .def(py::init<std::shared_ptr<BoundRuntime>, const py::object&, const py::dict&, const py::dict&>())
      .def("run", &BoundAgent::Run)
      .def("interrupt", &BoundAgent::Interrupt);
}

}  // namespace gloveport::python
