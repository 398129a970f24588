"""The version, where every layer can see it."""

VERSION = "0.1.0"
