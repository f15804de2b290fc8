//! Pickles of tensors: parsed, never run. Nothing but dictionaries, tuples, lists, numbers, texts
//! and tensors over raw storages can come out, whatever the file says.

use std::collections::HashMap;

use crate::error::PolicyError;

/// Most things that a pickle may hold.
const MOST: usize = 100_000;

/// Most parts of one container, how deep containers may be in each other, and how large what is
/// used twice may be: files of tensors are far from all three, and nothing of another's can make
/// us ask for much.
const MOST_PARTS: usize = 4000;
const DEEPEST: usize = 12;
const MOST_AGAIN: usize = 64;

/// What a pickle can hold here.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Text(String),
    Tuple(Vec<Value>),
    List(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    /// A name that would be called.
    Global(String),
    /// Numbers of a type under a key.
    Storage {
        kind: String,
        key: String,
        count: i64,
    },
    Tensor(Tensor),
    Mark,
}

/// A view of a storage.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tensor {
    pub(super) kind: String,
    pub(super) key: String,
    pub(super) count: i64,
    pub(super) offset: i64,
    pub(super) shape: Vec<i64>,
    pub(super) stride: Vec<i64>,
}

/// Parses a pickle.
pub(super) fn parse(bytes: &[u8], what: &str) -> Result<Value, PolicyError> {
    let mut machine = Machine { left: bytes, stack: Vec::new(), memo: HashMap::new(), steps: 0 };
    machine.run().map_err(|reason| PolicyError::bad(format!("{what}: its pickle"), reason))
}

struct Machine<'a> {
    left: &'a [u8],
    stack: Vec<Value>,
    memo: HashMap<u32, Value>,
    steps: usize,
}

type Step<T> = Result<T, String>;

impl Machine<'_> {
    fn run(&mut self) -> Step<Value> {
        loop {
            self.steps += 1;
            if self.steps > MOST || self.stack.len() > MOST || self.memo.len() > MOST {
                return Err(format!("more than {MOST} parts"));
            }
            let [code] = self.array()?;
            match code {
                b'.' => return self.pop(),
                0x80 => {
                    let [version] = self.array()?;
                    if version > 5 {
                        return Err(format!("version {version}; up to 5 are known"));
                    }
                }
                0x95 => {
                    self.take(8)?;
                }
                b'(' => self.stack.push(Value::Mark),
                b'N' => self.stack.push(Value::None),
                0x88 => self.stack.push(Value::Bool(true)),
                0x89 => self.stack.push(Value::Bool(false)),
                b'K' => {
                    let [n] = self.array()?;
                    self.stack.push(Value::Int(n.into()));
                }
                b'M' => {
                    let n = u16::from_le_bytes(self.array()?);
                    self.stack.push(Value::Int(n.into()));
                }
                b'J' => {
                    let n = i32::from_le_bytes(self.array()?);
                    self.stack.push(Value::Int(n.into()));
                }
                0x8a => self.long()?,
                b'X' => {
                    let count = u32::from_le_bytes(self.array()?) as usize;
                    self.text(count)?;
                }
                0x8c => {
                    let [count] = self.array()?;
                    self.text(count.into())?;
                }
                b']' => self.stack.push(Value::List(Vec::new())),
                b'}' => self.stack.push(Value::Dict(Vec::new())),
                b')' => self.stack.push(Value::Tuple(Vec::new())),
                b't' => {
                    let parts = self.pop_to_mark()?;
                    check(parts.len(), &parts)?;
                    self.stack.push(Value::Tuple(parts));
                }
                0x85..=0x87 => {
                    let count = usize::from(code - 0x84);
                    let at = self.stack.len().checked_sub(count).ok_or("too few parts")?;
                    let parts = self.stack.split_off(at);
                    check(parts.len(), &parts)?;
                    self.stack.push(Value::Tuple(parts));
                }
                b'a' => {
                    let part = self.pop()?;
                    self.append(vec![part])?;
                }
                b'e' => {
                    let parts = self.pop_to_mark()?;
                    self.append(parts)?;
                }
                b's' => {
                    let (value, key) = (self.pop()?, self.pop()?);
                    self.set(vec![key, value])?;
                }
                b'u' => {
                    let parts = self.pop_to_mark()?;
                    self.set(parts)?;
                }
                b'q' => {
                    let [slot] = self.array()?;
                    self.keep(slot.into())?;
                }
                b'r' => {
                    let slot = u32::from_le_bytes(self.array()?);
                    self.keep(slot)?;
                }
                0x94 => self.keep(self.memo.len() as u32)?,
                b'h' => {
                    let [slot] = self.array()?;
                    self.recall(slot.into())?;
                }
                b'j' => {
                    let slot = u32::from_le_bytes(self.array()?);
                    self.recall(slot)?;
                }
                b'c' => {
                    let (module, name) = (self.line()?, self.line()?);
                    self.stack.push(Value::Global(format!("{module}.{name}")));
                }
                0x93 => match (self.pop()?, self.pop()?) {
                    (Value::Text(name), Value::Text(module)) => {
                        self.stack.push(Value::Global(format!("{module}.{name}")));
                    }
                    _ => return Err("a global without a name".to_owned()),
                },
                b'Q' => self.persistent()?,
                b'R' => self.reduce()?,
                b'b' => {
                    // The state of a dictionary's own attributes: not needed.
                    self.pop()?;
                }
                b'0' => {
                    self.pop()?;
                }
                other => return Err(format!("operation {other:#04x} is not one of a tensor file")),
            }
        }
    }

    fn take(&mut self, count: usize) -> Step<&[u8]> {
        let (taken, left) = self.left.split_at_checked(count).ok_or("it ends too early")?;
        self.left = left;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Step<[u8; N]> {
        self.take(N)?.first_chunk().copied().ok_or_else(|| "it ends too early".to_owned())
    }

    fn line(&mut self) -> Step<String> {
        let end = self.left.iter().position(|b| *b == b'\n').ok_or("a line without end")?;
        let text = String::from_utf8(self.take(end)?.to_vec()).map_err(|e| e.to_string())?;
        self.take(1)?;
        Ok(text)
    }

    fn text(&mut self, count: usize) -> Step<()> {
        let text = String::from_utf8(self.take(count)?.to_vec()).map_err(|e| e.to_string())?;
        self.stack.push(Value::Text(text));
        Ok(())
    }

    fn long(&mut self) -> Step<()> {
        let [count] = self.array()?;
        if count > 8 {
            return Err("a number of more than 64 bits".to_owned());
        }
        let bytes = self.take(count.into())?;
        let mut number = 0_i64;
        for (at, byte) in bytes.iter().enumerate() {
            number |= i64::from(*byte) << (8 * at);
        }
        if count < 8 && bytes.last().is_some_and(|b| b & 0x80 != 0) {
            number -= 1 << (8 * i64::from(count));
        }
        self.stack.push(Value::Int(number));
        Ok(())
    }

    fn pop(&mut self) -> Step<Value> {
        self.stack.pop().ok_or_else(|| "too few parts".to_owned())
    }

    fn pop_to_mark(&mut self) -> Step<Vec<Value>> {
        let at = self.stack.iter().rposition(|v| *v == Value::Mark).ok_or("no mark")?;
        let parts = self.stack.split_off(at + 1);
        self.stack.pop();
        Ok(parts)
    }

    fn append(&mut self, parts: Vec<Value>) -> Step<()> {
        match self.stack.last_mut() {
            Some(Value::List(list)) => {
                check(list.len() + parts.len(), &parts)?;
                list.extend(parts);
            }
            _ => return Err("something is appended to what is no list".to_owned()),
        }
        Ok(())
    }

    fn set(&mut self, parts: Vec<Value>) -> Step<()> {
        let Some(Value::Dict(dict)) = self.stack.last_mut() else {
            return Err("something is put into what is no dictionary".to_owned());
        };
        check(dict.len() + parts.len(), &parts)?;
        let mut parts = parts.into_iter();
        while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
            dict.push((key, value));
        }
        Ok(())
    }

    fn keep(&mut self, slot: u32) -> Step<()> {
        let last = self.stack.last().ok_or("nothing to remember")?;
        // What is remembered is a copy as it is now; of what is large, none: no file of tensors
        // asks for it again.
        let copy = if size(last) > MOST_AGAIN { Value::Mark } else { last.clone() };
        self.memo.insert(slot, copy);
        Ok(())
    }

    fn recall(&mut self, slot: u32) -> Step<()> {
        let value = self.memo.get(&slot).cloned().ok_or("something that was not remembered")?;
        if value == Value::Mark {
            return Err("a container is used twice".to_owned());
        }
        self.stack.push(value);
        Ok(())
    }

    /// A storage: ("storage", type, key, device, count).
    fn persistent(&mut self) -> Step<()> {
        let Value::Tuple(parts) = self.pop()? else {
            return Err("a storage that is no tuple".to_owned());
        };
        match parts.as_slice() {
            [
                Value::Text(word),
                Value::Global(kind),
                Value::Text(key),
                Value::Text(_),
                Value::Int(count),
            ] if word == "storage" => {
                let (kind, key, count) = (kind.clone(), key.clone(), *count);
                self.stack.push(Value::Storage { kind, key, count });
                Ok(())
            }
            _ => Err("a storage that is not written as torch does".to_owned()),
        }
    }

    /// What would be a call.
    fn reduce(&mut self) -> Step<()> {
        let (arguments, callee) = (self.pop()?, self.pop()?);
        let (Value::Tuple(arguments), Value::Global(name)) = (arguments, callee) else {
            return Err("a call of what is no name".to_owned());
        };
        let made = match name.as_str() {
            "collections.OrderedDict" if arguments.is_empty() => Value::Dict(Vec::new()),
            "torch._utils._rebuild_tensor_v2" => Value::Tensor(tensor(&arguments)?),
            "torch._utils._rebuild_parameter" => match arguments.into_iter().next() {
                Some(Value::Tensor(tensor)) => Value::Tensor(tensor),
                _ => return Err("a parameter without a tensor".to_owned()),
            },
            other => {
                return Err(format!(
                    "it would call {other}: only tensors are read, nothing is executed"
                ));
            }
        };
        self.stack.push(made);
        Ok(())
    }
}

/// That a container does not grow too large or too deep.
fn check(count: usize, parts: &[Value]) -> Step<()> {
    if count > MOST_PARTS || parts.iter().map(depth).max().unwrap_or(0) >= DEEPEST {
        return Err(format!("a container of {count} parts, or {DEEPEST} of them in each other"));
    }
    Ok(())
}

/// How deep containers are in each other.
fn depth(value: &Value) -> usize {
    match value {
        Value::Tuple(parts) | Value::List(parts) => 1 + parts.iter().map(depth).max().unwrap_or(0),
        Value::Dict(parts) => {
            1 + parts.iter().map(|(k, v)| depth(k).max(depth(v))).max().unwrap_or(0)
        }
        _ => 0,
    }
}

/// How many values there are in one.
fn size(value: &Value) -> usize {
    match value {
        Value::Tuple(parts) | Value::List(parts) => 1 + parts.iter().map(size).sum::<usize>(),
        Value::Dict(parts) => 1 + parts.iter().map(|(k, v)| size(k) + size(v)).sum::<usize>(),
        _ => 1,
    }
}

fn tensor(arguments: &[Value]) -> Step<Tensor> {
    let whole = |value: &Value| match value {
        Value::Int(number) => Ok(*number),
        _ => Err("a size that is no number".to_owned()),
    };
    match arguments {
        [
            Value::Storage { kind, key, count },
            Value::Int(offset),
            Value::Tuple(shape),
            Value::Tuple(stride),
            ..,
        ] => Ok(Tensor {
            kind: kind.clone(),
            key: key.clone(),
            count: *count,
            offset: *offset,
            shape: shape.iter().map(whole).collect::<Step<_>>()?,
            stride: stride.iter().map(whole).collect::<Step<_>>()?,
        }),
        _ => Err("a tensor that is not written as torch does".to_owned()),
    }
}
