"""The targets of a build folder, from the list that targets.cmake writes."""

import collections
import os

Target = collections.namedtuple("Target", "name type folder file dependencies")


def read(build):
    found = []
    with open(os.path.join(build, "targets.txt"), encoding="utf-8") as lines:
        for line in lines:
            name, kind, folder, file, dependencies = line.rstrip("\n").split("|")
            found.append(Target(name, kind, folder, file, tuple(dependencies.split())))
    return found
