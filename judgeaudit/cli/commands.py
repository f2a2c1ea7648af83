"""The list of commands: one line each, in the order of `--help`."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Put every command on `app`."""
    from judgeaudit.cli import (
        analyze,
        battery,
        demo,
        export,
        gate,
        init,
        monitor,
        pilot,
        prereg,
        run,
        serve,
        show,
        status,
        verify,
    )

    app.command("demo")(demo.demo)
    app.command("init")(init.init)
    app.command("battery")(battery.battery)
    app.command("pilot")(pilot.pilot)
    app.add_typer(prereg.app)
    app.command("run")(run.run)
    app.command("status")(status.status)
    app.command("show")(show.show)
    app.command("verify")(verify.verify)
    app.command("analyze")(analyze.analyze)
    app.command("gate")(gate.gate)
    app.command("export")(export.export)
    app.command("monitor")(monitor.monitor)
    app.command("serve")(serve.serve)
