from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from bench.world import ROLES


class IsSales(BasePermission):
    """Holds one of the sales roles, which are Django's groups."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        user: AbstractBaseUser = request.user
        return user.is_authenticated and user.groups.filter(name__in=ROLES).exists()
