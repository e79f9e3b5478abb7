"""Whether a cell shows its trailing value: notebooks ask, and the session."""


def is_quiet(text):
    """A semicolon behind the value says that it is not to be shown; comments may follow."""
    if ";" not in text:
        return False
    import io
    import tokenize
    no_code = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT)
    last = ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in no_code:
                last = token.string
    except (tokenize.TokenError, SyntaxError):
        return False
    return last == ";"
