"""Plain Python as a yardstick: /usr/bin/python3 -I -S plain_server.py, one command a line, one line of numbers back.

    cell BATCHES BATCH TEXT    microseconds that compile and exec of the text take, one number for each batch
    rate SECONDS TEXT          how many of them in a second

Line breaks of the text come as the character 0x1f.
"""
import sys
import time

clock = time.perf_counter


def run(text, times):
    namespace = {"x": 1}
    start = clock()
    for _ in range(times):
        exec(compile(text, "<cell>", "exec"), namespace)
    return (clock() - start) / times * 1e6


def rate(text, seconds):
    namespace = {"x": 1}
    start, count = clock(), 0
    while clock() - start < seconds:
        exec(compile(text, "<cell>", "exec"), namespace)
        count += 1
    return count / (clock() - start)


for line in sys.stdin:
    command, *rest = line.rstrip("\n").split(" ", 3 if line.startswith("cell") else 2)
    text = rest[-1].replace("\x1f", "\n")
    if command == "cell":
        print(*(run(text, int(rest[1])) for _ in range(int(rest[0]))), flush=True)
    else:
        print(rate(text, float(rest[0])), flush=True)
