"""`/api/admin/proposals`: systems open and read proposals, with keys of their own. Nobody publishes here."""
