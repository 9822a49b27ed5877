"""Detection of the fields that a file asks for itself.

`form_fields` reads the form with pikepdf, which has the upload open anyway, and not with pypdf. pypdf 7.1 was tried.
It finds the same name, type, flags, value, rectangle and options for 35 of the 36 widgets of the corpus, and would take
the place of some 30 lines. What it misses:

- A widget that /AcroForm does not list is none of its fields (`test_a_widget_that_the_form_does_not_list_is_a_field`).
- A form that goes round in circles raises for the whole file, also where its other fields are sound
  (`attack/field-tree-loop.pdf`, `test_a_form_that_goes_round_in_circles_ends`); so does a /Parent chain of 5,000.
- It opens the file a second time, in Python: 0.22 s against 0.01 s for the 57 files of the corpus, 1.7 s against 0.6 s
  for a form of 20,000 fields. Only tests depend on it; the program would have one more reader of hostile files.

The 36th widget is a list with several chosen options (`18-xfa-annotation-choice-widget.pdf`): only pypdf gives its
value. Such a list becomes no field in either case.
"""
