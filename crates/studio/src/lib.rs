//! Studio: one page that shows a running arm and lets one person at a time drive it.
