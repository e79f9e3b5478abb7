"""Policies from presets, dicts and files, and what is said of wrong ones."""
import json

import pytest

import gloveport
from gloveport import Policy


def test_sources(tmp_path):
    file = tmp_path / "mine.json"
    file.write_text('{"extends": "default", "limits": {"wall_s": 3}} // a comment')
    for policy in (Policy(file), Policy(str(file)), Policy.load(file), Policy("default", limits={"wall_s": 3}),
                   Policy({"extends": "default", "limits": {"wall_s": 3}})):
        assert policy.to_dict()["limits"]["wall_s"] == 3
    assert Policy().name == "default"
    assert json.loads(Policy("open").to_json())["inspection"] == "optional"


def test_equal_policies():
    assert Policy({"extends": "default"}).to_dict()["limits"] == Policy("default").to_dict()["limits"]
    assert Policy("default") == Policy("default")
    assert Policy("default") != Policy("open")


def test_errors_say_where():
    with pytest.raises(gloveport.InvalidArgument, match="1:2"):
        Policy({"importz": {}})
    with pytest.raises(gloveport.NotFound):
        Policy("no_such_preset")


def test_warnings_are_warnings():
    with pytest.warns(UserWarning, match="policy:1:"):
        Policy({"extends": "default", "tools": {"rules": [{"tool": "*", "effect": "deny"},
                                                          {"tool": "a", "effect": "allow"}]}})


def test_schema():
    assert "properties" in Policy.schema()


def test_policy_of_a_session(runtime):
    with runtime.open({"extends": "default", "imports": {"deny": ["json"]}}) as session:
        assert session.run("import json").outcome == "denied"
        assert "json" in session.policy.to_dict()["imports"]["deny"]
    with runtime.open("open") as session:
        assert session.run("import socket", inspect=False).ok
    with runtime.open("default") as session, pytest.raises(gloveport.Denied):
        session.run("1", inspect=False)
