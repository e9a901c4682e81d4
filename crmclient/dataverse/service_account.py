"""What the organisation says of itself and of the service's own account: its version, and privileges."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from crmclient.dataverse import paths
from crmclient.dataverse.api import Api
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.http.messages import reading
from crmclient.optional_abilities import AccessRight, Privilege, Reach
from crmclient.platform import SERVICE_CALL
from crmclient.sentences import Sentence
from crmclient.values import Guid, parse_guid

_METADATA: Final = Subject(Kind.METADATA)
_HELD: Final = "RetrieveUserPrivileges"
_REACHING: Final = "RetrieveUserSetOfPrivilegesByNames"
_AT_ONCE: Final = 50
"""The names of so many entities or privileges fit into a URL."""

_REACHES: Final = {reach.value: reach for reach in Reach}
_FEWEST_FIRST: Final = list(Reach)


class ServiceAccount:
    """Asks for the version, and for privileges. `who` returns the id of the service's own user."""

    def __init__(self, api: Api, who: Callable[[], Guid]) -> None:
        self._api = api
        self._who = who

    def version(self) -> str:
        """Return the version of the organisation. Raises PlatformFailure."""
        answer = self._api.get(
            "RetrieveVersion()", Subject(Kind.PROCESS, name="RetrieveVersion"), SERVICE_CALL
        )
        with reading(Sentence("the platform's version")):
            return str(answer["Version"])

    def privileges_of_entities(
        self, entities: Iterable[str]
    ) -> Mapping[str, Mapping[AccessRight, Privilege]]:
        """Return the privileges of entities, by logical name and right. Raises PlatformFailure."""
        names = sorted(entities)
        privileges: dict[str, Mapping[AccessRight, Privilege]] = {}
        for start in range(0, len(names), _AT_ONCE):
            condition = " or ".join(f"LogicalName eq '{name}'" for name in names[start : start + _AT_ONCE])
            path = paths.with_query(
                "EntityDefinitions", {"$select": "LogicalName,Privileges", "$filter": condition}
            )
            answer = self._api.get(path, _METADATA, SERVICE_CALL)
            with reading(Sentence("the platform's metadata")):
                for item in answer["value"]:
                    privileges[str(item["LogicalName"])] = _by_right(item["Privileges"])
        return privileges

    def held_privileges(self) -> frozenset[Guid]:
        """Return the ids of the privileges that the service's own user has. Raises PlatformError.

        How far each of them reaches is not read from this answer: of those that come from a team, it has the
        least depth, whatever the role of the team says.
        """
        path = f"systemusers({self._who()})/Microsoft.Dynamics.CRM.{_HELD}()"
        answer = self._api.get(path, Subject(Kind.PROCESS, name=_HELD), SERVICE_CALL)
        with reading(Sentence("the platform's answer about privileges")):
            return frozenset(parse_guid(item["PrivilegeId"]) for item in answer["RolePrivileges"])

    def reach_of_privileges(self, names: Iterable[str]) -> Mapping[Guid, Reach]:
        """Return how far those of the privileges reach that the service's own user has, by id.

        Raises PlatformError.
        """
        all_names = sorted(names)
        user = self._who()
        reaches: dict[Guid, Reach] = {}
        for start in range(0, len(all_names), _AT_ONCE):
            path = paths.with_query(
                f"systemusers({user})/Microsoft.Dynamics.CRM.{_REACHING}(PrivilegeNames=@names)",
                {"@names": json.dumps(all_names[start : start + _AT_ONCE])},
            )
            answer = self._api.get(path, Subject(Kind.PROCESS, name=_REACHING), SERVICE_CALL)
            with reading(Sentence("the platform's answer about privileges")):
                for item in answer["RolePrivileges"]:
                    id, reach = parse_guid(item["PrivilegeId"]), _reach(item["Depth"])
                    # Several roles may give the same privilege: the widest counts.
                    reaches[id] = max(reach, reaches.get(id, Reach.OWN), key=_FEWEST_FIRST.index)
        return reaches


def _reach(depth: str) -> Reach:
    """Return the reach of a depth. What is limited in another way, as by a filter of records, counts as the
    least.
    """
    return _REACHES.get(depth, Reach.OWN)


def _by_right(items: Iterable[Mapping[str, Any]]) -> Mapping[AccessRight, Privilege]:
    """Return the privileges in the definition of an entity. Those for other rights, as sharing, are left out.

    Raises what reading their JSON raises.
    """
    rights = {right.value: right for right in AccessRight}
    return {
        rights[item["PrivilegeType"]]: Privilege(parse_guid(item["PrivilegeId"]), str(item["Name"]))
        for item in items
        if item["PrivilegeType"] in rights
    }
