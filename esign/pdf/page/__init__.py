"""What a page consists of: boxes, content, text, structure and its picture.

Text is read with PDFium (`page_text`, and the marks of `fields.text_marks`), which also draws the pages, so that what
is read is what is seen. pypdf 7.1 was tried: it gives the same words for 19 of the 26 files of the corpus that have
text. What it misses:

- The place of a letter. `09-cropbox-issue16316.pdf` shows 2 words, and pypdf reads 727, because it cannot tell which
  lie outside the page (`test_what_the_page_does_not_show_is_not_read`). No mark could become a field where it stands.
- The order and the spaces of `03-heavy-issue16263.pdf`: 200 of 280 words are the same.
- Speed: 6.1 s against 1.1 s for the corpus, 4.4 s against 0.06 s for `02-plain_scan_or_big-issue6961.pdf`.

In its favour, it ends where PDFium does not (`attack/form-xobject-self.pdf`). No such file comes here: `intake` refuses
them, and a worker has limits.
"""
