"""`python -m judgeaudit`."""

from judgeaudit.cli import main

main()
