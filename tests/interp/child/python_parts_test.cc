// The Python parts are embedded twice, as text and as code: both must be the same program.
#include "gloveport/interp/child/python_parts.h"

#include <gtest/gtest.h>
#include <marshal.h>

#include <iterator>
#include <string>

#include "gloveport/interp/child/interpreter.h"

namespace gloveport::child {
namespace {

class PythonPartsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(Interpreter::Start({}).has_value()); }
};

TEST_F(PythonPartsTest, CodeIsForThePythonThatRuns) {
  EXPECT_EQ(PyImport_GetMagicNumber(), PythonPartsMagic());
}

TEST_F(PythonPartsTest, TextCompilesToTheEmbeddedCode) {
  ASSERT_FALSE(PythonParts().empty());
  for (const PythonPart& part : PythonParts()) {
    const std::string text(part.source);
    const std::string filename = "<gloveport/" + std::string(part.name) + ">";
    const PyRef compiled = PyRef::Steal(Py_CompileString(text.c_str(), filename.c_str(), Py_file_input));
    const PyRef embedded =
        PyRef::Steal(PyMarshal_ReadObjectFromString(part.code.data(), std::ssize(part.code)));
    ASSERT_TRUE(compiled && embedded) << part.name;
    EXPECT_EQ(PyObject_RichCompareBool(compiled.get(), embedded.get(), Py_EQ), 1) << part.name;
  }
}

}  // namespace
}  // namespace gloveport::child
