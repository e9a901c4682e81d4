"""What operators see of the service: metrics of all its processes, a line for each request, traces.

A request pays for a record that goes into a queue (`ledger`). A thread of the process makes of it what the
others here are for.
"""
