"""A real organisation's metadata, so that a team can design against a copy of it offline.

sources.py                    what files describe, one entity after the other
json_file.py                  the objects in a large JSON file
definitions.py                one of them as a `SourceEntity`
csdl_document.py              a `$metadata` document
csdl_tables.py                its types as tables
csdl_properties.py            what their properties stand for
csdl_file.py                  these as `SourceEntity`
fitted_definitions.py         a `SourceEntity` as the embedded platform can hold it
fitted_option_sets.py         its option sets, states and defaults
wanted_entities.py            the entities and relationships that are to be created or changed
planned_*.py                  how one part of them becomes what the source wants, beginning with entities
import_plan.py, plan.py       what is made, changed and left out, and why; nothing is written before
"""
