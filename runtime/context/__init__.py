"""The user context: what the configuration says of the caller, for `GET /api/context` and `@user` values."""

from runtime.context.plan import UserContext, surroundings

__all__ = ["UserContext", "surroundings"]
