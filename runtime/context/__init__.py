"""The user context: what the configuration says of the caller, for `GET /api/context` and `@user` values."""

from runtime.context.plan import UserContext

__all__ = ["UserContext"]
