"""Writes a C++ source that holds every *.py file of a folder, as text and as the code that this Python compiles it to.

    python3 embed_python.py FOLDER OUTPUT
"""
import importlib.util
import marshal
import os
import pathlib
import sys

HEAD = """// Made by embed_python.py from interp/child/python.
#include "gloveport/interp/child/python_parts.h"

namespace gloveport::child {
namespace {
"""
PIECE = 64  # bytes a line: literals have a length limit in the standard, so each is put together from many


def literal(data):
    """Always three octal digits: a digit that follows belongs to the next byte."""
    pieces = [data[at:at + PIECE] for at in range(0, len(data), PIECE)] or [b""]
    return "\n".join('"' + "".join(f"\\{byte:03o}" for byte in piece) + '"' for piece in pieces)


def embed(folder):
    body, table = [], []
    for path in sorted(pathlib.Path(folder).glob("*.py")):
        text = path.read_bytes()
        code = marshal.dumps(compile(text, f"<gloveport/{path.stem}>", "exec", dont_inherit=True))
        for kind, data in (("text", text), ("code", code)):
            body.append(f"constexpr char k_{path.stem}_{kind}[] =\n{literal(data)};\n")
        table.append(f'    {{"{path.stem}", {{k_{path.stem}_text, {len(text)}}}, {{k_{path.stem}_code, {len(code)}}}}},\n')
    magic = int.from_bytes(importlib.util.MAGIC_NUMBER, "little")
    return "".join([HEAD, *body, "constexpr PythonPart kParts[] = {\n", *table, "};\n}  // namespace\n\n",
                    "std::span<const PythonPart> PythonParts() { return kParts; }\n",
                    f"long PythonPartsMagic() {{ return {magic}; }}\n\n",
                    "}  // namespace gloveport::child\n"])


def main():
    folder, output = sys.argv[1:]
    new = output + ".new"
    pathlib.Path(new).write_text(embed(folder), encoding="ascii")
    os.replace(new, output)


main()
