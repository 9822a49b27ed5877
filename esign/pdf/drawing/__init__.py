"""What is drawn onto and behind pages: values, signatures, certificate pages."""
