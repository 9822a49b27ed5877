DROP TABLE page_view;
