//! Judgement: what is held, what can be taken, what lies where it should.
