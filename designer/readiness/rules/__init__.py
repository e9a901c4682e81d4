"""The rules, one module a subject. Importing them registers them."""

from designer.readiness.rules import access, bindings, inputs, option_sets, places, user_properties

__all__ = ["access", "bindings", "inputs", "option_sets", "places", "user_properties"]
