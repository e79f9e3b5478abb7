#include "gloveport/core/cli/program.h"

int main(int argc, char** argv) { return gloveport::RunProgram({}, argc, argv); }
