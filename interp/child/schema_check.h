// SchemaCheck: whether a Python value fits a parameter's JSON Schema, before the host is asked. It looks at
// types (a bool is no integer, an integer is a number), enum and const, items, properties and their
// combinations; ranges, patterns and everything else are the host's. Needs the GIL.
#ifndef GLOVEPORT_INTERP_CHILD_SCHEMA_CHECK_H_
#define GLOVEPORT_INTERP_CHILD_SCHEMA_CHECK_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {

class SchemaCheck {
 public:
  // From a schema as decoded: a dict, or True. Keywords that are not known here demand nothing.
  static std::unique_ptr<SchemaCheck> Compile(PyObject* schema);

  // Empty where the value fits; else what is wrong, to follow the parameter's name: "must be int, not str:
  // 'abc'", or
  // "[2] must be float, not None". May run code of the value's class; a Python error may be set afterwards.
  std::string Complaint(PyObject* value) const { return Complain(value, 0); }

  bool accepts_everything() const;

 private:
  std::string Complain(PyObject* value, int depth) const;
  std::string ComplainOfType(PyObject* value) const;
  std::string ComplainOfItems(PyObject* value, int depth) const;
  std::string ComplainOfMembers(PyObject* value, int depth) const;
  std::string ComplainOfChoices(PyObject* value, int depth) const;
  std::string Expected() const;

  std::vector<std::string> types_;
  std::vector<PyRef> allowed_;  // enum or const
  std::unique_ptr<SchemaCheck> items_;
  std::map<std::string, std::unique_ptr<SchemaCheck>> properties_;
  std::unique_ptr<SchemaCheck> other_properties_;
  std::set<std::string> required_;
  bool closed_ = false;                                // additionalProperties: false
  std::vector<std::unique_ptr<SchemaCheck>> choices_;  // anyOf, oneOf
};

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_SCHEMA_CHECK_H_
