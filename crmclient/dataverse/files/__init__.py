"""Files of columns, and the attachments of notes: described, read and written piece by piece."""
