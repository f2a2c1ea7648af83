"""The workflow: one function a command, values in and values out. `judgeaudit` exports them.

* Nothing here prints, exits, or reads a command line; `judgeaudit.cli` does, and this room knows
  nothing of it.
* What takes long tells its caller by a callback (`progress.py`); what goes wrong is raised.
* Clock, environment variables and transport are parameters, with the machine's own as default.
"""
