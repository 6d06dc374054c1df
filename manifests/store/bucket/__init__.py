"""What all object stores behind HTTP have in common: patience, the probe, and stores in buckets.

Spec: docs/spec/store.md#buckets
"""
