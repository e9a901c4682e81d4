"""`makemessages`, which also finds `Sentence` and `Counted`, and keeps its entries in the files' order."""

from __future__ import annotations

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    xgettext_options = [
        *makemessages.Command.xgettext_options,
        "--keyword=Sentence",
        "--keyword=Counted:1,2",
    ]
    # Without it, entries have the order in which the file system lists files, which differs by checkout.
    msgmerge_options = [*makemessages.Command.msgmerge_options, "--sort-by-file"]
