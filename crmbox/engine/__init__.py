"""Tables, records and queries on Django's database: the engine of the CRM in the box."""
