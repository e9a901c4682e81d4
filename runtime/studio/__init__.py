"""The runtime's services for the studio: previews, and calls that are tried. See `designer.ports`."""

from runtime.studio.port import StudioRuntime

__all__ = ["StudioRuntime"]
