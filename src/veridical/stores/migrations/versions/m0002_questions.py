"""Questions, what passages answer to them, candidate answers, and signatures of documents."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the tables, and to feedback the candidate that it judges."""
    op.add_column("feedback", sa.Column("candidate", sa.Integer(), nullable=True))
    _answers()
    _questions()
    _pairs()
    op.create_table(
        "made_questions",
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("stamp", sa.String(length=32), nullable=False),
        _cascade("made_questions", "document_id", "documents"),
        sa.PrimaryKeyConstraint("document_id", name=op.f("pk_made_questions")),
    )
    op.create_table(
        "signatures",
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        _cascade("signatures", "document_id", "documents"),
        sa.PrimaryKeyConstraint("document_id", name=op.f("pk_signatures")),
    )
    op.create_table(
        "passage_keys",
        sa.Column("passage_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        _cascade("passage_keys", "passage_id", "passages"),
        sa.PrimaryKeyConstraint("passage_id", name=op.f("pk_passage_keys")),
    )


def _cascade(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_{column}_{other}")
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=name, ondelete="CASCADE")


def _answers() -> None:
    op.create_table(
        "answer_candidates",
        sa.Column("answer_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("weight", sa.Float(), nullable=False),
        sa.Column("probability", sa.Float(), nullable=False),
        _cascade("answer_candidates", "answer_id", "answers"),
        sa.PrimaryKeyConstraint("answer_id", "number", name=op.f("pk_answer_candidates")),
    )
    op.create_table(
        "candidate_documents",
        sa.Column("answer_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("part", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["answer_id", "number"],
            ["answer_candidates.answer_id", "answer_candidates.number"],
            name=op.f("fk_candidate_documents_answer_id_answer_candidates"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("answer_id", "number", "key", name=op.f("pk_candidate_documents")),
    )
    op.create_index(op.f("ix_candidate_documents_key"), "candidate_documents", ["key"], unique=False)


def _questions() -> None:
    op.create_table(
        "questions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.String(length=32), nullable=False),
        sa.Column("origin", sa.String(length=16), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("n_asked", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_questions")),
        sa.UniqueConstraint("text_hash", name=op.f("uq_questions_text_hash")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "question_vectors",
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("encoder", sa.String(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        _cascade("question_vectors", "question_id", "questions"),
        sa.PrimaryKeyConstraint("question_id", "encoder", name=op.f("pk_question_vectors")),
    )
    op.create_table(
        "question_pools",
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("passage_id", sa.Integer(), nullable=False),
        sa.Column("similarity", sa.Float(), nullable=False),
        _cascade("question_pools", "question_id", "questions"),
        _cascade("question_pools", "passage_id", "passages"),
        sa.PrimaryKeyConstraint("question_id", "passage_id", name=op.f("pk_question_pools")),
    )
    op.create_index(op.f("ix_question_pools_passage_id"), "question_pools", ["passage_id"], unique=False)
    op.create_table(
        "readings",
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("passage_id", sa.Integer(), nullable=False),
        sa.Column("reader", sa.String(), nullable=False),
        sa.Column("no_answer", sa.Float(), nullable=False),
        sa.Column("answers", sa.JSON(), nullable=False),
        _cascade("readings", "question_id", "questions"),
        _cascade("readings", "passage_id", "passages"),
        sa.PrimaryKeyConstraint("question_id", "passage_id", "reader", name=op.f("pk_readings")),
    )
    op.create_index(op.f("ix_readings_passage_id"), "readings", ["passage_id"], unique=False)


def _pairs() -> None:
    op.create_table(
        "question_pairs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("low_passage", sa.Integer(), nullable=False),
        sa.Column("high_passage", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=True),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("origin", sa.String(length=16), nullable=False),
        sa.Column("asker", sa.Integer(), nullable=False),
        sa.Column("reader", sa.String(), nullable=False),
        sa.Column("support", sa.Float(), nullable=False),
        sa.Column("contradiction", sa.Float(), nullable=False),
        sa.Column("low_answer_start", sa.Integer(), nullable=True),
        sa.Column("low_answer_end", sa.Integer(), nullable=True),
        sa.Column("high_answer_start", sa.Integer(), nullable=True),
        sa.Column("high_answer_end", sa.Integer(), nullable=True),
        _cascade("question_pairs", "low_passage", "passages"),
        _cascade("question_pairs", "high_passage", "passages"),
        _cascade("question_pairs", "question_id", "questions"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_question_pairs")),
        sa.UniqueConstraint(
            "low_passage",
            "high_passage",
            "question",
            "reader",
            "asker",
            name=op.f("uq_question_pairs_low_passage"),
        ),
    )
    for column in ("low_passage", "high_passage", "question_id"):
        op.create_index(op.f(f"ix_question_pairs_{column}"), "question_pairs", [column], unique=False)


def downgrade() -> None:
    """An older veridical reads an export, not this database."""
    raise NotImplementedError("there is no way back to 0001; export and import instead")
