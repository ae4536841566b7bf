SCHEDULE = "@daily"
