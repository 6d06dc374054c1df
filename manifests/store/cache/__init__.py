"""Keep bytes of immutable objects near the reader, in a folder that processes share.

`options` reads the settings, `pieces` plans which bytes to ask the store for, `folder` keeps
pieces, and `store` puts them in front of a store.

Guide: docs/cache.md
"""
