"""The CRM in the box as a server: Dataverse's Web API v9.2, on a port and URL root of its own.

`application` takes a request apart, `callers` says for whom it is made, `routing` finds its handler (and says
how to register one), `model` names the metadata, `rendering` writes records. Handlers live in `records`,
`files`, `operations`, `batch`, `odata` (queries) and `metadata`; `handlers` lists their modules.
"""
