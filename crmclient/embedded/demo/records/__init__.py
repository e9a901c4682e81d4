"""The demo's records, area by area. The same seed gives the same records, dated back from the day of loading."""
