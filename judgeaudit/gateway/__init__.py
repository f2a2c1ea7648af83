"""The same log in front of anybody's harness: a reverse proxy that records, asks again, replays.

address   P   where calls go and where harnesses are pointed
headers   P   what is passed on, what is a secret, what may be stored
sampling  P   which calls are asked again, and when
kinds     P   requests sorted into kinds by what their prompts share
record    IO  one session's journal: begin, record, seal
proxy     IO  requests and replies, unchanged, both ways
reask     IO  the same bytes again, behind the harness's back and never in its way
replay    IO  recorded answers in recorded order
run       IO  a whole session around a command, or until it is interrupted
"""
