"""Custom processes: Python callables with a name and typed inputs and outputs.

    @process("new_Approve", entity="account", inputs=(…), outputs=(…))
    def approve(context: Context, inputs: Values) -> Values:
        …
        raise Refused("An inactive account cannot be approved.")

The modules that the setting CRM_PROCESSES lists are imported when processes are first asked for.
"""

from crmbox.processes.registry import Context, process

__all__ = ["Context", "process"]
