"""Outbreak data from an Outbreak Data Service: exactly right, or an error that says why not."""

from ._answers import Coverage, Events, Facets, Records, Series, Sums, Table, Walk
from ._cache import LoadedRelease
from ._copy import SyncResult
from ._generated.parameters import Filters
from ._generated.record import CATEGORIES, COLUMNS, OutbreakRecord
from ._watches import Notices
from .client import Client, Release
from .digest import ReleaseDigest, apply_changes, digest_lines
from .errors import (
    Choice,
    ChoiceWarning,
    Damaged,
    Gone,
    InvalidParameter,
    NotAllowed,
    NotComparable,
    NotFound,
    OutbreaksError,
    OutbreaksWarning,
    Unavailable,
)

__all__ = [
    "CATEGORIES",
    "COLUMNS",
    "Choice",
    "ChoiceWarning",
    "Client",
    "Coverage",
    "Damaged",
    "Events",
    "Facets",
    "Filters",
    "Gone",
    "InvalidParameter",
    "LoadedRelease",
    "NotAllowed",
    "NotComparable",
    "NotFound",
    "Notices",
    "OutbreakRecord",
    "OutbreaksError",
    "OutbreaksWarning",
    "Records",
    "Release",
    "ReleaseDigest",
    "Series",
    "Sums",
    "SyncResult",
    "Table",
    "Unavailable",
    "Walk",
    "apply_changes",
    "digest_lines",
]
