#!/usr/bin/env python3
"""The structs that may follow a VkDeviceCreateInfo, as rows of C: type and size.

    chain_sizes.py vk.xml vulkan_core.h
"""
import re
import sys
import xml.etree.ElementTree as tree

registry, header = sys.argv[1:]
# Those of other window systems, and what is provisional, have headers of their own.
defined = set(re.findall(r"^typedef struct (\w+) \{", open(header).read(), re.M))
for struct in tree.parse(registry).iter("type"):
    extends = struct.get("structextends", "").split(",")
    if "VkDeviceCreateInfo" not in extends or struct.get("name") not in defined:
        continue
    print("{%s, sizeof(%s)}," % (struct.find("member").get("values"), struct.get("name")))
