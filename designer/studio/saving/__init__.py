"""What comes with every save: readiness, versions, rights, and others who save at the same time."""
