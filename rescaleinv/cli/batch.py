"""``rescaleinv batch``: verdicts of files that are larger than memory."""

from __future__ import annotations

import argparse

from rescaleinv.cli.table_input import require_model


def run_batch(options: argparse.Namespace) -> None:
    """Certify all rows of the inputs, and say how many have which verdict."""
    require_model(options.model)
    from rescaleinv.batch import certify_files
    from rescaleinv.estimators.svc import RescaleInvariantSVC

    model = RescaleInvariantSVC.load(options.model)
    print(f"{options.model}: {model.margin_}; engine {model.engine_}: {model.engine_.reason}")
    chosen = {} if options.chunk_rows is None else {"chunk_rows": options.chunk_rows}
    summary = certify_files(
        model,
        options.inputs,
        options.out,
        keep=options.keep,
        n_jobs=options.jobs,
        scheduler=options.scheduler,
        progress=False if options.quiet else None,
        **chosen,
    )
    words = ", ".join(f"{count:,} {name}" for name, count in summary.counts.items() if count)
    print(f"{summary.rows:,} points: {words or 'none'}")
    print(f"written: {options.out} ({len(summary.parts)} part{'s' if len(summary.parts) != 1 else ''})")
