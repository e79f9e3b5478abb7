// What /usr/bin/python3 is, from the shared library: see run.py.
extern "C" int Py_BytesMain(int argc, char** argv);

int main(int argc, char** argv) { return Py_BytesMain(argc, argv); }
