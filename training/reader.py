"""Fine-tune the embedded reader, a MiniLM-L6 cross-encoder, and export it to int8 ONNX.

    python training/reader.py DATA_DIR --out DIR [--max-minutes 50]

DATA_DIR/reading/*.jsonl holds one passage a line: {"context", "questions": [{"id", "question", "answers":
[{"text", "start"}]}]}. A tenth of the passages (by hash) is never trained on, a further fiftieth only sets
the temperature of the probabilities. Needs torch, safetensors and onnx beside veridical itself.

The run may be interrupted at any time: started again with the same --work folder it goes on from its last
checkpoint. With --max-minutes the learning rate falls to nothing as the time runs out, however fast the
machine is.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import torch

from reader_data import Batch, Stream, collate, encode
from reader_model import ReaderNet, load_base, loss_of, span_energies, weights_file
from veridical.reading.squad import best_f1, exact_match, is_calibration, own_items, read_contexts

HEAD_RATE = 10.0
WARM_UP_STEPS = 100
SHORT_UNTIL, SHORT_TOKENS, LONG_TOKENS = 0.5, 176, 256
CHECKPOINT_S, REPORT_S, CHECK_S = 120.0, 30.0, 900.0


class Trainer:
    """Weights kept in float32, stepped through a bfloat16 copy (twice as fast where the processor has it)."""

    def __init__(self, args: argparse.Namespace) -> None:
        torch.manual_seed(args.seed)
        self.args = args
        self.net = ReaderNet()
        load_base(self.net, weights_file(args.weights, args.work))
        self.net.words.weight.requires_grad_(False)  # half of all weights, and few of its rows are ever seen
        self.low = ReaderNet() if args.float32 else ReaderNet().bfloat16()
        self.low.words.weight.requires_grad_(False)
        heads = list(self.net.head.parameters())
        flat = [p for p in self.net.parameters() if p.requires_grad and all(p is not h for h in heads)]
        groups = [
            {"params": [p for p in flat if p.dim() > 1], "weight_decay": 0.01, "scale": 1.0},
            {"params": [p for p in flat if p.dim() == 1], "weight_decay": 0.0, "scale": 1.0},
            {"params": heads, "weight_decay": 0.0, "scale": HEAD_RATE},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=args.lr, betas=(0.9, 0.98), eps=1e-8, foreach=True)
        self.epoch = self.position = self.step_number = self.n_seen = 0
        self.elapsed = 0.0
        self.before: list[dict[str, object]] = []
        self.losses: list[float] = []
        self.publish(self.low.words.weight, self.net.words.weight)
        self.copy_down()

    @staticmethod
    @torch.no_grad()
    def publish(low: torch.Tensor, high: torch.Tensor) -> None:
        low.copy_(high)

    def copy_down(self) -> None:
        """Bring the copy that computes up to date."""
        for low, high in zip(self.low.parameters(), self.net.parameters(), strict=True):
            if high.requires_grad:
                self.publish(low, high)

    def step(self, batch: Batch, rate: float) -> float:
        """One update at ``rate`` of the full learning rate; returns the loss."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.args.lr * group["scale"] * rate
        loss = loss_of(self.low(batch.ids, batch.attention, batch.segments), batch.passage, batch.targets)
        loss.backward()  # type: ignore[no-untyped-call]
        for low, high in zip(self.low.parameters(), self.net.parameters(), strict=True):
            if high.requires_grad:
                high.grad = low.grad.float() if low.grad is not None else torch.zeros_like(high)
                low.grad = None
        torch.nn.utils.clip_grad_norm_([p for p in self.net.parameters() if p.requires_grad], 1.0)
        self.optimizer.step()
        self.copy_down()
        self.step_number += 1
        self.position += 1
        self.n_seen += len(batch.examples)
        return float(loss.detach())

    def state(self) -> dict[str, object]:
        """All that a run needs to go on."""
        return {
            "net": {k: v for k, v in self.net.state_dict().items() if k != "words.weight"},
            "optimizer": self.optimizer.state_dict(),
            "at": [self.epoch, self.position, self.step_number, self.n_seen, self.elapsed],
            "rng": torch.get_rng_state(),
            "recipe": recipe(self.args),
            "before": self.before,
        }

    def restore(self, path: Path) -> None:
        """Go on from a checkpoint of the same recipe."""
        kept = torch.load(path, weights_only=True)
        if kept["recipe"] != recipe(self.args):
            raise SystemExit(f"{path} is of another recipe: {kept['recipe']}. Give another --work folder.")
        self.net.load_state_dict(kept["net"], strict=False)
        self.optimizer.load_state_dict(kept["optimizer"])
        self.epoch, self.position, self.step_number, self.n_seen, self.elapsed = kept["at"]
        torch.set_rng_state(kept["rng"])
        self.before = kept.get("before", [])
        self.copy_down()

    def continue_from(self, path: Path) -> None:
        """Take the weights of another run's checkpoint, and go on with the data that it has not seen yet."""
        kept = torch.load(path, weights_only=True)
        self.net.load_state_dict(kept["net"], strict=False)
        self.epoch, self.position = kept["at"][:2]
        self.before = [
            *kept.get("before", []),
            kept["recipe"] | {"steps": kept["at"][2], "examples": kept["at"][3]},
        ]
        self.copy_down()


def recipe(args: argparse.Namespace) -> dict[str, object]:
    """What must not change between the parts of one run."""
    names = ("lr", "batch", "seed", "epochs", "max_minutes", "limit", "float32")
    return {name: getattr(args, name) for name in names}


def save(trainer: Trainer, path: Path) -> None:
    """Write a checkpoint so that there is a whole one at any moment."""
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        torch.save(trainer.state(), file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def rate_at(progress: float, step: int) -> float:
    """Share of the full learning rate: a short rise, then straight down to nothing at the end of the run."""
    return min((step + 1) / WARM_UP_STEPS, 1.0) * max(0.0, 1.0 - progress)


def train(trainer: Trainer, stream: Stream, check: list[Batch], path: Path) -> None:
    """Train until the epochs or the minutes are used up."""
    args = trainer.args
    total = args.epochs * stream.n_batches(0)
    budget = args.max_minutes * 60 if args.max_minutes else None
    stop: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda got, _frame: stop.append(got))
    saved = checked = reported = time.monotonic()
    began, before = time.monotonic(), trainer.elapsed
    threads = Threads(args.threads)

    def progress() -> float:
        by_time = trainer.elapsed / budget if budget else 0.0
        return min(1.0, max(by_time, trainer.step_number / total))

    while progress() < 1 and not stop:
        longest = SHORT_TOKENS if progress() < SHORT_UNTIL else LONG_TOKENS
        for number, batch in enumerate(stream.batches(trainer.epoch, longest)):
            if number < trainer.position:
                continue
            began_step, step = time.monotonic(), trainer.step_number
            threads.choose(step)
            trainer.losses.append(trainer.step(batch, rate_at(progress(), step)))
            now = time.monotonic()
            threads.note(step, now - began_step, batch.ids.numel())
            trainer.elapsed = before + now - began
            if now - reported > REPORT_S or trainer.step_number == 20:
                report(trainer, progress(), total, threads.now)
                reported = now
            if now - saved > CHECKPOINT_S or stop:
                save(trainer, path)
                saved = time.monotonic()
            if now - checked > CHECK_S:
                say(f"  calibration passages: {quick_check(trainer, check)}")
                checked = time.monotonic()
            if stop or progress() >= 1:
                break
            if longest == SHORT_TOKENS and progress() >= SHORT_UNTIL and trainer.position % 32 == 0:
                break  # the same epoch again, from here on with longer windows
        else:
            trainer.epoch, trainer.position = trainer.epoch + 1, 0
    save(trainer, path)
    if stop:
        say(f"stopped by signal {stop[0]}; start again to go on")
        raise SystemExit(130)


class Threads:
    """The number of threads that is fastest just now: on a busy machine one that waits holds up the rest.

    Of every 60 steps 5 try each number, and the others take the one that was faster per token.
    """

    def __init__(self, most: int) -> None:
        self._numbers = sorted({1, most})
        self._cost: dict[int, float] = {}
        self._tried: dict[int, list[float]] = {}
        self.now = most

    def choose(self, step: int) -> None:
        """Set the number for a step."""
        place = step % 60 // 5
        if place < len(self._numbers):
            wanted = self._numbers[place]
        else:
            for number, costs in self._tried.items():
                self._cost[number] = float(np.median(costs))
            self._tried = {}
            wanted = min(self._cost, key=lambda number: self._cost[number], default=self._numbers[-1])
        if wanted != self.now:
            torch.set_num_threads(wanted)
            self.now = wanted

    def note(self, step: int, seconds: float, tokens: int) -> None:
        """Remember what a step cost."""
        if step % 60 // 5 < len(self._numbers):
            self._tried.setdefault(self.now, []).append(seconds / tokens)


def say(line: str) -> None:
    """One line of the log."""
    print(time.strftime("%H:%M:%S"), line, flush=True)


def report(trainer: Trainer, progress: float, total: int, n_threads: int) -> None:
    """Say how far the run is."""
    recent = float(np.mean(trainer.losses[-100:]))
    left = trainer.elapsed * (1 - progress) / max(progress, 1e-6) / 60
    speed = trainer.n_seen / max(trainer.elapsed, 1e-6)
    say(
        f"step {trainer.step_number}/{total} epoch {trainer.epoch} {progress:.1%} loss {recent:.3f} "
        f"{speed:.1f} examples/s, {trainer.elapsed / 60:.1f} min, {left:.0f} min left, "
        f"{n_threads} threads"
    )


@torch.no_grad()
def quick_check(trainer: Trainer, batches: list[Batch]) -> str:
    """F1 and EM of the best span, a first impression only."""
    f1s, ems = [], []
    for batch in batches:
        spans, _ = span_energies(trainer.low(batch.ids, batch.attention, batch.segments), batch.passage)
        best = spans.reshape(len(batch.examples), -1).argmax(dim=1)
        for example, cell in zip(batch.examples, best.tolist(), strict=True):
            first, reach = divmod(cell, spans.shape[2])
            first -= example.begin
            text = example.item.text[example.offsets[first][0] : example.offsets[first + reach][1]]
            golds = [example.item.text[a:b] for a, b in example.item.spans]
            f1s.append(best_f1(text, golds))
            ems.append(exact_match(text, golds))
    return f"F1 {np.mean(f1s):.3f} EM {np.mean(ems):.3f} ({len(f1s)} questions)"


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="folder for the exported model")
    parser.add_argument("--work", type=Path, default=None, help="folder for checkpoints (default: OUT/work)")
    parser.add_argument("--weights", type=Path, help="float weights of all-MiniLM-L6-v2 (model.safetensors)")
    parser.add_argument("--tokenizer", type=Path, help="its tokenizer.json (default: the model of that name)")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=1.5e-4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-minutes", type=float, help="end by then, whatever --epochs says")
    parser.add_argument(
        "--start", type=Path, help="checkpoint.pt of an earlier run whose weights to begin with"
    )
    parser.add_argument("--resume", action="store_true", help="refuse to start anew: go on or fail")
    parser.add_argument("--float32", action="store_true", help="without bfloat16")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=int, help="passages to train on, for a trial")
    parser.add_argument("--export-only", action="store_true", help="export the last checkpoint as it is")
    args = parser.parse_args()
    args.work = args.work or args.out / "work"
    return args


def main() -> int:
    """Train, export, calibrate, and write the folder that the package ships."""
    args = options()
    torch.set_num_threads(args.threads)
    args.work.mkdir(parents=True, exist_ok=True)
    from tokenizers import Tokenizer

    contexts = read_contexts(args.data / "reading")
    fit = [c for c in contexts if not c.held_out and not is_calibration(c.text)][: args.limit]
    calibration = [c for c in contexts if not c.held_out and is_calibration(c.text)]
    tokenizer = Tokenizer.from_file(str(args.tokenizer or tokenizer_file()))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    trainer = Trainer(args)
    path = args.work / "checkpoint.pt"
    if path.is_file():
        trainer.restore(path)
        say(f"going on from step {trainer.step_number}")
    elif args.start is not None:
        trainer.continue_from(args.start)
        say(f"from the weights of {args.start}, on from epoch {trainer.epoch}, batch {trainer.position}")
    elif args.resume or args.export_only:
        raise SystemExit(f"There is no {path} to go on from.")
    if not args.export_only:
        stream = Stream(fit, tokenizer, batch=args.batch, seed=args.seed)
        items = sorted((i for c in calibration for i in own_items(c)), key=lambda i: len(i.text))
        examples = encode(tokenizer, items, LONG_TOKENS, None)
        check = [collate(examples[i : i + 16]) for i in range(0, len(examples), 16)]
        say(f"{len(fit)} passages, {stream.n_batches(0)} batches an epoch, {recipe(args)}")
        train(trainer, stream, check, path)
        say(f"calibration passages: {quick_check(trainer, check)}")
    about = {
        **recipe(args),
        "steps": trainer.step_number,
        "examples": trainer.n_seen,
        "minutes": round(trainer.elapsed / 60, 1),
        "before": trainer.before,
    }
    from reader_export import finish  # needs onnx, which training does not

    finish(trainer.net, calibration, args.out, about, tokenizer_path=args.tokenizer or tokenizer_file())
    say(json.dumps(about))
    return 0


def tokenizer_file() -> Path:
    """The tokenizer of the embedded encoder, fetched where needed."""
    from veridical.models import ModelStore
    from veridical.settings import Settings

    settings = Settings.from_env()
    store = ModelStore(settings.models_dir, offline=settings.offline, announce=say)
    return store.resolve("minilm-l6-int8") / "tokenizer.json"


if __name__ == "__main__":
    sys.exit(main())
