"""Workloads of plain Python. The same text runs in a cell and outside; measure(name) gives the
seconds that one run took, by the clock and of CPU."""
import json
import random
import time


def fib(n=23):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def loop():
    total = 0
    for i in range(600_000):
        total += i & 7
    return total


def comprehension():
    return sum(len([x * x for x in range(1000) if x % 3]) for _ in range(200))


def json_text():
    document = [{"id": i, "name": f"item {i}", "tags": ["a", "b"], "price": i / 7} for i in range(2000)]
    return len(json.loads(json.dumps(document)))


def sort():
    numbers = random.Random(1).sample(range(10**6), 60_000)
    return sorted(numbers)[0] + len(sorted(map(str, numbers)))


def words():
    counts = {}
    for word in ("the quick brown fox jumps over the lazy dog " * 4000).split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def classes():
    class Point:
        def __init__(self, x):
            self.x = x

        def moved(self):
            return Point(self.x + 1)
    point = Point(0)
    for _ in range(100_000):
        point = point.moved()
    return point.x


def exceptions():
    caught = 0
    for i in range(100_000):
        try:
            {}[i]
        except KeyError:
            caught += 1
    return caught


def numpy_arrays():
    import numpy
    a = numpy.arange(300_000, dtype="f8")
    for _ in range(20):
        a = numpy.sqrt(a * a + 1)
    return float(a.sum())


def numpy_matrices():
    import numpy
    m = numpy.linspace(0, 1, 300 * 300).reshape(300, 300)
    for _ in range(5):
        m = m @ m / 300
    return float(m.sum())


WORKLOADS = {f.__name__: f for f in (fib, loop, comprehension, json_text, sort, words, classes, exceptions, numpy_arrays,
                                     numpy_matrices)}


def measure(name):
    wall, cpu = time.perf_counter(), time.process_time()
    WORKLOADS[name]()
    return [time.perf_counter() - wall, time.process_time() - cpu]
