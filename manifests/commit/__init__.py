"""The road of a change to its slot: what it conflicts with, how it is rebased, how it is sent."""
