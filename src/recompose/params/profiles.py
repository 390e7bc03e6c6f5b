"""Profiles that build on other profiles, and what a profile overrides."""

from collections.abc import Iterator
from typing import Any

from recompose.errors import ParamsError
from recompose.params.merging import merged, plain
from recompose.params.mistakes import Problem, nearest, unknown_name


def with_bases(document: dict[str, Any]) -> dict[str, Any]:
    """A copy of the document in which every profile is whole: merged onto the one that it is based on."""
    profiles = _profiles(document)
    return (
        {**document, "profiles": {**document["profiles"], **{name: _whole(name, profiles) for name in profiles}}}
        if profiles
        else document
    )


def wrong_bases(document: dict[str, Any]) -> Iterator[Problem]:
    """Names of no profile that profiles are based on, and profiles that are based on themselves."""
    profiles, told = _profiles(document), set[str]()
    for name in profiles:
        chain = [name]
        while (base := _base(profiles[chain[-1]])) in profiles and base not in chain:
            chain.append(str(base))
        if base == name and name not in told:
            told.update(chain)
            yield Problem(
                ("profiles", name, "based_on"), f"a profile cannot build on itself: {' on '.join([*chain, name])}"
            )
        elif base is not None and len(chain) == 1 and base not in profiles:
            yield from unknown_name(
                ("profiles", name, "based_on"), base, [other for other in profiles if other != name]
            )


def overridden(document: dict[str, Any], profile: str, source: str) -> dict[str, Any]:
    """A copy of the document with the values that a profile overrides.

    Raises:
        ParamsError: there is no such value.
    """
    document = plain(document)
    for dotted, value in document["profiles"][profile].get("override", {}).items():
        *path, last = dotted.split(".")
        section = document
        for key in path:
            section = section.get(key, {}) if isinstance(section, dict) else {}
        if not isinstance(section, dict) or last not in section:
            said = f"there is no such key to override{nearest(dotted, _dotted(document))}"
            problem = Problem(("profiles", profile, "override", dotted), said)
            raise ParamsError(f"{source} is wrong:\n  {problem.line}")
        section[last] = plain(value)
    return document


def _profiles(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The profiles that are mappings, as they have to be; the schema says it of others."""
    profiles = document.get("profiles")
    return (
        {name: profile for name, profile in profiles.items() if isinstance(profile, dict)}
        if isinstance(profiles, dict)
        else {}
    )


def _base(profile: dict[str, Any]) -> str | None:
    base = profile.get("based_on")
    return base if isinstance(base, str) else None


def _whole(name: str, profiles: dict[str, dict[str, Any]]) -> dict[str, Any]:
    own, base = profiles[name], _base(profiles[name])
    if base is None:
        return own
    below = _whole(base, profiles)
    whole = merged(below, own)
    overrides = below.get("override"), own.get("override")
    if all(isinstance(override, dict) for override in overrides):
        whole["override"] = _overrides(*overrides)  # type: ignore[arg-type]
    return whole


def _overrides(below: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Each replaces a value as a whole, and they are carried out in order: the profile's own come last."""
    return {key: value for key, value in below.items() if key not in own} | own


def _dotted(section: Any, prefix: str = "") -> list[str]:
    if not isinstance(section, dict):
        return []
    return [path for key, value in section.items() for path in (f"{prefix}{key}", *_dotted(value, f"{prefix}{key}."))]
