//! Driving from a terminal, also over SSH: no browser, no display, no window system.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use citrange_teleop::telemetry::{Phase, Sample, Telemetry};
use citrange_teleop::{DriverLock, Telling, TerminalDriver, TerminalInput};
use crossterm::event::{
    DisableFocusChange, EnableFocusChange, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags, poll,
    read,
};
use crossterm::terminal::{self, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, execute, queue, style};

use crate::StudioError;
use crate::terminal_text::lines;

/// How often the grip is renewed; well below the driver lock's longest silence.
const GRIP_EVERY: Duration = Duration::from_millis(20);
/// How often the screen is drawn.
const DRAW_EVERY: Duration = Duration::from_millis(100);

/// How long the screen may take to be given back.
const LONGEST_GOODBYE: Duration = Duration::from_secs(1);

/// A terminal that drives.
#[derive(Debug)]
pub struct Terminal {
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Terminal {
    /// Takes the driver lock and the screen.
    ///
    /// # Errors
    /// When there is no terminal, it cannot be used, or somebody else drives.
    pub fn start(
        driver_lock: Arc<DriverLock>,
        board: Arc<Telemetry>,
        links: Vec<String>,
    ) -> Result<Self, StudioError> {
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return Err(StudioError::NoTerminal);
        }
        let targets = board.stage.autopilot.as_ref().map_or(0, |pilot| pilot.targets.len());
        let mut driver =
            TerminalDriver::new(driver_lock, targets).map_err(StudioError::WheelTaken)?;
        terminal::enable_raw_mode().map_err(StudioError::RawKeys)?;
        let telling = if terminal::supports_keyboard_enhancement().unwrap_or(false) {
            Telling::Releases
        } else {
            Telling::Presses
        };
        driver.tells(telling);
        let screen = Screen::open(telling)?;
        let ended = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ended);
        let thread = std::thread::Builder::new()
            .name("terminal".into())
            .spawn(move || drive(driver, &board, telling, &told, screen, &links))
            .map_err(StudioError::TerminalThread)?;
        Ok(Self { ended, thread: Some(thread) })
    }

    /// Gives the screen back.
    pub fn end(mut self) {
        self.close();
    }

    fn close(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return };
        // A terminal that was hung up can keep its reader waiting for ever.
        let begun = Instant::now();
        while !thread.is_finished() && begun.elapsed() < LONGEST_GOODBYE {
            std::thread::sleep(GRIP_EVERY);
        }
        if thread.is_finished() {
            let _its_panic_was_printed = thread.join();
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.close();
    }
}

/// The terminal as it is while driving; put back when dropped, also after a panic.
struct Screen {
    telling: Telling,
}

impl Screen {
    fn open(telling: Telling) -> Result<Self, StudioError> {
        // Made first: whatever fails from here on, the terminal is put back.
        let screen = Self { telling };
        let mut out = std::io::stderr();
        execute!(out, EnterAlternateScreen, EnableFocusChange, cursor::Hide)?;
        if telling == Telling::Releases {
            let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES
                | KeyboardEnhancementFlags::REPORT_EVENT_TYPES
                | KeyboardEnhancementFlags::REPORT_ALL_KEYS_AS_ESCAPE_CODES;
            execute!(out, PushKeyboardEnhancementFlags(flags))?;
        }
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let mut out = std::io::stderr();
        if self.telling == Telling::Releases {
            let _gone = execute!(out, PopKeyboardEnhancementFlags);
        }
        let _gone = execute!(out, DisableFocusChange, cursor::Show, LeaveAlternateScreen);
        let _gone = terminal::disable_raw_mode();
    }
}

fn drive(
    mut driver: TerminalDriver,
    board: &Telemetry,
    telling: Telling,
    ended: &AtomicBool,
    screen: Screen,
    links: &[String],
) {
    let mut drawn = None::<Instant>;
    while !ended.load(Ordering::Relaxed) {
        match poll(GRIP_EVERY) {
            Ok(false) => {}
            Ok(true) => match read() {
                Ok(event) => {
                    let is_asked = board.read(|live| live.session.phase == Phase::Asking);
                    let mut room = [0; 4];
                    if let Some(input) = input_of(&event, &mut room) {
                        driver.take_in(input, is_asked, Instant::now());
                    }
                }
                Err(_) => break,
            },
            // The terminal is gone: the ticket falls, the arm brakes.
            Err(_) => break,
        }
        driver.hold(Instant::now());
        if drawn.is_none_or(|at| at.elapsed() >= DRAW_EVERY) {
            let (width, height) = terminal::size().unwrap_or((80, 24));
            // Copied first: the loop must not wait while this is put into words.
            let live = board.read(Sample::clone);
            let lines = lines(&board.stage, &live, telling, links, driver.words().as_deref());
            if draw(&lines, usize::from(width), usize::from(height)).is_err() {
                break;
            }
            drawn = Some(Instant::now());
        }
    }
    drop(screen);
    if !ended.load(Ordering::Relaxed) {
        driver.lost();
    }
}

/// What an event means to a driver, if anything. `room` is for the letter of a key.
fn input_of<'a>(event: &Event, room: &'a mut [u8; 4]) -> Option<TerminalInput<'a>> {
    let KeyEvent { code, kind, modifiers, .. } = match event {
        Event::FocusLost => return Some(TerminalInput::FocusLost),
        Event::Key(key) => key,
        _ => return None,
    };
    if modifiers.contains(KeyModifiers::CONTROL) {
        let is_interrupt = *code == KeyCode::Char('c') && *kind != KeyEventKind::Release;
        return is_interrupt.then_some(TerminalInput::Interrupt);
    }
    // The words of the table of keys for what is printed on them.
    let cap = match code {
        KeyCode::Char(' ') => "Space",
        KeyCode::Char(letter) => letter.encode_utf8(room),
        KeyCode::Right => "→",
        KeyCode::Left => "←",
        KeyCode::Enter => "Enter",
        KeyCode::Backspace => "Backspace",
        KeyCode::Esc => "Esc",
        // Any key stops an autopilot.
        _ => "another key",
    };
    Some(match kind {
        KeyEventKind::Press => TerminalInput::Press(cap),
        KeyEventKind::Repeat => TerminalInput::Repeat(cap),
        KeyEventKind::Release => TerminalInput::Release(cap),
    })
}

fn draw(lines: &[String], width: usize, height: usize) -> std::io::Result<()> {
    let mut out = std::io::stderr().lock();
    queue!(out, cursor::MoveTo(0, 0))?;
    for row in 0..height {
        let text = lines.get(row).map_or("", String::as_str);
        let text: String = text.chars().take(width.saturating_sub(1)).collect();
        queue!(
            out,
            cursor::MoveTo(0, row as u16),
            style::Print(text),
            terminal::Clear(terminal::ClearType::UntilNewLine)
        )?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use citrange_teleop::KEY_TABLE;

    #[test]
    fn every_key_of_the_table_is_understood() {
        let key = |code| Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
        for binding in KEY_TABLE.iter().filter(|binding| binding.in_terminal) {
            for cap in binding.caps {
                let code = match *cap {
                    "→" => KeyCode::Right,
                    "←" => KeyCode::Left,
                    "Enter" => KeyCode::Enter,
                    "Backspace" => KeyCode::Backspace,
                    "Esc" => KeyCode::Esc,
                    letter => KeyCode::Char(letter.chars().next().unwrap().to_ascii_lowercase()),
                };
                let (mut room, event) = ([0; 4], key(code));
                let Some(TerminalInput::Press(seen)) = input_of(&event, &mut room) else {
                    panic!("{cap} is not understood")
                };
                assert_eq!(citrange_teleop::Binding::in_terminal(seen), Some(binding), "{cap}");
            }
        }
    }

    #[test]
    fn control_and_c_interrupts_and_other_keys_with_control_say_nothing() {
        let mut room = [0; 4];
        let key = |c| Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL));
        assert_eq!(input_of(&key('c'), &mut room), Some(TerminalInput::Interrupt));
        assert_eq!(input_of(&key('w'), &mut room), None);
        assert_eq!(input_of(&Event::FocusLost, &mut room), Some(TerminalInput::FocusLost));
        assert_eq!(input_of(&Event::FocusGained, &mut room), None);
    }
}
