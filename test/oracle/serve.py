"""Answers questions about releases: one question in each line of stdin, one answer in each line of stdout.

serve.py NUMBER=FILE[=DAY]...    FILE has the records of release NUMBER, one in each line, as the service publishes them;
                                 DAY is the day of publication, for vintages
"""
import json
import sys

from answers import answer
from records import read_release


def main(arguments):
    releases = {}
    for argument in arguments:
        number, path, *as_of = argument.split("=")
        releases[int(number)] = {"series": read_release(path), "as_of": as_of[0] if as_of else None}
    for line in sys.stdin:
        print(json.dumps(answer(releases, json.loads(line))), flush=True)


main(sys.argv[1:])
