"""Answers whether texts are Python, as Runtime::Syntax does: a JSON string a line in, a JSON object a line out.

Lets the parser's tests run without a confined process. Nothing of the texts is executed.
"""

import ast
import codeop
import json
import sys
import warnings

ACTIONS = (ast.Call, ast.Import, ast.ImportFrom, ast.Assign, ast.AugAssign, ast.NamedExpr)


def acts(node):
    return isinstance(node, ACTIONS) or (isinstance(node, ast.AnnAssign) and node.value is not None)


def is_incomplete(code):
    try:
        return codeop.compile_command(code, symbol="exec") is None
    except (SyntaxError, ValueError, OverflowError):
        return False


def describe(code):
    info = {"complete": False, "incomplete": False, "has_action": False, "message": "", "line": 0}
    try:
        tree = compile(code, "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        info.update(incomplete=is_incomplete(code), message=error.msg, line=error.lineno or 0)
    except (ValueError, MemoryError, RecursionError, OverflowError) as error:
        info.update(message=str(error))
    else:
        info.update(complete=True, has_action=any(acts(node) for node in ast.walk(tree)))
    return info


def main():
    warnings.simplefilter("ignore")
    for line in sys.stdin.buffer:
        answer = json.dumps(describe(json.loads(line)))
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
