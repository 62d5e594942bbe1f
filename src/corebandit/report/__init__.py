"""Tables, figures and one HTML page: functions of plain frames and of claims that were judged."""
