"""The slots of a log: reading one, writing one, and the dates of the epochs in them.

slots.py  slot_reader.py    one slot; many slots, read ahead
freed_slots.py              slots that vacuum has freed, and their marks
dating.py  epoch_times.py   dates of new epochs, and when epochs were really committed
agreement.py                the time that clocks and the log agree on
opening_reads.py            whether an address behind a network has a log
"""
