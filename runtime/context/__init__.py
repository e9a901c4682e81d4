"""The user context: what the configuration says of the caller, for `GET /api/context` and `@user` values."""

from runtime.context.user_context import UserContext

__all__ = ["UserContext"]
