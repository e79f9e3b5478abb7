// A hostile gloveport-interp. Its environment is constant and it gets no arguments, so that its own name says
// what it does: tests start it through links with the names of the misdeeds.
#include <sys/prctl.h>

#include <cstdio>
#include <cstring>

#include "misdeeds.h"

int main(int, char** arguments) {
  ::prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0);
  const char* slash = std::strrchr(arguments[0], '/');
  const std::string name = slash ? slash + 1 : arguments[0];
  if (name == "honest") hostile::Run({});
  for (const auto& misdeeds : {hostile::TemplateMisdeeds(), hostile::SetupMisdeeds(), hostile::CellMisdeeds(),
                               hostile::ScriptedMisdeeds()}) {
    if (const auto found = misdeeds.find(name); found != misdeeds.end()) hostile::Run(found->second);
  }
  std::fprintf(stderr, "there is no misdeed %s\n", name.c_str());
  return 2;
}
