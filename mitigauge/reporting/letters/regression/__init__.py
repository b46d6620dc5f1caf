"""The letter about a regression whose culprit was found."""
