"""The paper, our studies, and the pages they leave behind."""
