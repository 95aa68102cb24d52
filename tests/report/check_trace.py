#!/usr/bin/env python3
"""Checks a file against the rules of Chrome's trace events, and says what it counts.

check_trace.py FILE.json [--empty]: nothing in it is fine, too"""
import json
import sys
from collections import Counter, defaultdict

problems = Counter()


def check(ok, what):
    if not ok:
        problems[what] += 1


def ns(us):
    return round(us * 1000)


with open(sys.argv[1], encoding="ascii") as f:
    trace = json.load(f)
events = trace["traceEvents"]
slices, flows, named = defaultdict(list), defaultdict(list), {"process_name": set(), "thread_name": set()}
for e in events:
    ph = e.get("ph")
    check(ph in list("XstfMiC"), "a phase that there is none of")
    check(isinstance(e.get("pid"), int) and isinstance(e.get("tid"), int), "no process or track")
    if ph != "M":
        check(isinstance(e.get("ts"), (int, float)), "no instant")
    if ph in "XMiC":
        check(isinstance(e.get("name"), str) and e["name"], "no name")
    if ph == "X":
        check(e.get("dur", -1) >= 0, "a duration below zero")
        slices[e["pid"], e["tid"]].append((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])))
    elif ph in "stf":
        check(e.get("cat") and e.get("id") is not None and e.get("bp") == "e", "an arrow without its parts")
        flows[e["id"]].append(e)
    elif ph == "i":
        check(e.get("s") in ("g", "p", "t"), "an instant without its scope")
    elif ph == "C":
        check(all(isinstance(v, (int, float)) for v in e["args"].values()), "a counter that is no number")
    elif ph == "M":
        if e["name"] in named:
            named[e["name"]].add((e["pid"], e["tid"]) if e["name"] == "thread_name" else e["pid"])
        check(e["name"] in ("process_name", "thread_name", "process_sort_index", "thread_sort_index"),
              "a description that there is none of")
for track, list_ in slices.items():
    check(track in named["thread_name"], "a track without a name")
    check(track[0] in named["process_name"], "a process without a name")
    open_ = []
    for begin, end in sorted(list_, key=lambda s: (s[0], -s[1])):
        while open_ and open_[-1] <= begin:
            open_.pop()
        check(not open_ or end <= open_[-1], "slices that overlap without one being in the other")
        open_.append(end)
begins = {track: {b for b, _ in list_} for track, list_ in slices.items()}
for id_, steps in flows.items():
    check("".join(e["ph"] for e in steps).replace("t", "") == "sf" and
          steps[0]["ph"] == "s" and steps[-1]["ph"] == "f", "an arrow without its begin or its end")
    check(all(a["ts"] <= b["ts"] for a, b in zip(steps, steps[1:])), "an arrow back in time")
    for e in steps:
        check(ns(e["ts"]) in begins.get((e["pid"], e["tid"]), ()), "an arrow at no slice")
for what, n in sorted(problems.items()):
    print(f"{n} × {what}")
print(f"events {len(events)} slices {sum(map(len, slices.values()))} flows {len(flows)} "
      f"tears {sum(e['ph'] == 'i' and e['name'] == 'tear' for e in events)} "
      f"late {sum(e['ph'] == 'i' and e['name'] == 'latch that was missed' for e in events)} "
      f"complete {trace['otherData']['complete']}")
sys.exit(bool(problems) or not (events or "--empty" in sys.argv))
