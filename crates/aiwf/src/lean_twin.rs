//! Two parsers from one declaration of commands: complete, and lean.
//!
//! Building the parser of every command took most of the start. Clap can defer the arguments of a command until it is
//! typed, but help from a deferred parser lists its sections in another order. So the lean parser handles valid command
//! lines; help, errors, completion and man pages come from the complete one.

use std::ops::Deref;

use clap::{Args, Subcommand};

/// Declares commands, and in the module `lean` the same commands with deferred arguments.
///
/// `use` imports nested enums into `lean` that have a lean twin of their own.
macro_rules! lean_twin {
    ($(use $path:path;)* pub(crate) enum $name:ident { $($variants:tt)* }) => {
        #[derive(Debug, clap::Subcommand)]
        pub(crate) enum $name {
            $($variants)*
        }

        pub(crate) mod lean {
            use super::*;
            $(use $path;)*

            #[derive(Debug, clap::Subcommand)]
            #[command(defer = true)]
            #[allow(dead_code, reason = "only builds a parser; the values go into the complete twin")]
            pub(crate) enum $name {
                $($variants)*
            }
        }
    };
}

pub(crate) use lean_twin;

// Clap can defer the arguments of a command but not its subcommands, so the subcommands of a group are one argument.
// A doc comment would become the help of each group.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct CommandGroup<C: Subcommand> {
    #[command(subcommand)]
    command: C,
}

impl<C: Subcommand> Deref for CommandGroup<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.command
    }
}
