"""The evidence of a run: a hash-chained journal, sealed Parquet parts, and what verifies them.

records   P   what a journal line can say, as values
chain     P   how lines and rows are chained; what a broken chain means
state     P   the rules a journal obeys, applied alike when writing and when reading
lanes     P   reservations are a prefix of the plan, by call id
redact    P   no secret reaches a file
schema    P   columns, each with its sentence
rows      P   attempts and readings as rows
manifest  P   what a sealed run says about itself
files     IO  fsync, writing once
journal   IO  append with group commit; resume
reader    IO  a journal file to its state and index
parts     IO  Parquet files with chained rows
seal      IO  a finished journal to a sealed run
runs      IO  which runs there are; starting one
verify    IO  every file against every other
load      IO  sealed runs as tables
"""
