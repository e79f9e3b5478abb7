"""What a session may do."""
from __future__ import annotations

import json
import os
from typing import Any, Mapping, Union

from . import _native

__all__ = ["Policy", "PolicyLike"]


class Policy:
    """The immutable answer to "what may this session do".

    From a preset's name, a file, a dict or JSON text as ``gloveport policy schema`` describes it; keywords extend
    a preset.

    >>> Policy("default").name
    'default'
    >>> strict = Policy("default", limits={"wall_s": 2}, imports={"deny": ["sqlite3"]})
    >>> strict.to_dict()["limits"]["wall_s"]
    2
    >>> Policy({"extends": "sandboxed_python"}) == Policy(extends="sandboxed_python")
    True
    """

    __slots__ = ("_native",)

    def __init__(self, source: PolicyLike = None, **keys: Any):
        self._native = _parse(source, keys)

    @staticmethod
    def presets() -> list[str]:
        """The names of the shipped policies.

        >>> Policy.presets()
        ['default', 'open', 'sandboxed_python']
        """
        return _native.Policy.presets()

    @classmethod
    def load(cls, path: Union[str, os.PathLike]) -> Policy:
        """From a file."""
        policy = cls.__new__(cls)
        policy._native = _native.Policy.load(os.fspath(path))
        return policy

    @staticmethod
    def schema() -> dict:
        """The JSON Schema of policies."""
        return json.loads(_native.policy_schema())

    @property
    def name(self) -> str:
        """The preset's or file's name, "policy" for one that was written in place."""
        return self._native.name

    def to_json(self) -> str:
        """The whole policy in one line, with every key."""
        return self._native.to_json()

    def to_dict(self) -> dict:
        return json.loads(self.to_json())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        return f"<gloveport.Policy {self.name}>"


PolicyLike = Union[None, str, os.PathLike, Mapping, Policy]


def as_policy(source: PolicyLike) -> Policy:
    return source if isinstance(source, Policy) else Policy(source)


def for_notebooks(source: PolicyLike, **keys: Any) -> Policy:
    """The same policy for cells that people write in notebooks: they may name the stand-in for IPython.display, unless the
    policy denies it. ``keys`` are put in where the policy says "auto"."""
    policy = as_policy(source)
    said = policy.to_dict()
    allowed = said["imports"]["allow"]
    if not {"*", "IPython", "IPython.display"} & set(allowed):
        allowed.append("IPython.display")
    said.update((key, value) for key, value in keys.items() if said.get(key, "auto") == "auto")
    made = Policy.__new__(Policy)
    made._native = _native.Policy.parse(json.dumps(said), policy.name)
    return made


def _parse(source: PolicyLike, keys: dict) -> Any:
    if keys:
        if isinstance(source, str) and "extends" not in keys:
            keys = {"extends": source, **keys}
        elif source is not None:
            raise TypeError("a policy with keywords takes at most a preset's name before them")
        return _from_dict(keys)
    if isinstance(source, Policy):
        return source._native
    if isinstance(source, Mapping):
        return _from_dict(source)
    text = os.fspath(source) if source is not None else "default"
    if text.lstrip().startswith("{"):
        return _native.Policy.parse(text, "policy")
    return _native.Policy.load(text)


def _from_dict(keys: Mapping) -> Any:
    return _native.Policy.parse(json.dumps(keys), "policy")
