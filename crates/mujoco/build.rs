//! Writes one trampoline per engine function: a jump through a table that `load` fills.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=symbols.txt");
    println!("cargo::rerun-if-changed=build.rs");
    let symbols: Vec<String> =
        fs::read_to_string("symbols.txt")?.lines().map(str::to_owned).collect();
    let arch = env::var("CARGO_CFG_TARGET_ARCH")?;
    let mut asm = String::from(".text\n");
    for (index, symbol) in symbols.iter().enumerate() {
        // Hidden: a Python extension that links us must not export the engine's names, or it
        // would clash with the mujoco module in the same process.
        writeln!(asm, ".globl {symbol}\n.hidden {symbol}\n.type {symbol},%function\n{symbol}:")?;
        let offset = 8 * index;
        match arch.as_str() {
            "x86_64" => writeln!(asm, "  jmp qword ptr [rip + citrange_mj_table + {offset}]")?,
            "aarch64" => writeln!(
                asm,
                "  adrp x16, citrange_mj_table + {offset}\n  \
                 ldr x16, [x16, :lo12:(citrange_mj_table + {offset})]\n  br x16"
            )?,
            other => return Err(format!("no engine trampolines for {other}").into()),
        }
    }
    writeln!(
        asm,
        ".section .data.citrange_mj,\"aw\"\n.balign 8\n.globl citrange_mj_table\n\
         .hidden citrange_mj_table\ncitrange_mj_table:\n.rept {}\n.quad citrange_mj_missing\n\
         .endr\n.text",
        symbols.len()
    )?;
    let names: Vec<String> = symbols.iter().map(|s| format!("    c\"{s}\",\n")).collect();
    let table = format!(
        "/// Engine functions, in table order.\npub(crate) static SYMBOLS: [&std::ffi::CStr; {}] = [\n{}];\n",
        symbols.len(),
        names.concat()
    );
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("trampolines.s"), asm)?;
    fs::write(out.join("symbols.rs"), table)?;
    Ok(())
}
