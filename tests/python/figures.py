"""The tables of docs/figures/gpu.md. A script that measures prints each row as Markdown, and records it as JSON for the file of
its part (tests/gpu/run.sh); scripts/make_gpu_figures.py makes the page's tables of these files."""

import contextlib
import dataclasses
import json
import os
import typing

RECORD = "DSBUILD_GPU_RECORD"
COPY = "a copy of as many bytes"  # what a norm is compared with beside its peers: no peer is that fast
COMPILED = "torch.compile"
TRAINING = "torch.compile for training"  # of a forward pass: it saves what a backward pass needs


def number(key, form):
    """A cell: the number in this form, a dash where there is none."""
    return lambda row: "–" if row.get(key) is None else format(row[key], form)


def text(key):
    return lambda row: "–" if row.get(key) is None else str(row[key])


def gigabytes_per_second(row):
    return f"{row['bytes'] / row['ms'] / 1e6:.0f}"


def ratio(row):
    if row.get("ratio") is None:
        return "–"
    return f"{row['ratio']:.2f}" + (f" (at least {row['least']})" if row.get("least") else "")


def what_load_says(row):
    return row["why"] if row["said"] == "no" else f"{row['said']} ({row['why']})" if row["why"] else row["said"]


def passed(row):
    """Of a group of tests: "17 of 19; 2 skipped: needs two GPUs"."""
    if row["result"] == "skipped":
        return "skipped: " + row["why"]
    words = [row["why"] or row["result"]]
    if row.get("tests"):
        words = [f"{row['passed']} of {row['tests']}", *words[:row["result"] != "passed"]]
    return "; ".join([*words, *(f"{count} skipped: {reason}" for reason, count in row.get("skipped", {}).items())])


def by_call(rows):
    """A row for each call and size; what it is compared with in columns of their own."""
    found = {}
    for row in rows:
        own = found.setdefault((row["call"], row["size"]), {key: row[key] for key in ("call", "size", "ms", "bytes")})
        own[row["peer"]] = row["ratio"]
    return list(found.values())


@dataclasses.dataclass(frozen=True)
class Table:
    columns: list  # of (title, row -> cell)
    page: list = None  # the columns on the page, where they differ
    arrange: typing.Callable = list  # the rows on the page, of those that were recorded

    @staticmethod
    def head_of(columns):
        return [line_of([title for title, _ in columns]), "|" + "---|" * len(columns)]

    def row(self, row):
        return line_of([cell(row) for _, cell in self.columns])

    def for_page(self, rows):
        columns = self.page or self.columns
        return [*self.head_of(columns), *(line_of([cell(row) for _, cell in columns]) for row in self.arrange(rows))]


def line_of(cells):
    return "| " + " | ".join(cells) + " |"


MS, PEER, PEER_MS = ("ms", number("ms", ".3f")), ("compared with", text("peer")), ("ms", number("peer_ms", ".3f"))
RATIO = ("times as fast", ratio)
CALL = [("call", text("call")), ("size", text("size")), MS, ("GB/s", gigabytes_per_second)]
SPEED = [*CALL, PEER, PEER_MS, RATIO]
GRADIENTS = ("out", "grad_q", "grad_k", "grad_v", "grad_bias1", "grad_bias2")

TABLES = {
    "tests": Table([("test", text("name")), ("result", passed), ("s", number("seconds", ".0f"))]),
    "sanitize": Table([("compute-sanitizer", text("name")), ("result", passed), ("s", number("seconds", ".0f"))]),
    "optimizers": Table(SPEED),
    "quantizers": Table(SPEED),
    "dequantize": Table(SPEED),
    "norms": Table(SPEED, [*CALL, ("copy", number(COPY, ".2f")), ("torch", number("torch", ".2f")),
                           (COMPILED, number(COMPILED, ".2f")), ("for training", number(TRAINING, ".2f"))], by_call),
    "fp8_errors": Table([("M × N × K", text("size")), ("formats", text("formats")), ("out", text("dtype")),
                         ("accumulators", text("accumulators")), ("error against the codes' product", number("of_codes", ".1e")),
                         ("against the true one", number("of_values", ".1e"))]),
    "fp8_products": Table([("size³", text("size")), ("work", text("call")), MS, ("TFLOP/s", number("tflops", ".0f")), PEER, PEER_MS,
                           RATIO]),
    "fp8_layers": Table([("size³", text("size")), ("forward and backward", text("scaling")), MS,
                         ("torch.nn.Linear bfloat16, ms", number("peer_ms", ".3f")), RATIO]),
    "evoformer_errors": Table([("shape", text("shape")), ("family", text("family")), ("dtype", text("dtype")),
                               *((name, number(name, ".1e")) for name in GRADIENTS)]),
    "evoformer_speed": Table([("shape", text("shape")), ("dtype", text("dtype")), ("pass", text("pass")), MS,
                              ("SDPA, ms", number("peer_ms", ".3f")), RATIO]),
    "cpu_optimizers": Table([("step", text("call")), ("tensors", text("tensors")), ("threads", text("threads")),
                             ("ms", number("ms", ".2f")), PEER, ("ms", number("peer_ms", ".2f")), RATIO]),
    "overhead": Table([("call", text("call")), ("tvm-ffi, us", number("function_us", ".1f")),
                       ("operator, us", number("operator_us", ".1f")), ("difference, us", number("difference_us", ".1f"))]),
    "load_fit": Table([("bundle for", text("bundle")), ("by hand", text("expected")), ("`dsbuild load`", what_load_says),
                       ("`cuModuleLoadData`", text("driver"))]),
    "load_devices": Table([("CUDA_VISIBLE_DEVICES", text("value")), ("GPUs by dsbuild", text("ours")), ("by CUDA", text("cudas"))]),
    "load_first": Table([("first use of fused_adam, from the start of the process, empty caches", text("way")),
                         ("s", number("s", ".1f")), ("ratio to torch", number("ratio_to_torch", ".2f"))]),
    "load_warm": Table([("a new process, everything built, medians", text("what")), ("", text("value"))]),
}


def rounded(value):
    return float(f"{value:.6g}") if isinstance(value, float) else value


class Recorder:
    """Prints rows, and appends them to the file that DSBUILD_GPU_RECORD names: a script that is stopped has those that it measured."""

    def __init__(self, name):
        self.name, self.table = name, TABLES[name]

    def write(self, **fields):
        if os.environ.get(RECORD):
            with open(os.environ[RECORD], "a", encoding="utf-8") as file:
                file.write(json.dumps({"table": self.name, **fields}, ensure_ascii=False) + "\n")

    def add(self, **row):
        row = {key: rounded(value) for key, value in row.items()}
        print(self.table.row(row), flush=True)
        self.write(row=row)

    def add_speed(self, call, size, ms, peer, peer_ms=None, **more):
        """With a peer: `peer_ms`, and how many times as fast. Returns that."""
        times = peer_ms / ms if peer_ms else None
        self.add(call=call, size=size, ms=ms, peer=peer, peer_ms=peer_ms, ratio=times, **more)
        return times


@contextlib.contextmanager
def table(name, **notes):
    """Records the rows of one table. `notes`: versions and numbers that the table's caption names. An exception leaves the table
    incomplete."""
    recorder = Recorder(name)
    recorder.write(notes=notes)
    print("\n".join(recorder.table.head_of(recorder.table.columns)), flush=True)
    yield recorder
    recorder.write(complete=True)
    print(flush=True)


def tables_of(lines):
    """{name: {"notes", "rows", "complete"}} of what scripts recorded. A line that was cut off is left out."""
    found = {}
    for line in lines:
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        own = found.setdefault(record.pop("table"), {"notes": {}, "rows": [], "complete": False})
        if "row" in record:
            own["rows"].append(record["row"])
        else:
            own.update(record)
    return found


def behind(tables):
    """Rows that are slower than their peer, as they are printed."""
    return [{"table": name, **row} for name, table in tables.items() for row in table["rows"]
            if row.get("ratio") is not None and round(row["ratio"], 2) < 1 and row.get("peer") != COPY]
