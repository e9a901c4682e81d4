"""What is said of an endpoint's page while it is filled in: findings at their fields, words, a preview."""
