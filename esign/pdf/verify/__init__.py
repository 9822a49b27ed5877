"""The judgement of signed files."""
