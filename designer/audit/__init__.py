"""The audit log: who did what in the studio, and when."""

from designer.audit.audit_entries import note, note_account

__all__ = ["note", "note_account"]
