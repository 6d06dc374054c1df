"""The slots of a log: reading one, writing one, and the dates of the epochs in them."""
