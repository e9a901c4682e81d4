"""A real organisation's metadata, read from a file, so that a team can design against a copy of it offline.

json_file.py, csdl_file.py    the definitions in a file, one after the other
definitions.py                one of JSON, as a `Found`
fitting.py                    a `Found` as the embedded platform can hold it
carrying_out.py               what is new is made, what exists is brought up to date
"""
