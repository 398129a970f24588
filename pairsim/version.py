"""The version, where every layer can see it."""

VERSION = "0.2.0"
