"""The pages of an organisation and of its members: settings, members, tokens, plan, usage, audit log, account."""
