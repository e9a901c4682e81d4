"""The Dataverse Web API v9.2, over `requests`, behind `crmclient.Platform`.

platform.py   the interface: each method delegates to one module
   │
   ├── records/ queries/ files/ processes.py users.py   what is asked, and what the answers mean
   ├── metadata/                                        what the platform has, kept in a store
   │
   └── http/    one call: token, bulkhead, circuit, attempt, retry; and what went wrong
"""
