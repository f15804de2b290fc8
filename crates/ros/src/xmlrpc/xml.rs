//! The little XML that XML-RPC needs: tags without attributes that matter, text, five entities.

use crate::error::RosError;

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `<name>`
    Open(&'a str),
    /// `</name>`
    Close(&'a str),
    /// `<name/>`
    Empty(&'a str),
    /// Text between tags, with its entities as they are written.
    Text(&'a str),
}

/// Reads tokens front to back.
pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn bad(&self, reason: &str) -> RosError {
        RosError::bad("XML-RPC", format!("byte {}: {reason}", self.at))
    }

    /// The next token that is no white space between tags, no prologue, no comment.
    pub(super) fn next(&mut self) -> Result<Option<Token<'a>>, RosError> {
        loop {
            let rest = &self.text[self.at..];
            if rest.is_empty() {
                return Ok(None);
            }
            let Some(inside) = rest.strip_prefix('<') else {
                let end = rest.find('<').unwrap_or(rest.len());
                self.at += end;
                return Ok(Some(Token::Text(&rest[..end])));
            };
            let until = |end: &str| {
                let found = rest.find(end).map(|at| at + end.len());
                found.ok_or_else(|| self.bad(&format!("no \"{end}\" follows")))
            };
            if inside.starts_with("!--") {
                self.at += until("-->")?;
                continue;
            }
            if inside.starts_with('?') || inside.starts_with('!') {
                self.at += until(">")?;
                continue;
            }
            let end = until(">")?;
            let tag = &rest[1..end - 1];
            self.at += end;
            let name = |tag: &'a str| tag.split_whitespace().next().unwrap_or_default();
            return Ok(Some(match (tag.strip_prefix('/'), tag.strip_suffix('/')) {
                (Some(closed), _) => Token::Close(name(closed)),
                (None, Some(empty)) => Token::Empty(name(empty)),
                (None, None) => Token::Open(name(tag)),
            }));
        }
    }

    /// The next token that is not white space alone.
    pub(super) fn next_tag(&mut self) -> Result<Option<Token<'a>>, RosError> {
        loop {
            match self.next()? {
                Some(Token::Text(text)) if text.trim().is_empty() => {}
                token => return Ok(token),
            }
        }
    }

    pub(super) fn open(&mut self, name: &str) -> Result<(), RosError> {
        match self.next_tag()? {
            Some(Token::Open(found)) if found == name => Ok(()),
            other => Err(self.bad(&format!("{other:?} where <{name}> must be"))),
        }
    }

    pub(super) fn close(&mut self, name: &str) -> Result<(), RosError> {
        match self.next_tag()? {
            Some(Token::Close(found)) if found == name => Ok(()),
            other => Err(self.bad(&format!("{other:?} where </{name}> must be"))),
        }
    }

    /// Text up to a closing tag, with its entities read.
    pub(super) fn text_until(&mut self, name: &str) -> Result<String, RosError> {
        let mut text = String::new();
        loop {
            match self.next()? {
                Some(Token::Text(more)) => text.push_str(&unescaped(more)),
                Some(Token::Close(found)) if found == name => return Ok(text),
                other => return Err(self.bad(&format!("{other:?} where </{name}> must be"))),
            }
        }
    }
}

pub(super) fn unescaped(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(';').filter(|end| *end <= 10);
        let known = end.and_then(|end| entity(&rest[1..end]).map(|c| (c, end + 1)));
        let (letter, length) = known.unwrap_or(('&', 1));
        out.push(letter);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

fn entity(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

pub(super) fn escape_into(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // What XML has no word for is a question mark.
            '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' => out.push('?'),
            letter => out.push(letter),
        }
    }
}
