"""The global option set `new_priority`: labels in every language of the demo, and one option out of use."""

from __future__ import annotations

from typing import Final

from crmbox.demo.labels import label
from crmclient.metadata import Option, OptionSet

PRIORITY: Final = OptionSet(
    "new_priority",
    label("Priority", "Priorität", "الأولوية", fr="Priorité", es="Prioridad", zh="优先级", ja="優先度"),
    (
        Option(
            100000000,
            label("Low", "Niedrig", "منخفضة", fr="Basse", es="Baja", zh="低", ja="低"),
            color="#8a8886",
        ),
        Option(
            100000001,
            label("Normal", "Normal", "عادية", fr="Normale", es="Normal", zh="普通", ja="標準"),
            color="#0078d4",
        ),
        Option(
            100000002,
            label("High", "Hoch", "مرتفعة", fr="Haute", es="Alta", zh="高", ja="高"),
            color="#ca5010",
        ),
        Option(
            100000003,
            label("Critical", "Kritisch", "حرجة", fr="Critique", es="Crítica", zh="紧急", ja="緊急"),
            color="#a4262c",
        ),
        Option(
            100000004,
            label(
                "On Request",
                "Auf Anfrage",
                "عند الطلب",
                fr="Sur demande",
                es="A petición",
                zh="按需",
                ja="要望時",
            ),
            color="#c8c6c4",
            hidden=True,
        ),
    ),
)
