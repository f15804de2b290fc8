//! Driving from a terminal, also over SSH: no browser, no display, no window system.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use citrange_control::{Key, Order, Seat, Ticket};
use citrange_studio::{Board, Live, Phase, Stage};
use crossterm::event::{
    DisableFocusChange, EnableFocusChange, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags, poll,
    read,
};
use crossterm::terminal::{self, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, execute, queue, style};

use super::terminal_keys::{Telling, TerminalKeys};

/// How often the grip is renewed; well below the seat's longest silence.
const GRIP_EVERY: Duration = Duration::from_millis(20);
/// How often the screen is drawn.
const DRAW_EVERY: Duration = Duration::from_millis(100);

/// How long the screen may take to be given back.
const LONGEST_GOODBYE: Duration = Duration::from_secs(1);

/// A terminal that drives.
pub(crate) struct Terminal {
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Terminal {
    /// Takes the seat and the screen.
    pub(crate) fn start(seat: Arc<Seat>, board: Arc<Board>) -> anyhow::Result<Self> {
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            bail!("--tui needs a terminal for its keys and its screen; without it, use a browser");
        }
        let ticket = seat.take("the terminal").context("cannot take the wheel")?;
        terminal::enable_raw_mode().context("cannot read single keys from this terminal")?;
        let telling = if terminal::supports_keyboard_enhancement().unwrap_or(false) {
            Telling::Releases
        } else {
            Telling::Presses
        };
        let screen = Screen::open(telling)?;
        let ended = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ended);
        let thread = std::thread::Builder::new()
            .name("terminal".into())
            .spawn(move || drive(&ticket, &board, telling, &told, screen))
            .context("no thread for the terminal")?;
        Ok(Self { ended, thread: Some(thread) })
    }

    /// Gives the screen back.
    pub(crate) fn end(mut self) {
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
    fn open(telling: Telling) -> anyhow::Result<Self> {
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

fn drive(ticket: &Ticket, board: &Board, telling: Telling, ended: &AtomicBool, screen: Screen) {
    let mut keys = TerminalKeys::new(telling);
    let (mut seq, mut drawn) = (0, None::<Instant>);
    while !ended.load(Ordering::Relaxed) {
        match poll(GRIP_EVERY) {
            Ok(false) => {}
            Ok(true) => match read() {
                Ok(event) => take_in(&event, &mut keys, ticket),
                Err(_) => break,
            },
            // The terminal is gone: the ticket falls, the arm brakes.
            Err(_) => break,
        }
        seq += 1;
        ticket.hold(keys.held(Instant::now()), seq);
        if drawn.is_none_or(|at| at.elapsed() >= DRAW_EVERY) {
            let (width, height) = terminal::size().unwrap_or((80, 24));
            // Copied first: the loop must not wait while this is put into words.
            let live = board.read(Live::clone);
            let lines = lines(&board.stage, &live, telling);
            if draw(&lines, usize::from(width), usize::from(height)).is_err() {
                break;
            }
            drawn = Some(Instant::now());
        }
    }
    drop(screen);
    if !ended.load(Ordering::Relaxed) {
        // Lost, not ended: keep what was recorded and stop.
        ticket.order(Order::Stop);
    }
}

/// One thing that the terminal said.
fn take_in(event: &Event, keys: &mut TerminalKeys, ticket: &Ticket) {
    let now = Instant::now();
    match event {
        Event::FocusLost => keys.release_all(),
        Event::Key(KeyEvent { code, kind, modifiers, .. }) => {
            let released = *kind == KeyEventKind::Release;
            if modifiers.contains(KeyModifiers::CONTROL) {
                if *code == KeyCode::Char('c') && !released {
                    ticket.order(Order::Stop);
                }
                return;
            }
            if let KeyCode::Char(letter) = code
                && let Some(key) = Key::of_letter(*letter)
            {
                if released { keys.release(key, now) } else { keys.press(key, now) }
            } else if *kind == KeyEventKind::Press
                && let Some(order) = order_of(*code)
            {
                ticket.order(order);
            }
        }
        _ => {}
    }
}

fn order_of(code: KeyCode) -> Option<Order> {
    Some(match code {
        KeyCode::Right => Order::Save,
        KeyCode::Left => Order::Discard,
        KeyCode::Enter => Order::Success,
        KeyCode::Backspace => Order::Failure,
        KeyCode::Esc => Order::Stop,
        KeyCode::Char('r' | 'R') => Order::Reset,
        _ => return None,
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

/// What the screen says.
fn lines(stage: &Stage, live: &Live, telling: Telling) -> Vec<String> {
    let session = &live.session;
    let phase = match session.phase {
        Phase::Starting => "starting",
        Phase::Free => "driving (not recorded)",
        Phase::Countdown => "get ready",
        Phase::Recording => "● RECORDING",
        Phase::Saving => "saving",
        Phase::Reset => "pause",
        Phase::Replay => "replay",
        Phase::Finished => "finished",
    };
    let time = match session.limit_s {
        Some(limit) => format!("{:.1} of {limit:.0} s", session.seconds),
        None => format!("{:.1} s", session.seconds),
    };
    let wanted = session.wanted.map_or(String::new(), |wanted| format!(" of {wanted}"));
    let mut lines = vec![
        format!("citrange drive: {} ({})", stage.scene, stage.robot),
        stage.task.clone(),
        String::new(),
        format!("{phase}   {time}   episode {}   saved {}{wanted}", session.episode, session.saved),
        session.message.clone(),
        String::new(),
    ];
    for ((joint, pos), target) in stage.joints.iter().zip(&live.joint_pos).zip(&live.targets) {
        let shown = |value: f32| {
            if joint.is_slide {
                format!("{:7.1} mm", value * 1e3)
            } else {
                format!("{:7.1}°  ", value.to_degrees())
            }
        };
        let bar = joint.range.map_or(String::new(), |range| bar(f64::from(*pos), range));
        lines.push(format!("{:>14} {} → {} {bar}", joint.name, shown(*pos), shown(*target)));
    }
    let [x, y, z] = live.hand_m.map(|v| v * 1e3);
    lines.push(format!("{:>14} {x:7.1} {y:7.1} {z:7.1} mm", "hand"));
    if live.tilt_rad.is_finite() {
        lines.push(format!("{:>14} {:7.1}°", "tilt", live.tilt_rad.to_degrees()));
    }
    lines.push(String::new());
    let held = if live.brake { "BRAKE".to_owned() } else { live.held.join(" ") };
    lines.push(format!("held: {held:30} limited by: {}", live.limited_by.join(" ")));
    lines.push(format!(
        "loop {:.1} Hz, {} late, worst {:.1} ms, {} pictures dropped",
        live.loop_hz, live.late_ticks, live.worst_late_ms, session.dropped
    ));
    lines.push(String::new());
    let pairs: Vec<String> = stage
        .keys
        .iter()
        .map(|k| format!("{} {}", k.letter.to_ascii_uppercase(), k.name))
        .collect();
    lines.extend(pairs.chunks(5).map(|row| row.join("   ")));
    lines.push(
        "→ save   ← again   Enter success   Backspace failure   R set back   Esc stop".into(),
    );
    lines.push(match telling {
        Telling::Releases => "this terminal tells when a key is let go: hold keys to move".into(),
        Telling::Presses => {
            "this terminal does not tell when a key is let go: every press is a short step; \
             a terminal with the kitty keyboard protocol, or the browser, is smoother"
                .into()
        }
    });
    lines
}

/// A joint's place in its range.
fn bar(pos: f64, [low, high]: [f64; 2]) -> String {
    const WIDTH: usize = 21;
    let share = ((pos - low) / (high - low)).clamp(0.0, 1.0);
    let at = (share * (WIDTH - 1) as f64).round() as usize;
    (0..WIDTH).map(|i| if i == at { '█' } else { '·' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use citrange_studio::StageJoint;

    #[test]
    fn the_screen_says_what_matters() {
        let joint = StageJoint {
            name: "elbow".into(),
            is_slide: false,
            range: Some([-1.0, 1.0]),
            gripper: None,
        };
        let stage = Stage { scene: "desk".into(), joints: vec![joint], ..Stage::default() };
        let mut live = Live { joint_pos: vec![0.5], targets: vec![1.0], ..Live::default() };
        live.session.phase = Phase::Recording;
        live.held = vec!["up", "open"];
        let text = lines(&stage, &live, Telling::Presses).join("\n");
        for part in ["desk", "RECORDING", "28.6°", "57.3°", "up open", "short step"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        live.brake = true;
        assert!(lines(&stage, &live, Telling::Releases).join("\n").contains("BRAKE"));
        assert_eq!(bar(-1.0, [-1.0, 1.0]).chars().next(), Some('█'));
    }
}
