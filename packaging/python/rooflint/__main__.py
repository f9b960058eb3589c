"""python -m rooflint: the program itself, where its folder is not on PATH."""

import os
import sys

from rooflint._check import binary

if __name__ == "__main__":
    program = binary()
    os.execv(program, [program] + sys.argv[1:])
