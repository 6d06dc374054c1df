"""What all object stores behind HTTP have in common: clients, patience, the probe, and buckets.

Spec: docs/spec/store.md#buckets
"""
