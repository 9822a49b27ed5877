"""The pages of an organisation and of a member: settings, members, tokens, plan, usage, account."""
