"""The version, where every layer can see it."""

VERSION = "0.3.0"
