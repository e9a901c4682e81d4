"""Custom processes: Python callables with a name and typed inputs and outputs.

    @process("new_Approve", entity="account", inputs=(…), outputs=(…))
    def approve(context: Context, inputs: Values) -> Values:
        …
        raise Refused("An inactive account cannot be approved.")

Those of the demo are registered in `crmbox.apps`, those of packages by entry points of `portico.processes`
(`docs/extending.md`).
"""

from crmbox.processes.registry import PROCESSES, Context, CustomProcess, process

__all__ = ["PROCESSES", "Context", "CustomProcess", "process"]
