//! A new dataset is made beside its place and moved there when it is whole; an old one is added to.

use std::path::{Path, PathBuf};

use citrange_tape::{Staging, TapeError};

use crate::context::RunContext;
use crate::error::Result;

/// Where an import writes. Dropped before [`Staged::publish`], a new dataset leaves no trace.
pub(crate) struct Staged {
    out: PathBuf,
    /// `None` where an existing dataset is added to, episode by episode.
    staging: Option<Staging>,
}

impl Staged {
    pub(crate) fn begin(out: &Path, exists: bool, ctx: RunContext<'_>) -> Result<Self> {
        if exists {
            return Ok(Self { out: out.to_owned(), staging: None });
        }
        for left in citrange_lerobot::clear(out, false).map_err(TapeError::from)? {
            ctx.say(&format!("{}: {}: {}", left.path.display(), left.what, left.done));
        }
        let staging = Staging::begin(out).map_err(TapeError::from)?;
        Ok(Self { out: out.to_owned(), staging: Some(staging) })
    }

    /// Where to write.
    pub(crate) fn root(&self) -> &Path {
        self.staging.as_ref().map_or(&self.out, Staging::path)
    }

    /// Whether what is written is published at once.
    pub(crate) fn is_direct(&self) -> bool {
        self.staging.is_none()
    }

    /// Gives a new dataset its name.
    pub(crate) fn publish(self) -> Result<()> {
        match self.staging {
            Some(staging) => Ok(staging.publish().map_err(TapeError::from)?),
            None => Ok(()),
        }
    }
}
