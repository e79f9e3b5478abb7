#include "gloveport/interp/child/value_encoder.h"

#include <fmt/core.h>

#include <algorithm>
#include <new>
#include <optional>
#include <vector>

#include "gloveport/core/base/text.h"
#include "gloveport/interp/child/integer_bytes.h"
#include "gloveport/interp/child/python_parts.h"

namespace gloveport::child {
namespace {

constexpr std::size_t kMaxDepth =
    180;  // below WireLimits: the messages around a value add levels of their own
constexpr std::size_t kNestedReprBytes = 2000;

class Encoder {
 public:
  // What is in the writer from `start` on counts, too; `items` are those that are there already.
  Encoder(CborWriter& writer, Fidelity fidelity, WireLimits limits, std::size_t start, std::size_t items)
      : writer_(writer), fidelity_(fidelity), limits_(limits), start_(start), items_(items) {}

  std::size_t items() const { return items_; }

  bool Encode(PyObject* object) {
    if (++items_ > limits_.max_items) return TooLarge(fmt::format("more than {} items", limits_.max_items));
    if (writer_.total_bytes() - start_ > limits_.max_bytes) {
      return TooLarge(fmt::format("more than {} MiB", limits_.max_bytes >> 20));
    }
    if (object == Py_None) return writer_.Null(), true;
    if (PyBool_Check(object)) return writer_.Bool(object == Py_True), true;
    if (PyLong_CheckExact(object)) return Int(object);
    if (PyFloat_CheckExact(object)) return writer_.Double(PyFloat_AS_DOUBLE(object)), true;
    if (PyUnicode_CheckExact(object)) return Text(object);
    if (PyList_CheckExact(object) || PyDict_CheckExact(object) || PyTuple_CheckExact(object))
      return ByBase(object);
    if (PyBytes_CheckExact(object) || PyAnySet_CheckExact(object) || PyComplex_CheckExact(object) ||
        PyByteArray_CheckExact(object) || Py_TYPE(object) == &PyRange_Type) {
      return ByBase(object);
    }
    return Other(object);
  }

 private:
  // ---- plain types and their subclasses ----

  bool ByBase(PyObject* object) {
    if (PyLong_Check(object)) return Int(object);
    if (PyFloat_Check(object)) return writer_.Double(PyFloat_AS_DOUBLE(object)), true;
    if (PyUnicode_Check(object)) return Text(object);
    if (PyBytes_Check(object)) {
      return Bytes(PyBytes_AS_STRING(object), static_cast<std::size_t>(PyBytes_GET_SIZE(object)));
    }
    if (PyByteArray_Check(object) || PyMemoryView_Check(object)) return Buffer(object);
    if (PyList_Check(object)) return Nested(object, [&] { return List(object); });
    if (PyTuple_Check(object)) return Tag(Form::kTuple) && Nested(object, [&] { return Tuple(object); });
    if (PyDict_Check(object)) return Nested(object, [&] { return Dict(object); });
    if (PyAnySet_Check(object)) {
      return Tag(PyFrozenSet_Check(object) ? Form::kFrozenset : Form::kSet) &&
             Nested(object, [&] { return Set(object); });
    }
    if (PyComplex_Check(object)) return Complex(object);
    if (Py_TYPE(object) == &PyRange_Type) return Range(object);
    return Unfaithful(object);
  }

  bool Int(PyObject* object) {
    int overflow = 0;
    const long long small = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) return writer_.Int(small), true;
    return BigInt(object, overflow < 0);
  }

  bool BigInt(PyObject* object, bool negative) {
    // RFC 8949: a negative integer n is stored as -1 - n, which is ~n.
    const PyRef magnitude =
        negative ? PyRef::Steal(PyLong_Type.tp_as_number->nb_invert(object)) : PyRef::Borrow(object);
    if (!magnitude) return false;
    const std::optional<std::size_t> size = BytesNeeded(magnitude.get());
    if (!size) return false;
    if (*size > gloveport::BigInt::kMaxMagnitudeBytes) {
      return TooLarge(
          fmt::format("an integer of {} bytes where {} are allowed", *size, BigInt::kMaxMagnitudeBytes));
    }
    std::vector<unsigned char> bytes(*size);
    if (!WriteInteger(magnitude.get(), bytes)) return false;
    ++items_;
    writer_.Tag(negative ? kTagNegativeBigInt : kTagPositiveBigInt);
    writer_.Bytes(std::as_bytes(std::span(bytes)));
    return true;
  }

  bool Text(PyObject* object) {
    if (PyUnicode_IS_COMPACT_ASCII(object)) {
      Py_ssize_t size = 0;
      const char* data = PyUnicode_AsUTF8AndSize(object, &size);
      return Utf8({data, static_cast<std::size_t>(size)});
    }
    // Not AsUTF8AndSize: that would keep a second copy of the text in the object for as long as it lives.
    const PyRef bytes = PyRef::Steal(PyUnicode_AsUTF8String(object));
    if (bytes)
      return Utf8({PyBytes_AS_STRING(bytes.get()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get()))});
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return false;
    PyErr_Clear();
    return Surrogates(object);
  }

  bool Utf8(std::string_view text) {
    if (!HasRoomFor(text.size())) return TooLarge(Beyond("a text", text.size()));
    return writer_.Text(text), true;
  }

  // Lone surrogates have no UTF-8: spelled out, with backslashes doubled so that the way back is unambiguous.
  bool Surrogates(PyObject* object) {
    const PyRef backslash = PyText("\\");
    const PyRef doubled = PyText("\\\\");
    const PyRef escaped = PyRef::Steal(PyUnicode_Replace(object, backslash.get(), doubled.get(), -1));
    if (!escaped) return false;
    return Tag(Form::kStr) && Utf8(Utf8Of(escaped.get()));
  }

  bool Bytes(const char* data, std::size_t size) {
    if (!HasRoomFor(size)) return TooLarge(Beyond("a byte string", size));
    writer_.Bytes(std::as_bytes(std::span(data, size)));
    return true;
  }

  bool Buffer(PyObject* object) {
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) != 0) return false;
    if (PyByteArray_Check(object)) Tag(Form::kBytearray);
    const bool done = Bytes(static_cast<const char*>(view.buf), static_cast<std::size_t>(view.len));
    PyBuffer_Release(&view);
    return done;
  }

  bool Complex(PyObject* object) {
    Tag(Form::kComplex);
    items_ += 2;
    writer_.ArrayHead(2);
    writer_.Double(PyComplex_RealAsDouble(object));
    writer_.Double(PyComplex_ImagAsDouble(object));
    return true;
  }

  bool Range(PyObject* object) {
    Tag(Form::kRange);
    ++items_;
    writer_.ArrayHead(3);
    for (const char* name : {"start", "stop", "step"}) {
      const PyRef part = PyRef::Steal(PyObject_GetAttrString(object, name));
      if (!part || !Encode(part.get())) return false;
    }
    return true;
  }

  // ---- containers ----

  template <typename Body>
  bool Nested(PyObject* object, Body body) {
    if (open_.size() >= kMaxDepth) return TooDeep(object);
    open_.push_back(object);
    const bool done = body();
    open_.pop_back();
    return done;
  }

  bool TooDeep(PyObject* object) {
    const bool cycle = std::find(open_.begin(), open_.end(), object) != open_.end();
    PyErr_SetString(
        PyExc_ValueError,
        cycle ? "a value that contains itself cannot cross to the host; pass plain data without the cycle"
              : fmt::format("a value that is nested more than {} levels deep cannot cross to the host; "
                            "flatten it",
                            kMaxDepth)
                    .c_str());
    return false;
  }

  bool List(PyObject* object) {
    const Py_ssize_t size = PyList_GET_SIZE(object);
    writer_.ArrayHead(static_cast<std::size_t>(size));
    for (Py_ssize_t i = 0; i < size; ++i) {
      if (i >= PyList_GET_SIZE(object)) return Changed(object);
      const PyRef item = PyRef::Borrow(PyList_GET_ITEM(object, i));
      if (!Encode(item.get())) return false;
    }
    return PyList_GET_SIZE(object) == size || Changed(object);
  }

  bool Tuple(PyObject* object) {
    const Py_ssize_t size = PyTuple_GET_SIZE(object);
    writer_.ArrayHead(static_cast<std::size_t>(size));
    for (Py_ssize_t i = 0; i < size; ++i) {
      if (!Encode(PyTuple_GET_ITEM(object, i))) return false;
    }
    return true;
  }

  bool Dict(PyObject* object) {
    if (PyODict_Check(object) && !PyODict_CheckExact(object)) return OrderedItems(object);
    if (PyODict_CheckExact(object)) return OrderedItems(object);
    const Py_ssize_t size = PyDict_GET_SIZE(object);
    writer_.MapHead(static_cast<std::size_t>(size));
    Py_ssize_t position = 0;
    Py_ssize_t count = 0;
    PyObject* next_key = nullptr;
    PyObject* next_value = nullptr;
    while (PyDict_Next(object, &position, &next_key, &next_value)) {
      const PyRef key = PyRef::Borrow(next_key);
      const PyRef value = PyRef::Borrow(next_value);
      if (++count > size) return Changed(object);
      if (!Encode(key.get()) || !Encode(value.get())) return false;
    }
    return count == size || Changed(object);
  }

  // An OrderedDict's order is not that of the dict below it.
  bool OrderedItems(PyObject* object) {
    const PyRef items =
        PyRef::Steal(PyObject_CallMethod(reinterpret_cast<PyObject*>(&PyODict_Type), "items", "O", object));
    const PyRef pairs = items ? PyRef::Steal(PySequence_Tuple(items.get())) : PyRef();
    if (!pairs) return false;
    writer_.MapHead(static_cast<std::size_t>(PyTuple_GET_SIZE(pairs.get())));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(pairs.get()); ++i) {
      PyObject* pair = PyTuple_GET_ITEM(pairs.get(), i);
      if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2) return Changed(object);
      if (!Encode(PyTuple_GET_ITEM(pair, 0)) || !Encode(PyTuple_GET_ITEM(pair, 1))) return false;
    }
    return true;
  }

  bool Set(PyObject* object) {
    const Py_ssize_t size = PySet_GET_SIZE(object);
    writer_.ArrayHead(static_cast<std::size_t>(size));
    Py_ssize_t count = 0;
    // The set's own iteration, whatever __iter__ a subclass has.
    const PyRef items = PyRef::Steal(PySet_Type.tp_iter(object));
    if (!items) return false;
    while (const PyRef item = PyRef::Steal(PyIter_Next(items.get()))) {
      if (++count > size) return Changed(object);
      if (!Encode(item.get())) return false;
    }
    if (!PyErr_Occurred()) return count == size || Changed(object);
    if (!PyErr_ExceptionMatches(PyExc_RuntimeError)) return false;
    PyErr_Clear();  // "Set changed size during iteration"
    return Changed(object);
  }

  // ---- everything else ----

  // codec.to_form knows the rich types: None for "not one of them", else (form name, payload); the name ""
  // means that the payload stands for the object itself (a numpy scalar is a plain number).
  bool Other(PyObject* object) {
    PyObject* to_form = PythonFunction("codec", "to_form");
    if (to_form == nullptr) return false;
    const PyRef answer = PyRef::Steal(PyObject_CallFunctionObjArgs(to_form, object, nullptr));
    if (!answer) return false;
    if (answer.get() == Py_None) return ByBase(object);
    PyObject* name = PyTuple_GET_ITEM(answer.get(), 0);
    PyObject* payload = PyTuple_GET_ITEM(answer.get(), 1);
    const std::string form_name = Utf8Of(name);
    if (!form_name.empty()) {
      const auto form = FormFromName(form_name);
      if (!form) return PyErr_Format(PyExc_SystemError, "unknown form %R", name), false;
      Tag(*form);
    }
    return Nested(object, [&] { return Encode(payload); });
  }

  bool Unfaithful(PyObject* object) {
    if (fidelity_ == Fidelity::kShown) return Shown(object);
    PyErr_Format(PyExc_TypeError,
                 "a value of type %.200s cannot cross to the host; pass plain data "
                 "(numbers, text, bytes, lists, dicts, dates, arrays, dataclasses)",
                 Py_TYPE(object)->tp_name);
    return false;
  }

  bool Shown(PyObject* object) {
    const std::string repr = ShownRepr(object, kNestedReprBytes);
    if (PyErr_Occurred()) return false;
    Tag(Form::kObject);
    items_ += 4;
    writer_.MapHead(2);
    writer_.Text("type");
    writer_.Text(Utf8Of(PyRef::Steal(PyType_GetName(Py_TYPE(object))).get()));
    writer_.Text("repr");
    writer_.Text(repr);
    return true;
  }

  bool Tag(Form form) {
    ++items_;
    writer_.Tag(TagOf(form));
    return true;
  }

  bool HasRoomFor(std::size_t bytes) const {
    const std::size_t used = writer_.total_bytes() - start_;
    return used <= limits_.max_bytes && bytes <= limits_.max_bytes - used;
  }

  std::string Beyond(std::string_view what, std::size_t bytes) const {
    return fmt::format("{} of {} bytes where a value may have {} MiB in all", what, bytes,
                       limits_.max_bytes >> 20);
  }

  bool TooLarge(const std::string& what) {
    PyErr_Format(
        PyExc_OverflowError,
        "a value that is too large cannot cross to the host (%s); write it to a file or send it in parts",
        what.c_str());
    return false;
  }
  bool Changed(PyObject* object) {
    PyErr_Format(PyExc_RuntimeError, "%.100s changed while it was sent to the host",
                 Py_TYPE(object)->tp_name);
    return false;
  }

  CborWriter& writer_;
  Fidelity fidelity_;
  WireLimits limits_;
  std::size_t start_;
  std::size_t items_;  // as CborReader counts them, or more
  std::vector<PyObject*>
      open_;  // the containers around the current place; borrowed, each is kept alive by its parent
};

// A long list's repr is made of its beginning only: the rest would be cut away anyway, and may cost
// gigabytes.
PyRef Beginning(PyObject* object, std::size_t max_bytes) {
  const auto most = static_cast<Py_ssize_t>(max_bytes);
  if ((PyUnicode_CheckExact(object) || PyBytes_CheckExact(object) || PyList_CheckExact(object) ||
       PyTuple_CheckExact(object)) &&
      PySequence_Size(object) > most) {
    return PyRef::Steal(PySequence_GetSlice(object, 0, most));
  }
  return PyRef::Borrow(object);
}

void CutText(std::string& text, std::size_t max_bytes, std::string_view left_out) {
  if (text.size() <= max_bytes) return;
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  const std::size_t cut = text.size() - end;
  text.resize(end);
  text += left_out.empty() ? fmt::format(" ... [{} bytes cut]", cut) : std::string(left_out);
}

// What stands for a repr that raised; exceptions that end the cell stay set.
std::string FailedRepr(PyObject* object) {
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return {};
  const PyRef exception = TakeException();
  const PyRef text = PyRef::Steal(PyObject_Str(exception.get()));
  if (!text) PyErr_Clear();
  std::string detail = Utf8Of(text.get());
  CutText(detail, 500, "");
  return fmt::format("<{} object: its repr raised {}{}{}>", Py_TYPE(object)->tp_name,
                     Py_TYPE(exception.get())->tp_name, detail.empty() ? "" : ": ", detail);
}

}  // namespace

std::string ShownRepr(PyObject* object, std::size_t max_bytes) {
  const PyRef beginning = Beginning(object, max_bytes);
  const PyRef repr = beginning ? PyRef::Steal(PyObject_Repr(beginning.get())) : PyRef();
  if (!repr) return FailedRepr(object);
  std::string text = Utf8Of(repr.get());
  if (beginning.get() != object) {
    const std::string whole =
        fmt::format(" ... [cut: {} items in all]", static_cast<long long>(PySequence_Size(object)));
    text.resize(std::max(text.size(), max_bytes + 1), ' ');
    CutText(text, max_bytes, whole);
  } else {
    CutText(text, max_bytes, "");
  }
  return text;
}

namespace {

bool RunEncoder(Encoder& encoder, PyObject* object, CborWriter& writer, std::size_t start,
                const WireLimits& limits) {
  const std::size_t before = writer.size();
  try {
    if (encoder.Encode(object) && writer.total_bytes() - start <= limits.max_bytes) return true;
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  writer.Truncate(before);
  if (!PyErr_Occurred()) {
    PyErr_Format(PyExc_OverflowError,
                 "a value that is too large cannot cross to the host (more than %zu MiB)",
                 limits.max_bytes >> 20);
  }
  return false;
}

}  // namespace

bool EncodeObject(PyObject* object, CborWriter& writer, Fidelity fidelity, WireLimits limits) {
  Encoder encoder(writer, fidelity, limits, writer.total_bytes(), 0);
  return RunEncoder(encoder, object, writer, writer.total_bytes(), limits);
}

bool EncodeObject(PyObject* object, CborWriter& writer, Fidelity fidelity, EncodeBudget& budget) {
  Encoder encoder(writer, fidelity, budget.limits, 0, budget.items);
  const bool done = RunEncoder(encoder, object, writer, 0, budget.limits);
  budget.items = encoder.items();
  return done;
}

void EncodeAsShown(PyObject* object, CborWriter& writer) {
  const ErrorKept kept;
  std::string repr = ShownRepr(object, kNestedReprBytes);
  PyErr_Clear();
  writer.Tag(TagOf(Form::kObject));
  writer.MapHead(2);
  writer.Text("type");
  writer.Text(Utf8Of(PyRef::Steal(PyType_GetName(Py_TYPE(object))).get()));
  writer.Text("repr");
  writer.Text(repr);
}

}  // namespace gloveport::child
