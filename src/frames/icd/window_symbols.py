#!/usr/bin/env python3
"""A struct of pointers to what is used of a window system's libraries, and macros by which its
names mean what they point to.

    window_symbols.py SYSTEM window_symbols.txt
"""
import sys

system, listed = sys.argv[1:]
symbols = []
library = None
for line in open(listed):
    words = line.split()
    if line.startswith("#") or not words:
        continue
    if line[0] == " " and library:
        symbols.append((library, words[0]))
    elif line[0] != " ":
        library = words[1] if words[0] == system else None

table = "tp_%s_symbols" % system
print("struct %s {" % table)
for _, name in symbols:
    print("    __typeof__(%s) *%s;" % (name, name))
print("};\nextern struct %s %s;" % (table, table))
print("#define TP_%s_SYMBOLS {%s}" % (system.upper(),
    ", ".join('{"%s", "%s"}' % symbol for symbol in symbols)))
for _, name in symbols:
    print("#define %s (*%s.%s)" % (name, table, name))
