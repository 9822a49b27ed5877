"""What a page consists of: boxes, content, text, structure and its picture."""
