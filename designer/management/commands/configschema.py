"""Write the JSON Schema of configuration documents."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand

from designer.documents.schema import document_schema


class Command(BaseCommand):
    help = "Write the JSON Schema (draft 2020-12) of configuration documents, for editors and pipelines."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(json.dumps(document_schema(), ensure_ascii=False, indent=2))
