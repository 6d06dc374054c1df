"""What users hold: tables, databases and transactions, their history, design and restoration."""
