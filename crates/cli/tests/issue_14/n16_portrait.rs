//! Phones: `peers/test_issue_14_page.py`, in a real Chromium, by the boxes of all that is pressed or read.
