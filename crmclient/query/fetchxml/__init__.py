"""FetchXML as text, and designed queries: both ways, without loss for what is supported.

What FetchXML says of labels, of the way it is sent and of the form it stands in (`uiname`, `no-lock`,
`visible`, …) changes no row and is left out. Everything else is either read or refused by name. Two things
are ours: values may be placeholders such as `@parameter` (see `placeholders`), and there is the operator
`contains`.
"""

from crmclient.query.fetchxml.fetchxml_reader import parse, parse_filter, read, read_filter
from crmclient.query.fetchxml.fetchxml_writer import write, write_filter

__all__ = ["parse", "parse_filter", "read", "read_filter", "write", "write_filter"]
