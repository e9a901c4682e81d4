"""Dates and times in English, in the order of ISO 8601."""

DATE_FORMAT = "Y-m-d"
DATETIME_FORMAT = "Y-m-d H:i"
