"""The version of all of Colonnade: the packages, the wheel, and the jar of the Spark source."""

VERSION = "0.1.0"
