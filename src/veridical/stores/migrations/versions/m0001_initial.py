"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create every table."""
    op.create_table(
        "answers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("generator", sa.String(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_answers")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "documents",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.String(length=32), nullable=False),
        sa.Column("source", sa.String(), nullable=True),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("date", sa.String(length=10), nullable=True),
        sa.Column("format", sa.String(length=16), nullable=False),
        sa.Column("origin", sa.Text(), nullable=True),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_documents")),
        sa.UniqueConstraint("key", name=op.f("uq_documents_key")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_documents_source"), "documents", ["source"], unique=False)
    op.create_index(op.f("ix_documents_text_hash"), "documents", ["text_hash"], unique=False)
    op.create_index(op.f("ix_documents_version"), "documents", ["version"], unique=False)
    op.create_table(
        "feedback",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("weight", sa.Float(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("answer_id", sa.Integer(), nullable=True),
        sa.Column("undone_at", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feedback")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_feedback_key"), "feedback", ["key"], unique=False)
    op.create_index(op.f("ix_feedback_version"), "feedback", ["version"], unique=False)
    op.create_table(
        "settings",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_settings")),
    )
    op.create_table(
        "state",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_state")),
    )
    op.create_table(
        "trust",
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("raw", sa.Float(), nullable=False),
        sa.Column("trust", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("method", "kind", "key", name=op.f("pk_trust")),
    )
    op.create_table(
        "answer_documents",
        sa.Column("answer_id", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("cited", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["answer_id"],
            ["answers.id"],
            name=op.f("fk_answer_documents_answer_id_answers"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("answer_id", "rank", name=op.f("pk_answer_documents")),
    )
    op.create_index(op.f("ix_answer_documents_key"), "answer_documents", ["key"], unique=False)
    op.create_table(
        "passages",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.String(length=32), nullable=False),
        sa.Column("index_hash", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.id"],
            name=op.f("fk_passages_document_id_documents"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_passages")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_passages_document_id"), "passages", ["document_id"], unique=False)
    op.create_index(op.f("ix_passages_text_hash"), "passages", ["text_hash"], unique=False)
    op.create_table(
        "judgements",
        sa.Column("low_passage", sa.Integer(), nullable=False),
        sa.Column("high_passage", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("entailment", sa.Float(), nullable=False),
        sa.Column("contradiction", sa.Float(), nullable=False),
        sa.Column("low_start", sa.Integer(), nullable=True),
        sa.Column("low_end", sa.Integer(), nullable=True),
        sa.Column("high_start", sa.Integer(), nullable=True),
        sa.Column("high_end", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["high_passage"],
            ["passages.id"],
            name=op.f("fk_judgements_high_passage_passages"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["low_passage"],
            ["passages.id"],
            name=op.f("fk_judgements_low_passage_passages"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("low_passage", "high_passage", "model", name=op.f("pk_judgements")),
    )
    op.create_index(op.f("ix_judgements_high_passage"), "judgements", ["high_passage"], unique=False)
    op.create_table(
        "neighbours",
        sa.Column("passage_id", sa.Integer(), nullable=False),
        sa.Column("neighbour_id", sa.Integer(), nullable=False),
        sa.Column("similarity", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["neighbour_id"],
            ["passages.id"],
            name=op.f("fk_neighbours_neighbour_id_passages"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["passage_id"],
            ["passages.id"],
            name=op.f("fk_neighbours_passage_id_passages"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("passage_id", "neighbour_id", name=op.f("pk_neighbours")),
    )
    op.create_index(op.f("ix_neighbours_neighbour_id"), "neighbours", ["neighbour_id"], unique=False)
    op.create_table(
        "sentence_vectors",
        sa.Column("passage_id", sa.Integer(), nullable=False),
        sa.Column("encoder", sa.String(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["passage_id"],
            ["passages.id"],
            name=op.f("fk_sentence_vectors_passage_id_passages"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("passage_id", "encoder", name=op.f("pk_sentence_vectors")),
    )
    op.create_table(
        "vectors",
        sa.Column("passage_id", sa.Integer(), nullable=False),
        sa.Column("encoder", sa.String(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["passage_id"], ["passages.id"], name=op.f("fk_vectors_passage_id_passages"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("passage_id", "encoder", name=op.f("pk_vectors")),
    )


def downgrade() -> None:
    """There is nothing older to go back to."""
    raise NotImplementedError("0001 is the first schema")
