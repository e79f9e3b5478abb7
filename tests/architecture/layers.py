"""The tables of ARCHITECTURE.md, read from there so that page and tests cannot differ."""

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PRODUCT_FOLDERS = ("core", "policy", "tools", "interp")
SOURCE_ENDINGS = (".h", ".cc")


def _table(text, *headers):
    """Rows (cell 1, cell 2) of the Markdown table whose two columns have these headers."""
    rows = []
    inside = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            inside = False
        elif cells == list(headers):
            inside = True
        elif inside and not set(cells[0]) <= set("-: "):
            rows.append((cells[0], cells[1]))
    if not rows:
        raise ValueError(f"ARCHITECTURE.md has no table with the columns {headers}")
    return rows


def _names(cell):
    return re.findall(r"`([^`]+)`", cell)


def read_page(root=ROOT):
    with open(os.path.join(root, "ARCHITECTURE.md"), encoding="utf-8") as page:
        return page.read()


def include_table(page):
    """folder -> set of folders that it may include, itself not named."""
    table = {}
    for folder, allowed in _table(page, "folder", "may include"):
        for name in _names(folder):
            table[name] = set(_names(allowed))
    for folder, allowed in table.items():
        unknown = allowed - set(table)
        if unknown:
            raise ValueError(f"the row of {folder} names {sorted(unknown)}, which have no row of their own")
    return table


def owned_headers(page):
    """prefix of a foreign header -> set of folders that alone may include it."""
    table = {}
    for header, folders in _table(page, "header", "only in"):
        for name in _names(header):
            table[name] = set(_names(folders))
    return table


def folder_of(path, folders):
    """The longest of `folders` that `path` (relative, '/') lies in, or None."""
    inside = [folder for folder in folders if path.startswith(folder + "/")]
    return max(inside, key=len, default=None)


def sources(root, tops=PRODUCT_FOLDERS, endings=SOURCE_ENDINGS):
    """Relative paths of the source files below the folders `tops`."""
    for top in tops:
        for folder, subfolders, names in os.walk(os.path.join(root, top)):
            subfolders[:] = sorted(name for name in subfolders if name != "__pycache__")
            for name in sorted(names):
                if name.endswith(endings):
                    yield os.path.relpath(os.path.join(folder, name), root)
