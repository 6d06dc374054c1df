"""Commands that create a table and move rows in and out: the panel Rows of the help.

create.py        `create`
read_rows.py     `head` and `count`
sql.py           `sql`
changes.py      `changes`
import_rows.py   `import`; sources.py reads the files and queries
export_rows.py   `export`; export_files.py writes the files
names.py         `drop` and `rename`
python_rows.py   rows as Python has them
"""
