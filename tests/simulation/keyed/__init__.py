"""Tables with a primary key in the simulation.

    rows.py         their columns, and what rows of one key become
    statements.py   a statement on such a table, as a value
    history.py      the keys and properties that the log states, epoch by epoch
    sight.py        what such a table really holds, at the instant that an epoch appears

A row has an id that no other row ever had, as in all tables of the simulation, and the first id
stays when rows merge. Its key is another column with few values, so that writers often meet.
"""
