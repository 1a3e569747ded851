"""`python -m dsbuild` is the command `dsbuild`."""

import os
import sys

from ._errors import DsbuildError
from ._program import find_program


def main():
    try:
        program = find_program()
    except DsbuildError as error:
        sys.exit(str(error))
    os.execv(program, ["dsbuild", *sys.argv[1:]])


if __name__ == "__main__":
    main()
