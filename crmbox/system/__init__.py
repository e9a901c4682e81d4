"""What every CRM has: users, business units, teams, roles and notes, the root business unit and the service
user.
"""
