"""Single values: the knowledge base's own settings (truth) and the state of what was derived."""

from __future__ import annotations

import sqlalchemy as sa

from veridical.stores import schema


def setting(connection: sa.Connection, key: str, default: str = "") -> str:
    """A setting of this knowledge base, such as its method."""
    return _get(connection, schema.settings, key, default)


def set_setting(connection: sa.Connection, key: str, value: str) -> None:
    """Change a setting."""
    _set(connection, schema.settings, key, value)


def settings(connection: sa.Connection) -> dict[str, str]:
    """All settings that were changed from their defaults."""
    return {row.key: row.value for row in connection.execute(sa.select(schema.settings))}


def state(connection: sa.Connection, key: str, default: str = "") -> str:
    """A value of the derived state, such as the dense index in force."""
    return _get(connection, schema.state, key, default)


def set_state(connection: sa.Connection, key: str, value: str) -> None:
    """Change a value of the derived state."""
    _set(connection, schema.state, key, value)


def _get(connection: sa.Connection, table: sa.Table, key: str, default: str) -> str:
    found = connection.execute(sa.select(table.c.value).where(table.c.key == key)).scalar()
    return default if found is None else str(found)


def _set(connection: sa.Connection, table: sa.Table, key: str, value: str) -> None:
    connection.execute(table.delete().where(table.c.key == key))
    connection.execute(table.insert().values(key=key, value=value))
