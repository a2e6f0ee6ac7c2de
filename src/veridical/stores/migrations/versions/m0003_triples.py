"""Triples that passages state, their vectors, and how far triples and passages are believed."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the tables; all of them are derived, so they begin empty."""
    op.create_table(
        "triples",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("passage_id", sa.Integer(), nullable=False),
        sa.Column("extractor", sa.String(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("relation", sa.Text(), nullable=False),
        sa.Column("tail", sa.Text(), nullable=False),
        sa.Column("sentence_start", sa.Integer(), nullable=False),
        sa.Column("sentence_end", sa.Integer(), nullable=False),
        _cascade("triples", "passage_id", "passages"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_triples")),
        sa.UniqueConstraint("passage_id", "extractor", "ordinal", name=op.f("uq_triples_passage_id")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "extractions",
        sa.Column("passage_id", sa.Integer(), nullable=False),
        sa.Column("extractor", sa.String(), nullable=False),
        sa.Column("n_triples", sa.Integer(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=True),
        _cascade("extractions", "passage_id", "passages"),
        sa.PrimaryKeyConstraint("passage_id", "extractor", name=op.f("pk_extractions")),
    )
    op.create_table(
        "triple_vectors",
        sa.Column("passage_id", sa.Integer(), nullable=False),
        sa.Column("extractor", sa.String(), nullable=False),
        sa.Column("encoder", sa.String(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        _cascade("triple_vectors", "passage_id", "passages"),
        sa.PrimaryKeyConstraint("passage_id", "extractor", "encoder", name=op.f("pk_triple_vectors")),
    )
    _credibilities("credibilities", "triple_id", "triples")
    _credibilities("passage_credibilities", "passage_id", "passages")


def _credibilities(table: str, column: str, other: str) -> None:
    op.create_table(
        table,
        sa.Column(column, sa.Integer(), nullable=False),
        sa.Column("judge", sa.String(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        _cascade(table, column, other),
        sa.PrimaryKeyConstraint(column, "judge", name=op.f(f"pk_{table}")),
    )


def _cascade(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_{column}_{other}")
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=name, ondelete="CASCADE")


def downgrade() -> None:
    """An older veridical reads an export, not this database."""
    raise NotImplementedError("there is no way back to 0002; export and import instead")
