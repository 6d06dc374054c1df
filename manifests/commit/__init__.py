"""How a change gets its slot: what it conflicts with, how it is rebased, how it is sent."""
