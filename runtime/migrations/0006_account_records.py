"""The platform user of an account becomes the record of a caller of type `user`."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("designer", "0010_caller_types"),
        ("runtime", "0005_token_families"),
    ]

    operations = [
        # The column keeps the name by which release 0.2 knows it: nothing happens to the table.
        migrations.AlterField(
            model_name="apiaccount",
            name="platform_user",
            field=models.UUIDField(blank=True, db_column="platform_user", null=True),
        ),
        migrations.RenameField(model_name="apiaccount", old_name="platform_user", new_name="record"),
        migrations.AlterField(
            model_name="apiaccount",
            name="record",
            field=models.UUIDField(
                blank=True,
                db_column="platform_user",
                help_text="The record that the account stands for: user context and “@user” values are those of it.",
                null=True,
                verbose_name="record",
            ),
        ),
        migrations.AddField(
            model_name="apiaccount",
            name="caller_type",
            field=models.ForeignKey(
                db_default="user",
                default="user",
                help_text="Which entity its record is in, and which endpoints admit it.",
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="designer.callertype",
                to_field="name",
                verbose_name="caller type",
            ),
        ),
    ]
