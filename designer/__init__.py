"""The configuration: models, the studio, readiness and documents."""
