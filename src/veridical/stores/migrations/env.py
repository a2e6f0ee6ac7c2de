"""Alembic's environment: migrates the connection that the store hands over."""

from alembic import context

from veridical.stores.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transaction_per_migration=False,
)
context.run_migrations()
