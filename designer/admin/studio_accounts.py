"""Accounts of the studio: Django's own pages, in the studio's look."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User

from designer.admin.look import AdminPasswordChangeForm, ModelAdmin, UserChangeForm, UserCreationForm

admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class StudioAccountAdmin(UserAdmin, ModelAdmin):  # type: ignore[type-arg]  # no generic at run time
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm


@admin.register(Group)
class StudioGroupAdmin(GroupAdmin, ModelAdmin):
    pass
