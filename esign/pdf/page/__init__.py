"""What a page is: its boxes, content, text, structure and picture."""
