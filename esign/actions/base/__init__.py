"""What several actions share: transitions, quotas, requests to the PDF workers, the administrative audit log."""
