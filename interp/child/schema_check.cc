#include "gloveport/interp/child/schema_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "gloveport/interp/child/python_parts.h"
#include "gloveport/interp/child/value_encoder.h"

namespace gloveport::child {
namespace {

constexpr int kMaxDepth = 100;
constexpr std::size_t kShownBytes = 80;

PyObject* Get(PyObject* dict, const char* key) { return PyDict_GetItemString(dict, key); }  // borrowed

// The JSON type of a value, "" for what has none. Rich types (numpy scalars and arrays) are asked of
// codec.kind.
std::string KindOf(PyObject* value) {
  if (value == Py_None) return "null";
  if (PyBool_Check(value)) return "boolean";
  if (PyLong_Check(value)) return "integer";
  if (PyFloat_Check(value)) return "number";
  if (PyUnicode_Check(value)) return "string";
  if (PyList_Check(value) || PyTuple_Check(value)) return "array";
  if (PyDict_Check(value)) return "object";
  if (PyBytes_Check(value) || PyByteArray_Check(value)) return "bytes";
  PyObject* kind = PythonFunction("codec", "kind");
  const PyRef name =
      kind != nullptr ? PyRef::Steal(PyObject_CallFunctionObjArgs(kind, value, nullptr)) : PyRef();
  if (!name) return PyErr_Clear(), "";
  return Utf8Of(name.get());
}

bool Fits(const std::string& kind, const std::string& type) {
  return kind == type || (type == "number" && kind == "integer");
}

std::string PythonName(const std::string& type) {
  if (type == "integer") return "int";
  if (type == "number") return "float";
  if (type == "string") return "str";
  if (type == "boolean") return "bool";
  if (type == "array") return "list";
  if (type == "object") return "dict";
  if (type == "null") return "None";
  return type;
}

std::string Got(PyObject* value) {
  if (value == Py_None) return "None";
  std::string type = Utf8Of(PyRef::Steal(PyType_GetName(Py_TYPE(value))).get());
  if (PyList_Check(value) || PyDict_Check(value) || PyTuple_Check(value)) return type;
  std::string shown = ShownRepr(value, kShownBytes);
  PyErr_Clear();
  return shown.empty() || shown.size() > kShownBytes ? type : type + ": " + shown;
}

std::string Join(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " or " : ", ";
    text += parts[i];
  }
  return text;
}

bool Equal(PyObject* a, PyObject* b) {
  if (PyBool_Check(a) != PyBool_Check(b)) return false;
  const int same = PyObject_RichCompareBool(a, b, Py_EQ);
  if (same < 0) PyErr_Clear();
  return same == 1;
}

void AddTypes(PyObject* type, std::vector<std::string>& out) {
  if (type == nullptr) return;
  if (PyUnicode_Check(type)) out.push_back(Utf8Of(type));
  if (!PyList_Check(type)) return;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(type); ++i) out.push_back(Utf8Of(PyList_GET_ITEM(type, i)));
}

}  // namespace

std::unique_ptr<SchemaCheck> SchemaCheck::Compile(PyObject* schema) {
  auto check = std::make_unique<SchemaCheck>();
  if (schema == nullptr || !PyDict_Check(schema)) return check;
  AddTypes(Get(schema, "type"), check->types_);
  if (PyObject* constant = Get(schema, "const"); constant != nullptr)
    check->allowed_.push_back(PyRef::Borrow(constant));
  if (PyObject* list = Get(schema, "enum"); list != nullptr && PyList_Check(list)) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
      check->allowed_.push_back(PyRef::Borrow(PyList_GET_ITEM(list, i)));
    }
  }
  if (PyObject* items = Get(schema, "items"); items != nullptr) check->items_ = Compile(items);
  if (PyObject* properties = Get(schema, "properties"); properties != nullptr && PyDict_Check(properties)) {
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    while (PyDict_Next(properties, &position, &key, &value)) check->properties_[Utf8Of(key)] = Compile(value);
  }
  if (PyObject* other = Get(schema, "additionalProperties"); other != nullptr) {
    check->closed_ = other == Py_False;
    if (PyDict_Check(other)) check->other_properties_ = Compile(other);
  }
  std::vector<std::string> required;
  AddTypes(Get(schema, "required"), required);
  check->required_.insert(required.begin(), required.end());
  for (const char* word : {"anyOf", "oneOf"}) {
    PyObject* list = Get(schema, word);
    if (list == nullptr || !PyList_Check(list)) continue;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i)
      check->choices_.push_back(Compile(PyList_GET_ITEM(list, i)));
  }
  return check;
}

bool SchemaCheck::accepts_everything() const {
  return types_.empty() && allowed_.empty() && !items_ && properties_.empty() && !other_properties_ &&
         required_.empty() && !closed_ && choices_.empty();
}

std::string SchemaCheck::Complain(PyObject* value, int depth) const {
  if (depth > kMaxDepth) return "";  // the encoder has a limit of its own and says so
  if (std::string text = ComplainOfType(value); !text.empty()) return text;
  if (std::string text = ComplainOfChoices(value, depth); !text.empty()) return text;
  if (std::string text = ComplainOfItems(value, depth); !text.empty()) return text;
  return ComplainOfMembers(value, depth);
}

std::string SchemaCheck::Expected() const {
  std::vector<std::string> names;
  for (const std::string& type : types_) names.push_back(PythonName(type));
  for (const auto& choice : choices_) {
    for (const std::string& type : choice->types_) names.push_back(PythonName(type));
  }
  return Join(names);
}

std::string SchemaCheck::ComplainOfType(PyObject* value) const {
  if (!types_.empty()) {
    const std::string kind = KindOf(value);
    const bool fits =
        std::any_of(types_.begin(), types_.end(), [&](const std::string& type) { return Fits(kind, type); });
    if (!fits) return fmt::format("must be {}, not {}", Expected(), Got(value));
  }
  if (allowed_.empty()) return "";
  std::vector<std::string> shown;
  for (const PyRef& one : allowed_) {
    if (Equal(one.get(), value)) return "";
    shown.push_back(ShownRepr(one.get(), kShownBytes));
  }
  return fmt::format("must be {}{}, not {}", shown.size() > 1 ? "one of " : "", Join(shown), Got(value));
}

std::string SchemaCheck::ComplainOfChoices(PyObject* value, int depth) const {
  std::string first;
  for (const auto& choice : choices_) {
    std::string text = choice->Complain(value, depth + 1);
    if (text.empty()) return "";
    // A choice of the right type has more to say than one that wants another type.
    if (first.empty() || choice->ComplainOfType(value).empty()) first = std::move(text);
  }
  const std::string expected = Expected();
  const bool wrong_type = std::none_of(choices_.begin(), choices_.end(), [&](const auto& choice) {
    return choice->ComplainOfType(value).empty();
  });
  return !choices_.empty() && wrong_type && !expected.empty()
             ? fmt::format("must be {}, not {}", expected, Got(value))
             : first;
}

std::string SchemaCheck::ComplainOfItems(PyObject* value, int depth) const {
  if (!items_ || items_->accepts_everything() || !(PyList_Check(value) || PyTuple_Check(value))) return "";
  for (Py_ssize_t i = 0; i < Py_SIZE(value); ++i) {
    const PyRef item =
        PyRef::Borrow(PyList_Check(value) ? PyList_GET_ITEM(value, i) : PyTuple_GET_ITEM(value, i));
    const std::string text = items_->Complain(item.get(), depth + 1);
    if (!text.empty()) return fmt::format("[{}]{}{}", i, text.front() == '[' ? "" : " ", text);
  }
  return "";
}

std::string SchemaCheck::ComplainOfMembers(PyObject* value, int depth) const {
  if (!PyDict_Check(value) || (properties_.empty() && required_.empty() && !closed_ && !other_properties_))
    return "";
  for (const std::string& name : required_) {
    if (PyDict_GetItemString(value, name.c_str()) == nullptr) return fmt::format("lacks the key '{}'", name);
  }
  Py_ssize_t position = 0;
  PyObject* next_key = nullptr;
  PyObject* next_value = nullptr;
  while (PyDict_Next(value, &position, &next_key, &next_value)) {
    const PyRef item = PyRef::Borrow(next_value);
    const std::string name = Utf8Of(next_key);
    const auto known = properties_.find(name);
    if (known == properties_.end() && closed_) return fmt::format("must not have the key '{}'", name);
    const SchemaCheck* check = known != properties_.end() ? known->second.get() : other_properties_.get();
    if (check == nullptr) continue;
    const std::string text = check->Complain(item.get(), depth + 1);
    if (!text.empty()) return fmt::format("['{}']{}{}", name, text.front() == '[' ? "" : " ", text);
  }
  return "";
}

}  // namespace gloveport::child
