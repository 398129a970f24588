"""Classifiers that split the classes in two again and again: binary trees whose leaves are single classes."""
