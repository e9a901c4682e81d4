"""Django looks here for a part's pages in the admin. They are in `designer.studio`, which registers them."""

from __future__ import annotations

from designer import studio

__all__ = ["studio"]
