"""`tools`: what code asks when there are more tools than it was told of."""

MAX_MATCHES = 50


class Tools:
    """The tools of this session.

    tools.search("words")   signatures and first lines of those that fit best
    tools.names()           all names
    help(name)              what one does, with its parameters
    """

    def __init__(self, functions):
        self._functions = functions

    def names(self):
        """The names of all tools, sorted."""
        return sorted(self._functions)

    def search(self, query, limit=10):
        """The tools whose names, descriptions and parameters have most of the words of `query`, best first: a list of
        "signature: first line"."""
        if not isinstance(query, str):
            raise TypeError(f"tools.search() takes text, not {type(query).__name__}")
        words = _words(query)
        scored = [(_score(words, function), name) for name, function in self._functions.items()]
        found = sorted(((-score, name) for score, name in scored if score > 0 or not words))
        return [_line(self._functions[name]) for _, name in found[:max(0, min(limit, MAX_MATCHES))]]

    def __getattr__(self, name):
        try:
            return self._functions[name]
        except KeyError:
            raise AttributeError(f"there is no tool {name!r}; tools.search(\"...\") finds tools by words") from None

    def __getitem__(self, name):
        return self._functions[name]

    def __iter__(self):
        return iter(self.names())

    def __len__(self):
        return len(self._functions)

    def __contains__(self, name):
        return name in self._functions

    def __dir__(self):
        return ["names", "search", *self.names()]

    def __repr__(self):
        return f"<{len(self)} tools: tools.names() lists them, tools.search(\"words\") finds some>"


def _words(text):
    """In lower case, where letters and digits end, and within camelCase."""
    import re
    return {word.lower() for part in re.findall(r"[^\W_]+", text)
            for word in [part, *re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", part)] if word}


def _score(words, function):
    name, text = _words(function.__name__), _words(function.__doc__ or "")
    parameters = _words(" ".join(function.__code__.co_varnames))
    return sum(_best(word, name) * 4 + _best(word, parameters) * 2 + _best(word, text) for word in words)


def _best(word, among):
    """1 for the word itself, less for one that begins like it ("file" and "files")."""
    if word in among:
        return 1
    alike = len(word) > 2 and any(other.startswith(word) or (len(other) > 2 and word.startswith(other))
                                  for other in among)
    return 0.5 if alike else 0


def _line(function):
    import inspect
    lines = (function.__doc__ or "").strip().splitlines()
    kind = "async " if inspect.iscoroutinefunction(function) else ""
    head = f"{kind}{function.__name__}{inspect.signature(function)}"
    return f"{head}: {lines[0].strip()}" if lines else head
