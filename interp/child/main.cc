// gloveport-interp where Python is a shared library: see CMakeLists.txt for when it is not.
#include "gloveport/interp/child/interp_main.h"

int main() { gloveport::child::InterpMain(); }
