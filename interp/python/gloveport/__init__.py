"""Gloveport: model-written Python in a confined process, with functions of this one as tools.

    >>> import gloveport
    >>> with gloveport.Session() as session:
    ...     session.run("print('hello'); 6 * 7").value
    42
"""
from . import errors
from ._agent import Agent, AgentResult
from ._approval import ApprovalDecision, ApprovalRequest
from ._native import CallContext, audit_check, audit_summary
from ._native import python_version as session_python_version
from ._native import version as __version__
from ._policy import Policy
from ._results import Completions, FinalAnswer, NameInfo, PythonError, Result, ToolCall
from ._runtime import Runtime, default_runtime
from ._session import Session
from ._tools import Tool, builtin_tools, current_call, mcp_tools, tool
from ._values import Foreign, Image, register_type
from .errors import *  # noqa: F403

__all__ = ["Agent", "AgentResult", "ApprovalDecision", "ApprovalRequest", "CallContext", "Completions", "FinalAnswer",
           "Foreign", "Image", "NameInfo", "Policy", "PythonError", "Result", "Runtime", "Session", "Tool", "ToolCall",
           "__version__", "audit_check", "audit_summary", "builtin_tools", "current_call", "default_runtime", "errors", "mcp_tools", "register_type",
           "session_python_version", "tool", *errors.__all__]


def load_ipython_extension(ipython):
    """Called by %load_ext gloveport."""
    from .magics import load
    load(ipython)
