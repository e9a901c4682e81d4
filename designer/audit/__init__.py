"""The audit log: who did what in the studio, and when."""

from designer.audit.audit_entries import address_of, note, note_account

__all__ = ["address_of", "note", "note_account"]
