#!/usr/bin/env python3
"""Grow a real HLO module, text or proto, to a given size: grow_hlo.py SOURCE BYTES TARGET

All computations are repeated under other names and ids; only the first copy's entry is one.
Standard library only.
"""

import re
import sys

from grow import field as text, fields, read_varint, varint

MODULE, COMPUTATIONS = 1, 3
COMPUTATION_ID, ROOT_ID, INSTRUCTIONS = 5, 6, 2
# Of an instruction: its id; and lists of instructions' and computations' ids.
INSTRUCTION_ID, ID_LISTS = 35, (36, 37, 38)
# Ids are (computation << 32 | index) in new writers, plain numbers in old ones.
STRIDE = 1 << 48


def number(field, value):
    return varint(field << 3) + varint(value)


def moved_list(field, value, by):
    if isinstance(value, int):
        return number(field, value + by)
    at, out = 0, bytearray()
    while at < len(value):
        one, at = read_varint(value, at)
        out += varint(one + by)
    return text(field, bytes(out))


def moved_instruction(data, by):
    return b"".join(
        number(field, value + by) if field == INSTRUCTION_ID
        else moved_list(field, value, by) if field in ID_LISTS else own
        for field, value, own in fields(data))


def moved_computation(data, by):
    return b"".join(
        number(field, value + by) if field in (COMPUTATION_ID, ROOT_ID)
        else text(field, moved_instruction(value, by)) if field == INSTRUCTIONS else own
        for field, value, own in fields(data))


def grown_proto(data, size):
    module = next(value for field, value, _ in fields(data) if field == MODULE)
    computations = [value for field, value, _ in fields(module) if field == COMPUTATIONS]
    copies = max(1, size // len(module))
    more = b"".join(text(COMPUTATIONS, moved_computation(c, copy * STRIDE))
                    for copy in range(1, copies) for c in computations)
    return text(MODULE, module + more)


def grown_text(source, size):
    first = re.search(r"^(ENTRY )?%?[\w.-]+ \(.*\{$", source, re.MULTILINE).start()
    head, body = source[:first], source[first:]
    plain = body.replace("ENTRY ", "", 1)
    copies = [body]
    for copy in range(1, max(1, size // len(body))):
        copies.append(re.sub(r"%([\w.-]+)", rf"%\1.copy{copy}", plain))
    return head + "\n".join(copies)


def main():
    source, size, target = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    with open(source, "rb") as file:
        data = file.read()
    grown = grown_proto(data, size) if source.endswith(".pb") \
        else grown_text(data.decode(), size).encode()
    with open(target, "wb") as file:
        file.write(grown)
    print(f"{len(grown)} bytes")


if __name__ == "__main__":
    main()
