"""The embedded endpoints: a simulated judge with planted truth, and a small real one."""
