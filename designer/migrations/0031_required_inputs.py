from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("designer", "0030_undone_edits")]

    operations = [
        migrations.AlterField(
            model_name="input",
            name="required",
            field=models.BooleanField(
                default=False,
                help_text="A call without this input is refused, unless the input has a default. "
                "Null is refused.",
            ),
        ),
    ]
