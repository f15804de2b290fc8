//! Driving from a terminal, also over SSH: no browser, no display, no window system.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use citrange_teleop::telemetry::{Phase, Sample, Telemetry};
use citrange_teleop::{AutopilotRequest, DriverLock, Halt, Key, Order, Ticket};
use crossterm::event::{
    DisableFocusChange, EnableFocusChange, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags, poll,
    read,
};
use crossterm::terminal::{self, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, execute, queue, style};

use crate::StudioError;
use crate::terminal_text::lines;
use citrange_teleop::{Sender, Telling, TerminalKeys};

/// How often the grip is renewed; well below the driver lock's longest silence.
const GRIP_EVERY: Duration = Duration::from_millis(20);
/// How often the screen is drawn.
const DRAW_EVERY: Duration = Duration::from_millis(100);

/// How long the screen may take to be given back.
const LONGEST_GOODBYE: Duration = Duration::from_secs(1);

/// Who drives, for the others.
const NAME: &str = "the terminal";
/// A key that is still down from an order before repeats within this time: it answers no question.
const REPEAT: Duration = Duration::from_secs(1);

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
        let ticket = driver_lock.take(NAME).map_err(StudioError::WheelTaken)?;
        let wheel = Wheel { driver_lock, ticket };
        terminal::enable_raw_mode().map_err(StudioError::RawKeys)?;
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
            .spawn(move || drive(wheel, &board, telling, &told, screen, &links))
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

/// The wheel, which somebody at a page may have taken away by stopping the arm.
struct Wheel {
    driver_lock: Arc<DriverLock>,
    ticket: Ticket,
}

impl Wheel {
    /// What to say about it; none while it is ours.
    fn words(&self) -> Option<String> {
        if self.ticket.drives() {
            return None;
        }
        Some(match (self.driver_lock.driver(), self.driver_lock.stopped_by()) {
            (Some(driver), _) => format!("{driver} drives"),
            (None, Some(by)) => format!("STOPPED by {by}: press T to take the wheel again"),
            (None, None) => "press T to take the wheel".to_owned(),
        })
    }

    /// Takes it again, if nobody else has it.
    fn take(&mut self) {
        if !self.ticket.drives()
            && let Ok(ticket) = self.driver_lock.take(NAME)
        {
            self.ticket = ticket;
        }
    }
}

fn drive(
    mut wheel: Wheel,
    board: &Telemetry,
    telling: Telling,
    ended: &AtomicBool,
    screen: Screen,
    links: &[String],
) {
    let targets = board.stage.autopilot.as_ref().map_or(0, |autopilot| autopilot.targets.len());
    let mut hand = Hand::new(telling, targets);
    let (mut seq, mut drawn) = (0, None::<Instant>);
    while !ended.load(Ordering::Relaxed) {
        match poll(GRIP_EVERY) {
            Ok(false) => {}
            Ok(true) => match read() {
                Ok(event) => {
                    if is_press_of(&event, 't') {
                        wheel.take();
                    }
                    hand.is_asked = board.read(|live| live.session.phase == Phase::Asking);
                    hand.take_in(&event, &wheel.ticket);
                }
                Err(_) => break,
            },
            // The terminal is gone: the ticket falls, the arm brakes.
            Err(_) => break,
        }
        seq += 1;
        wheel.ticket.hold(hand.keys.held(Instant::now()), seq);
        if drawn.is_none_or(|at| at.elapsed() >= DRAW_EVERY) {
            let (width, height) = terminal::size().unwrap_or((80, 24));
            // Copied first: the loop must not wait while this is put into words.
            let live = board.read(Sample::clone);
            let lines = lines(&board.stage, &live, telling, links, wheel.words().as_deref());
            if draw(&lines, usize::from(width), usize::from(height)).is_err() {
                break;
            }
            drawn = Some(Instant::now());
        }
    }
    drop(screen);
    if !ended.load(Ordering::Relaxed) {
        // Lost, not ended: keep what was recorded and stop.
        wheel.driver_lock.order(Order::Stop);
    }
}

fn is_press_of(event: &Event, letter: char) -> bool {
    matches!(event, Event::Key(KeyEvent { code: KeyCode::Char(c), kind: KeyEventKind::Press, .. })
        if c.eq_ignore_ascii_case(&letter))
}

/// What somebody does at the terminal.
struct Hand {
    keys: TerminalKeys,
    sender: Sender,
    /// Targets of the autopilot; none when there is no autopilot.
    targets: usize,
    /// Whether a question waits for an answer.
    is_asked: bool,
    /// The last order's key, and when it was last heard of.
    ordered: Option<(KeyCode, Instant)>,
}

impl Hand {
    fn new(telling: Telling, targets: usize) -> Self {
        let (keys, sender) = (TerminalKeys::new(telling), Sender::default());
        Self { keys, sender, targets, is_asked: false, ordered: None }
    }

    /// Gives an order, unless its key is still down from the order before and would answer a
    /// question that nobody has read yet.
    fn order(&mut self, code: KeyCode, order: Order, ticket: &Ticket, now: Instant) {
        let is_repeat = self
            .ordered
            .replace((code, now))
            .is_some_and(|(last, at)| last == code && now.saturating_duration_since(at) < REPEAT);
        // Whoever sits at the terminal may always end it.
        let may = ticket.drives() || order == Order::Stop;
        if may && !(self.is_asked && is_repeat) {
            ticket.order(order);
        }
    }

    /// One thing that the terminal said.
    fn take_in(&mut self, event: &Event, ticket: &Ticket) {
        let now = Instant::now();
        match event {
            Event::FocusLost => {
                ticket.halt(Halt::Focus);
                self.keys.release_all();
            }
            Event::Key(KeyEvent { code, kind, modifiers, .. }) => {
                if modifiers.contains(KeyModifiers::CONTROL) {
                    if *code == KeyCode::Char('c') && *kind != KeyEventKind::Release {
                        ticket.order(Order::Stop);
                    }
                    return;
                }
                let key = match code {
                    KeyCode::Char(letter) => Key::of_letter(*letter),
                    _ => None,
                };
                match (key, kind) {
                    (Some(key), KeyEventKind::Release) => self.keys.release(key, now),
                    (Some(key), _) => self.keys.press(key, now),
                    (None, KeyEventKind::Press) => self.press(*code, ticket, now),
                    (None, _) => {}
                }
            }
            _ => {}
        }
    }

    /// A key that is not held: sends the autopilot, or stops it, or orders something.
    fn press(&mut self, code: KeyCode, ticket: &Ticket, now: Instant) {
        let request = request_of(code, self.targets);
        if ticket.is_flying() {
            if let Some((digit, _)) = request
                && self.sender.repeats(digit, now)
            {
                return;
            }
            ticket.halt(Halt::Asked);
            self.sender = Sender::default();
            if code != KeyCode::Esc
                && let Some(order) = order_of(code)
            {
                self.order(code, order, ticket, now);
            }
        } else if let Some((digit, request)) = request {
            // A key that stays down after its request has ended does not send it again.
            if !self.sender.repeats(digit, now) && ticket.send(request).is_ok() {
                self.sender.press(digit, now);
            }
        } else if let Some(order) = order_of(code) {
            self.order(code, order, ticket, now);
        }
    }
}

/// What a key sends the autopilot for: 1 to 9 for a target, 0 or G for all.
fn request_of(code: KeyCode, targets: usize) -> Option<(char, AutopilotRequest)> {
    let KeyCode::Char(letter) = code else { return None };
    match letter.to_ascii_lowercase() {
        '0' | 'g' if targets > 0 => Some((letter, AutopilotRequest::All)),
        digit @ '1'..='9' => {
            let number = digit.to_digit(10)? as usize;
            (number <= targets).then_some((digit, AutopilotRequest::Target(number)))
        }
        _ => None,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode) -> Event {
        Event::Key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn hand(targets: usize) -> Hand {
        Hand::new(Telling::Presses, targets)
    }

    #[test]
    fn digits_send_the_autopilot_and_any_other_press_stops_it() {
        let driver_lock = DriverLock::new(DriverLock::LONGEST_SILENCE);
        let ticket = driver_lock.take("the terminal").unwrap();
        let mut hand = hand(3);
        hand.take_in(&key(KeyCode::Char('4')), &ticket);
        assert!(!ticket.is_flying(), "there are three targets");
        let request = || driver_lock.request(Instant::now()).map(|(_, request)| request);
        for (code, request_of_it) in [
            ('2', AutopilotRequest::Target(2)),
            ('0', AutopilotRequest::All),
            ('g', AutopilotRequest::All),
        ] {
            hand.take_in(&key(KeyCode::Char(code)), &ticket);
            assert_eq!(request(), Some(request_of_it));
            hand.take_in(&key(KeyCode::Char(code)), &ticket);
            assert!(ticket.is_flying(), "the key may stay down");
            for stop in [KeyCode::Esc, KeyCode::Char(' '), KeyCode::Char('1'), KeyCode::Tab] {
                hand.sender = Sender::default();
                if !ticket.is_flying() {
                    hand.take_in(&key(KeyCode::Char(code)), &ticket);
                }
                hand.take_in(&key(stop), &ticket);
                assert_eq!(
                    (request(), driver_lock.halted()),
                    (None, Some(Halt::Asked)),
                    "{stop:?}"
                );
            }
        }
        assert_eq!(driver_lock.next_order(), None, "Esc stopped the autopilot, not the session");
        hand.take_in(&key(KeyCode::Esc), &ticket);
        assert_eq!(driver_lock.next_order(), Some(Order::Stop));
    }

    #[test]
    fn a_key_that_is_still_down_answers_no_question_and_a_stopped_driver_gives_no_orders() {
        let driver_lock = DriverLock::new(DriverLock::LONGEST_SILENCE);
        let ticket = driver_lock.take(NAME).unwrap();
        let mut hand = hand(0);
        hand.take_in(&key(KeyCode::Enter), &ticket);
        assert_eq!(driver_lock.next_order(), Some(Order::Success));
        hand.is_asked = true;
        hand.take_in(&key(KeyCode::Enter), &ticket);
        assert_eq!(driver_lock.next_order(), None, "it repeats");
        hand.take_in(&key(KeyCode::Backspace), &ticket);
        assert_eq!(driver_lock.next_order(), Some(Order::Failure));
        hand.ordered = None;
        driver_lock.stop_all("viewer 2");
        let mut wheel = Wheel { driver_lock: Arc::clone(&driver_lock), ticket };
        assert!(wheel.words().unwrap().contains("STOPPED by viewer 2"));
        hand.take_in(&key(KeyCode::Enter), &wheel.ticket);
        assert_eq!(driver_lock.next_order(), None);
        wheel.take();
        assert_eq!((wheel.words(), driver_lock.driver().as_deref()), (None, Some(NAME)));
    }

    #[test]
    fn movement_keys_and_a_lost_focus_stop_it() {
        let driver_lock = DriverLock::new(DriverLock::LONGEST_SILENCE);
        let ticket = driver_lock.take("the terminal").unwrap();
        let mut hand = hand(1);
        ticket.send(AutopilotRequest::All).unwrap();
        hand.take_in(&key(KeyCode::Char('w')), &ticket);
        ticket.hold(hand.keys.held(Instant::now()), 1);
        assert_eq!((ticket.is_flying(), driver_lock.halted()), (false, Some(Halt::Keys)));
        hand.keys.release_all();
        ticket.hold(hand.keys.held(Instant::now()), 2);
        ticket.send(AutopilotRequest::All).unwrap();
        hand.take_in(&Event::FocusLost, &ticket);
        assert_eq!((ticket.is_flying(), driver_lock.halted()), (false, Some(Halt::Focus)));
    }
}
