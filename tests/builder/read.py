"""Protobuf wire format: the reading half, for tests.  It shares nothing with the writer."""


def varint(data, at):
    """(value, where the next begins)."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def parts(data):
    """[(field number, wire type, value)]; bytes for length-delimited, raw for fixed."""
    at, out = 0, []
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            size = {1: 8, 5: 4}[kind]
            value, at = data[at : at + size], at + size
        out.append((key >> 3, kind, value))
    return out


def fields(data):
    return [(number, value) for number, _, value in parts(data)]


def one(data, number, default=None):
    return next((v for n, _, v in parts(data) if n == number), default)


def many(data, number):
    return [v for n, _, v in parts(data) if n == number]
