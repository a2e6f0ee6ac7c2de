"""The one schema, in SQLAlchemy Core. Change it only together with a migration in ``stores/migrations``.

Truth: ``settings``, ``documents``, ``passages``, ``feedback``, ``answers``, ``answer_documents``.
Derived, and rebuilt from the truth at any time: ``vectors``, ``sentence_vectors``, ``neighbours``,
``judgements``, ``trust``, ``state``. Offsets in ``judgements`` are into the passage.
"""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _passage(name: str, *, index: bool = False) -> sa.Column[int]:
    cascade = sa.ForeignKey("passages.id", ondelete="CASCADE")
    return sa.Column(name, cascade, primary_key=True, index=index)


settings = sa.Table(
    "settings",
    metadata,
    sa.Column("key", sa.String, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

state = sa.Table(
    "state",
    metadata,
    sa.Column("key", sa.String, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

documents = sa.Table(
    "documents",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key", sa.String, nullable=False, unique=True),
    sa.Column("version", sa.String(64), nullable=False, index=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("text_hash", sa.String(32), nullable=False, index=True),
    sa.Column("source", sa.String, index=True),
    sa.Column("url", sa.Text),
    sa.Column("date", sa.String(10)),
    sa.Column("format", sa.String(16), nullable=False),
    sa.Column("origin", sa.Text),
    sa.Column("metadata", sa.JSON, nullable=False),
    sqlite_autoincrement=True,  # an id is never used twice, so d12 in an old answer can mean nothing else
)

passages = sa.Table(
    "passages",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("document_id", sa.ForeignKey("documents.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("start", sa.Integer, nullable=False),
    sa.Column("end", sa.Integer, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("text_hash", sa.String(32), nullable=False, index=True),
    sa.Column("index_hash", sa.String(32), nullable=False),  # of title and text, as the indexes see it
    sqlite_autoincrement=True,
)

vectors = sa.Table(
    "vectors",
    metadata,
    _passage("passage_id"),
    sa.Column("encoder", sa.String, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),  # float16
)

sentence_vectors = sa.Table(
    "sentence_vectors",
    metadata,
    _passage("passage_id"),
    sa.Column("encoder", sa.String, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),  # float16, one row a sentence in order
)

neighbours = sa.Table(
    "neighbours",
    metadata,
    _passage("passage_id"),
    _passage("neighbour_id", index=True),
    sa.Column("similarity", sa.Float, nullable=False),
)

judgements = sa.Table(
    "judgements",
    metadata,
    _passage("low_passage"),
    _passage("high_passage", index=True),
    sa.Column("model", sa.String, primary_key=True),
    sa.Column("entailment", sa.Float, nullable=False),
    sa.Column("contradiction", sa.Float, nullable=False),
    sa.Column("low_start", sa.Integer),
    sa.Column("low_end", sa.Integer),
    sa.Column("high_start", sa.Integer),
    sa.Column("high_end", sa.Integer),
)

feedback = sa.Table(
    "feedback",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key", sa.String, nullable=False, index=True),
    sa.Column("version", sa.String(64), nullable=False, index=True),
    sa.Column("value", sa.Float, nullable=False),
    sa.Column("weight", sa.Float, nullable=False),
    sa.Column("by", sa.String, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("at", sa.String, nullable=False),
    sa.Column("answer_id", sa.Integer),
    sa.Column("undone_at", sa.String),
    sqlite_autoincrement=True,
)

answers = sa.Table(
    "answers",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("method", sa.String, nullable=False),
    sa.Column("generator", sa.String, nullable=False),
    sa.Column("at", sa.String, nullable=False),
    sqlite_autoincrement=True,
)

answer_documents = sa.Table(
    "answer_documents",
    metadata,
    sa.Column("answer_id", sa.ForeignKey("answers.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("rank", sa.Integer, primary_key=True),
    sa.Column("key", sa.String, nullable=False, index=True),
    sa.Column("version", sa.String(64), nullable=False),
    sa.Column("cited", sa.Boolean(create_constraint=False), nullable=False),
)

trust = sa.Table(
    "trust",
    metadata,
    sa.Column("method", sa.String, primary_key=True),
    sa.Column("kind", sa.String(16), primary_key=True),
    sa.Column("key", sa.String, primary_key=True),
    sa.Column("raw", sa.Float, nullable=False),
    sa.Column("trust", sa.Float),
)
