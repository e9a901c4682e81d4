#!/usr/bin/env python
"""Django's command line, with Portico's settings."""

import gc
import json
import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from designer.running_command import run_as

# What a shell says of a process that writes to a pipe that nobody reads: 128 and the number of SIGPIPE.
_CUT_OFF = 141


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
    try:
        with run_as(next(iter(sys.argv[1:]), "")):
            execute_from_command_line(sys.argv)
            # Not left to the end of the process, where nothing could be caught.
            sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads the output, such as `head`, has read enough. What Python still holds goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_CUT_OFF)
    except ImproperlyConfigured as error:
        if "--json" in sys.argv:
            # The command, which would write it, cannot be made without its settings.
            from designer.management.json_command import failure_report

            sys.stdout.write(f"{json.dumps(failure_report(error), ensure_ascii=False, indent=2)}\n")
        sys.exit(str(error))


if __name__ == "__main__":
    # What is imported stays. To look through it for garbage takes a tenth of every start; `Project.ready`
    # allows it again.
    gc.disable()
    main()
