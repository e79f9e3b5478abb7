"""What later versions say in the place of a case's expectation, whose texts are those of Python 3.11, numpy 1.24, pandas 1.5.

Only the version that is there counts: on Python 3.11 the case file stands as it is.
"""
import importlib.metadata
import sys

from case_rules import merged

# Case, what has a later version, from which on, and what is expected then; it is merged over the expectation.
_LATER = {
    # f-strings may reuse their quotes (PEP 701).
    "cell-syntax-fstring-same-quotes": ("python", (3, 12), {"error_type": None, "stdout": "1\n"}),
    # A shortened array tells its shape.
    "cell-numpy-large-array-summary": ("numpy", (2, 0), {
        "result_repr": "array([    0,     1,     2, ..., 99997, 99998, 99999], shape=(100000,))"}),
}


def version_of(package):
    """(major, minor) of what the cells run with: these tests run with the same Python."""
    if package == "python":
        return sys.version_info[:2]
    return tuple(int(part) for part in importlib.metadata.version(package).split(".")[:2])


def expectation(case, version_of=version_of):
    package, since, form = _LATER.get(case["id"], (None, None, None))
    if package is None or version_of(package) < since:
        return case["expect"]
    return merged(case["expect"], form)
