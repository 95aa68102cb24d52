#!/usr/bin/env python3
"""The structs that may follow a VkDeviceCreateInfo, as rows of C: type and size.

    chain_sizes.py vk.xml vulkan_core.h chain_newer.txt
    chain_sizes.py --list vk.xml

The first takes what these headers define from them, and the rest from the list; the second writes
such a list, of a registry newer than a system's.
"""
import re
import sys
import xml.etree.ElementTree as tree

C_TYPES = {"4": "uint32_t", "8": "uint64_t", "p": "void *"}


def structs(registry):
    for struct in registry.iter("type"):
        if "VkDeviceCreateInfo" in struct.get("structextends", "").split(","):
            yield struct.get("name"), struct


def numbers(registry):
    """VK_STRUCTURE_TYPE_… and its number, for those of extensions and of core versions."""
    found = {}
    for group in list(registry.iter("feature")) + list(registry.iter("extension")):
        for enum in group.iter("enum"):
            if enum.get("extends") != "VkStructureType" or not enum.get("offset"):
                continue
            number = int(enum.get("extnumber") or group.get("number"))
            found[enum.get("name")] = 1000000000 + (number - 1) * 1000 + int(enum.get("offset"))
    return found


def shape(struct, wide):
    """A letter for each member behind sType and pNext; None: there is one that is no number."""
    letters = ""
    for member in struct.findall("member")[2:]:
        text, kind = "".join(member.itertext()), member.find("type").text
        if "*" in text or kind.startswith("PFN_"):
            letters += "p"
        elif "[" in text or kind in wide["structs"]:
            return None
        else:
            letters += "8" if kind in wide["numbers"] else "4"
    return letters


def write_list(path):
    registry = tree.parse(path).getroot()
    wide = {"numbers": {"uint64_t", "VkDeviceSize", "VkDeviceAddress", "size_t"}, "structs": set()}
    version = re.search(r"VK_HEADER_VERSION</name> (\d+)", open(path).read()).group(1)
    for kind in registry.iter("type"):
        if kind.get("category") in ("struct", "union"):
            wide["structs"].add(kind.get("name"))
        if kind.get("category") == "bitmask" and kind.findtext("type") == "VkFlags64":
            wide["numbers"].add(kind.findtext("name"))
        if kind.get("category") == "handle":
            wide["numbers"].add(kind.findtext("name"))
    types = numbers(registry)
    print("# Structs that may follow a VkDeviceCreateInfo, of the registry's header version %s: name,"
          % version)
    print("# number of the sType, and a letter for each member behind pNext: 4 or 8 bytes, p a pointer.")
    print("# Made by: chain_sizes.py --list vk.xml")
    for name, struct in structs(registry):
        letters = shape(struct, wide)
        number = types.get(struct.find("member").get("values"))
        if letters and number:
            print(name, number, letters)


def write_rows(registry, header, newer):
    # Those of other window systems, and what is provisional, have headers of their own.
    defined = set(re.findall(r"^typedef struct (\w+) \{", open(header).read(), re.M))
    for name, struct in structs(tree.parse(registry)):
        if name in defined:
            print("{%s, sizeof(%s)}," % (struct.find("member").get("values"), name))
    for line in open(newer):
        if line.startswith("#"):
            continue
        name, number, letters = line.split()
        if name in defined:
            continue
        members = "".join(" %s m%d;" % (C_TYPES[c], i) for i, c in enumerate(letters))
        print("{(VkStructureType)%s, sizeof(struct { uint32_t type; void *next;%s })}, /* %s */" % (
            number, members, name))


if sys.argv[1] == "--list":
    write_list(sys.argv[2])
else:
    write_rows(*sys.argv[1:])
