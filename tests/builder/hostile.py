r"""Text that tries to break a reader.

Scenario files are valid UTF-8, profiles need not be.  Names and scopes may
therefore hold escapes, written in TOML literal strings ('...'):

    \xHH    one raw byte, also one that is not valid UTF-8
    \0 \n \r \t \e \\    control characters and the backslash
    \*N{...}    the text in braces, N times (long names)
"""

import re

SIMPLE = {"0": "\0", "n": "\n", "r": "\r", "t": "\t", "e": "\x1b", "\\": "\\"}
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|\*(\d+)\{([^}]*)\}|([0nrte\\]))")


def text(value):
    """The string with its escapes resolved.

    Raw bytes travel as lone surrogates (surrogateescape), which the writer turns
    back into the bytes.
    """
    if not isinstance(value, str) or "\\" not in value:
        return value
    return ESCAPE.sub(_resolve, value)


def _resolve(match):
    byte, count, body, simple = match.groups()
    if byte:
        return bytes([int(byte, 16)]).decode("utf-8", "surrogateescape")
    return body * int(count) if count else SIMPLE[simple]
