#include <pybind11/stl.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "gloveport/core/host/result_json.h"
#include "gloveport/interp/python/bindings.h"
#include "gloveport/interp/python/results.h"
#include "gloveport/interp/python/values.h"

namespace gloveport::python {
namespace {

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

// A session and the runtime below it, held while a call is in it: another thread may close it meanwhile.
struct Held {
  Held() = default;
  Held(std::shared_ptr<BoundRuntime> runtime_below, std::shared_ptr<Session> held_session)
      : runtime(std::move(runtime_below)), session(std::move(held_session)) {}
  Held(const Held&) = default;
  Held(Held&&) = default;
  Held& operator=(const Held&) = default;
  Held& operator=(Held&&) = default;
  ~Held() {
    if (!session) return;
    const py::gil_scoped_release released;  // the last one waits for tools, which are Python
    session.reset();
    runtime.reset();
  }
  Session* operator->() const { return session.get(); }

  std::shared_ptr<BoundRuntime> runtime;
  std::shared_ptr<Session> session;
};

class BoundSession {
 public:
  BoundSession(std::unique_ptr<Session> session, std::shared_ptr<BoundRuntime> runtime)
      : id_(session->id()), held_(std::move(runtime), std::move(session)) {}
  BoundSession(const BoundSession&) = delete;
  BoundSession& operator=(const BoundSession&) = delete;
  ~BoundSession() {
    if (!process_.is_this()) {  // its threads and children are another process's
      new Held(std::move(held_));
    } else {
      Drop();
    }
  }

  const std::string& id() const { return id_; }

  Held Use(const char* what) const {
    process_.Check(what);
    if (!held_.session) Raise({ErrorCode::kClosed, "the session is closed", "open another one"}, what, id_);
    return held_;
  }

  // `done(result, error)` is called once, on any thread: one of them is None.
  void Start(std::string code, const py::object& timeout_s, bool inspect, py::object done) {
    const Held held = Use("Session.run");
    RunOptions options;
    if (!timeout_s.is_none()) options.timeout = Milliseconds(py::cast<double>(timeout_s));
    if (!inspect) options.inspect = InspectMode::kOff;
    auto answer = [done = Share(std::move(done)), id = id_](const Result<CellResult>& result) {
      const py::gil_scoped_acquire gil;
      try {
        if (result) {
          (*done)(ResultDict(*result), py::none());
        } else {
          (*done)(py::none(), MakeException(result.error(), "Session.run", id));
        }
      } catch (py::error_already_set& error) {
        error.discard_as_unraisable(*done);
      }
    };
    Released([&] { held->RunAsync(std::move(code), options, std::move(answer)); });
  }

  void Close() {
    process_.Check("Session.close");
    Drop();
  }

  py::list Branch(std::size_t count, const py::object& options) {
    const Held held = Use("Session.branch");
    std::function<BranchOptions(std::size_t)> ask;
    std::vector<BranchOptions> each;
    if (!options.is_none()) {
      for (const py::handle one : py::cast<py::list>(options)) {
        SessionOptions given = SessionOptionsOf(py::cast<py::dict>(one));
        each.push_back({given.tools, given.sink, given.approver});
      }
      ask = [&](std::size_t i) { return each.at(i); };
    }
    auto sessions = Unwrap(Released([&] { return held->Branch(count, ask); }), "Session.branch", id_);
    py::list list;
    for (auto& session : sessions) list.append(MakeSession(std::move(session), held.runtime));
    return list;
  }

 private:
  void Drop() {
    Held held = std::move(held_);
    held_ = {};
    if (!held.session) return;
    const py::gil_scoped_release released;  // a run that ends here calls into Python
    held->Close();
    held.session.reset();
    held.runtime.reset();
  }

  Process process_;
  std::string id_;
  Held held_;
};

// A call that waits, with the GIL given up, and its error as an exception about `where`.
template <typename Call>
auto Ask(const BoundSession& session, const char* what, const std::string& where, Call call) {
  const Held held = session.Use(what);
  return Unwrap(Released([&] { return call(*held.session); }), what, where.empty() ? session.id() : where);
}

void PutFile(const BoundSession& session, const std::string& path, const py::buffer& data) {
  const py::buffer_info info = data.request();
  if (PyBuffer_IsContiguous(info.view(), 'C') == 0) throw py::buffer_error("the bytes are not contiguous");
  const auto* first = static_cast<const std::byte*>(info.ptr);
  const std::vector<std::byte> bytes(first, first + info.size * info.itemsize);
  Ask(session, "Session.put_file", path, [&](Session& s) { return s.PutFile(path, bytes); });
}

py::bytes GetFile(const BoundSession& session, const std::string& path) {
  const auto data = Ask(session, "Session.get_file", path, [&](Session& s) { return s.GetFile(path); });
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

py::dict ListFiles(const BoundSession& session) {
  py::dict files;
  for (const FileInfo& file :
       Ask(session, "Session.list_files", "", [](Session& s) { return s.ListFiles(); }))
    files[py::str(file.path)] = file.size_bytes;
  return files;
}

std::optional<std::size_t> Cursor(const py::object& cursor) {
  if (cursor.is_none()) return {};
  return py::cast<std::size_t>(cursor);
}

py::dict Complete(const BoundSession& session, const std::string& code, const py::object& cursor) {
  const auto found = Ask(session, "Session.complete", "",
                         [&, at = Cursor(cursor)](Session& s) { return s.Complete(code, at); });
  py::dict dict;
  dict["matches"] = found.matches;
  dict["start"] = found.start;
  dict["end"] = found.end;
  return dict;
}

py::dict Inspect(const BoundSession& session, const std::string& code, const py::object& cursor) {
  const auto info = Ask(session, "Session.inspect", "",
                        [&, at = Cursor(cursor)](Session& s) { return s.Inspect(code, at); });
  py::dict dict;
  dict["found"] = info.found;
  dict["name"] = info.name;
  dict["type"] = info.type;
  dict["doc"] = info.doc;
  dict["signature"] = info.signature;
  dict["repr"] = info.repr;
  dict["file"] = info.file;
  return dict;
}

py::tuple IsComplete(const BoundSession& session, const std::string& code) {
  const auto state = Ask(session, "Session.is_complete", "", [&](Session& s) { return s.IsComplete(code); });
  return py::make_tuple(std::string(CompletenessName(state.completeness)), state.indent);
}

py::list Grants(const BoundSession& session) {
  py::list list;
  for (const Grant& grant : session.Use("Session.grants")->Grants())
    list.append(py::make_tuple(grant.covers, grant.by, grant.uses));
  return list;
}

}  // namespace

py::object MakeSession(std::unique_ptr<Session> session, std::shared_ptr<BoundRuntime> runtime) {
  return py::cast(std::make_unique<BoundSession>(std::move(session), std::move(runtime)));
}

void BindSession(py::module_& module) {
  using S = BoundSession;
  py::class_<S> cls(module, "Session");
  cls.def_property_readonly("id", &S::id)
      .def_property_readonly("policy", [](const S& s) { return s.Use("Session.policy")->policy(); })
      .def_property_readonly("layers",
                             [](const S& s) { return ToPython(ToJson(s.Use("Session.layers")->layers())); })
      .def("start", &S::Start, py::arg("code"), py::arg("timeout_s"), py::arg("inspect"), py::arg("done"))
      .def("close", &S::Close)
      .def("branch", &S::Branch, py::arg("count"), py::arg("options"))
      .def("interrupt",
           [](const S& s) {
             Ask(s, "Session.interrupt", "", [](Session& session) { return session.Interrupt(); });
           })
      .def("set",
           [](const S& s, const std::string& name, const py::object& object) {
             const Value value = FromPython(object);
             Ask(s, "Session.set", name, [&](Session& session) { return session.SetVariable(name, value); });
           })
      .def("get", [](const S& s, const std::string& name) {
        return ToPythonOrForeign(
            Ask(s, "Session.get", name, [&](Session& session) { return session.GetVariable(name); }));
      });
  cls.def("put_file", &PutFile)
      .def("get_file", &GetFile)
      .def("list_files", &ListFiles)
      .def("remove_file",
           [](const S& s, const std::string& path) {
             Ask(s, "Session.remove_file", path, [&](Session& session) { return session.RemoveFile(path); });
           })
      .def("complete", &Complete)
      .def("inspect", &Inspect)
      .def("is_complete", &IsComplete)
      .def("checkpoint",
           [](const S& s) {
             return Ask(s, "Session.checkpoint", "", [](Session& session) { return session.Checkpoint(); });
           })
      .def("rollback",
           [](const S& s, const std::string& name) {
             Ask(s, "Session.rollback", name, [&](Session& session) { return session.Rollback(name); });
           })
      .def("forget",
           [](const S& s, const std::string& name) {
             Ask(s, "Session.forget", name, [&](Session& session) { return session.Forget(name); });
           })
      .def("grants", &Grants)
      .def("revoke_grant", [](const S& s, const std::string& covers) {
        Ask(s, "Session.revoke_grant", covers, [&](Session& session) { return session.RevokeGrant(covers); });
      });
}

}  // namespace gloveport::python
