"""A company's CRM to try things on: entities of sales and service, people, and two years of records."""
