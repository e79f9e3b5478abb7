// The misdeeds by name. The name of the program tells a child which one is its own.
#ifndef GLOVEPORT_TESTS_TESTCASES_MISDEEDS_H_
#define GLOVEPORT_TESTS_TESTCASES_MISDEEDS_H_

#include <map>
#include <string>

#include "plausible.h"

namespace hostile {

std::map<std::string, Misdeed> TemplateMisdeeds();
std::map<std::string, Misdeed> SetupMisdeeds();
std::map<std::string, Misdeed> CellMisdeeds();
std::map<std::string, Misdeed> ScriptedMisdeeds();

}  // namespace hostile

#endif  // GLOVEPORT_TESTS_TESTCASES_MISDEEDS_H_
