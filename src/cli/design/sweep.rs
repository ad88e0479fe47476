//! `dashpot design SCENE --sweep`: what remains after one cycle over γ (Example paper, Fig. 9).

use super::Args;
use crate::cli::{Table, backend, writable};
use crate::design::sweep::{self, Sweep};
use crate::error::InputError;
use crate::observe::write_whole;
use crate::{Result, setup};

/// Makes the tests, prints their table, and writes it if asked to.
pub(super) fn run(args: &Args, asked: &str) -> Result<()> {
    let requests = sweep::parse(asked).map_err(|error| InputError::field("--sweep", error.to_string()))?;
    if let Some(out) = &args.out {
        if out.extension().is_none_or(|extension| extension != "csv") {
            let message = format!("{}: a sweep is written as .csv", out.display());
            return Err(InputError::field("--out", message).into());
        }
        writable("--out", out)?;
    }
    let loaded = setup::load(&args.scene, &args.set)?;
    args.threads.install(|| {
        let bar = super::progress_bar("test");
        let gammas = sweep::gammas(usize::from(args.per_decade));
        let sweeps = sweep::sweep(
            &loaded,
            &requests,
            &gammas,
            &|loaded, model| backend::make(&args.backend, loaded, model),
            &mut |made, all| {
                bar.set_length(all as u64);
                bar.set_position(made as u64);
            },
        );
        bar.finish_and_clear();
        let sweeps = sweeps?;
        say!("{}\n\n{}", table(&gammas, &sweeps), verdicts(&sweeps))?;
        args.out.as_ref().map_or(Ok(()), |out| write_whole(out, csv(&gammas, &sweeps).as_bytes()))
    })
}

fn heads(sweeps: &[Sweep]) -> impl Iterator<Item = String> {
    let names = sweeps.iter().map(|sweep| format!("{} from {}", sweep.example, sweep.amplitude));
    std::iter::once("gamma".to_string()).chain(names)
}

/// A row for each γ, a column for each amplitude.
fn table(gammas: &[f64], sweeps: &[Sweep]) -> Table {
    let mut table = Table::new(0, heads(sweeps));
    for (row, gamma) in gammas.iter().enumerate() {
        let values = sweeps.iter().map(|sweep| format!("{:.4}", sweep.samples[row].1.amplitude));
        table.row(std::iter::once(format!("{gamma:.4}")).chain(values));
    }
    table
}

/// Whether each is monotone.
fn verdicts(sweeps: &[Sweep]) -> String {
    let verdict = |sweep: &Sweep| {
        let found = sweep.rise().map_or("falls as γ grows".into(), |rise| rise.to_string());
        format!("{} from {}: {found}", sweep.example, sweep.amplitude)
    };
    sweeps.iter().map(verdict).collect::<Vec<_>>().join("\n")
}

fn csv(gammas: &[f64], sweeps: &[Sweep]) -> String {
    let mut text = heads(sweeps).collect::<Vec<_>>().join(",") + "\n";
    for (row, gamma) in gammas.iter().enumerate() {
        text += &gamma.to_string();
        sweeps.iter().for_each(|sweep| text += &format!(",{}", sweep.samples[row].1.amplitude));
        text += "\n";
    }
    text
}
