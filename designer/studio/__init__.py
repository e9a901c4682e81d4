"""The studio: Django's admin, made for people who design APIs. `designer/admin.py` registers its pages."""
