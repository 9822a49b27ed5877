"""What other actions share: transitions, quotas, work of the PDF workers, the administrative audit log."""
