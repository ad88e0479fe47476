//! Small scenes of everything that can be combined, each from a seed: what property tests run.
//!
//! Integrators and damping models go round, so that any 108 seeds in a row have all pairs; everything else is drawn.

use std::fmt::Write;
use std::ops::Range;

/// All integrators.
pub const INTEGRATORS: [&str; 9] = [
    "backward-euler",
    "implicit-midpoint",
    "bdf2",
    "trapezoidal",
    "newmark",
    "bathe",
    "symplectic-euler",
    "velocity-verlet",
    "non-oscillatory",
];

/// All damping models, with parameters of theirs.
pub const DAMPING: [(&str, &[&str]); 12] = [
    ("none", &[""]),
    ("laplacian", &["stiffness = 1e-3", "mass = 0.5, stiffness = 2e-2", "mass = 2.0"]),
    ("ether-drag", &["coefficient = 0.05"]),
    ("pbd", &["coefficient = 0.1", "coefficient = 0.9"]),
    ("point", &["gamma = 0.05"]),
    ("spring", &["gamma = 0.1", "gamma = 0.5, torque = \"none\""]),
    ("spring-iterated", &["gamma = 0.1, sweeps = 3"]),
    ("direct", &["gamma = 0.1", "gamma = 0.3, scope = \"local\"", "gamma = 0.2, torque = \"radial\""]),
    ("strain-rate", &["phi = 3.0, psi = 5.0", "psi = 40.0"]),
    ("rayleigh", &["stiffness = 2e-3", "mass = 0.5, stiffness = 2e-2"]),
    ("rayleigh-tangent", &["stiffness = 2e-3"]),
    ("variational", &["eta = 2e-3"]),
];

/// Numbers from a seed, the same everywhere.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A whole number from 0 to below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// True so often.
    pub fn chance(&mut self, share: f64) -> bool {
        self.between(0.0..1.0) < share
    }

    pub fn between(&mut self, range: Range<f64>) -> f64 {
        let share = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        range.start + share * (range.end - range.start)
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A vector of TOML with components from −size to size.
    fn vector(&mut self, size: f64) -> String {
        let [x, y, z] = [0; 3].map(|_| self.between(-size..size));
        format!("[{x:.3}, {y:.3}, {z:.3}]")
    }
}

/// A scene.
#[derive(Debug, Clone)]
pub struct Sampled {
    pub integrator: &'static str,
    pub damping: &'static str,
    pub frames: usize,
    pub text: String,
}

/// What a body is made of.
#[derive(Clone, Copy, PartialEq)]
enum Matter {
    Solid,
    Cloth,
    Strands,
}

impl Sampled {
    pub fn of(seed: u64) -> Self {
        let integrator = INTEGRATORS[(seed % 9) as usize];
        let (damping, parameters) = DAMPING[(seed / 9 % 12) as usize];
        let dice = &mut Dice::new(seed);
        let frames = 6 + dice.below(19);
        let explicit = integrator == "symplectic-euler" || integrator == "velocity-verlet";
        let step = dice.pick(&[1.0 / 120.0, 1.0 / 60.0, 1.0 / 30.0]);
        let duration = step * frames as f64;
        let mut scene = Scene { dice, text: String::new(), duration };
        scene.time(step, frames, explicit);
        let parameters = scene.dice.pick(parameters);
        scene.integrator(integrator);
        scene.damping(damping, parameters);
        scene.solver(explicit, damping);
        let two = scene.dice.chance(0.3);
        let joined = two && scene.dice.chance(0.3);
        scene.conservation(explicit, joined);
        scene.surroundings(joined);
        for number in 0..if two { 2 } else { 1 } {
            scene.body(number, joined);
        }
        let text = scene.text;
        Sampled { integrator, damping, frames, text }
    }
}

/// A scene in the making.
struct Scene<'a> {
    dice: &'a mut Dice,
    text: String,
    /// Of the run (s).
    duration: f64,
}

impl Scene<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    /// A moment of the run (s).
    fn moment(&mut self) -> f64 {
        self.dice.between(0.1..0.9) * self.duration
    }

    fn time(&mut self, step: f64, frames: usize, explicit: bool) {
        let substeps = if explicit { 6 + self.dice.below(6) } else { 1 + self.dice.below(3) / 2 };
        let (iterations, tolerance) = (1 + self.dice.below(12), self.dice.pick(&["0.0", "0.0", "1e-6"]));
        let gravity = self.dice.pick(&["[0.0, -9.81, 0.0]", "[0.0, 0.0, 0.0]"]);
        self.line(&format!("gravity = {gravity}"));
        self.line(&format!(
            "time = {{ step = {step:?}, frames = {frames}, substeps = {substeps}, iterations = {iterations}, tolerance = {tolerance} }}"
        ));
    }

    fn integrator(&mut self, kind: &str) {
        let more = match kind {
            "newmark" => self.dice.pick(&["", ", gamma = 0.7", ", gamma = 0.6, beta = 0.4"]),
            "non-oscillatory" => {
                self.dice.pick(&[", tau = 0.03", ", tau = 0.1, kappa = 0.5", ", rest_time = 0.2"])
            }
            _ => "",
        };
        self.line(&format!("integrator = {{ kind = \"{kind}\"{more} }}"));
    }

    fn damping(&mut self, model: &str, parameters: &str) {
        let mut table = format!("model = \"{model}\"");
        if !parameters.is_empty() {
            let _ = write!(table, ", {parameters}");
        }
        if ["laplacian", "rayleigh"].contains(&model) && self.dice.chance(0.3) {
            let gamma = self.dice.pick(&[
                "gamma = 4.0",
                "gamma = 0.1",
                "curve = { over = \"velocity\", points = [[0.0, -1.0], [2.0, 1.0]] }",
            ]);
            let mode = 1 + self.dice.below(2);
            let _ = write!(table, ", example = [{{ body = \"a\", shape = {{ mode = {mode} }}, {gamma} }}]");
        } else if model == "laplacian" && self.dice.chance(0.2) {
            table += ", curve = { over = \"velocity\", points = [[0.0, -1.0], [3.0, 1.0]] }";
        }
        self.line(&format!("damping = {{ {table} }}"));
    }

    fn solver(&mut self, explicit: bool, damping: &str) {
        let newton = if damping == "rayleigh-tangent" { 0.9 } else { 0.15 };
        let kind = if !explicit && self.dice.chance(newton) { "newton" } else { "projective" };
        let global = self.dice.pick(&["auto", "cholesky", "hybrid", "chebyshev"]);
        let precision = self.dice.pick(&["double", "double", "single"]);
        let history = self.dice.pick(&["", ", history = 0", ", history = 5"]);
        self.line(&format!(
            "solver = {{ kind = \"{kind}\", global = \"{global}\", precision = \"{precision}\"{history} }}"
        ));
    }

    fn conservation(&mut self, explicit: bool, joined: bool) {
        let often = if joined { 0.05 } else { 0.45 };
        if !self.dice.chance(often) {
            return;
        }
        let method = if self.dice.chance(if explicit { 0.1 } else { 0.5 }) { "cpd" } else { "fepr" };
        let hold = self.dice.pick(&[r#"["P", "L", "H"]"#, r#"["P", "L", "H"]"#, r#"["P", "L"]"#, r#"["H"]"#]);
        let mut table = format!("method = \"{method}\", hold = {hold}");
        if hold.contains('H') && self.dice.chance(0.25) {
            table += ", gamma = 2.0";
        }
        if hold.contains('P') && self.dice.chance(0.25) {
            let (moment, push) = (self.moment(), self.dice.vector(0.5));
            let keys = format!("momentum = {{ times = [{moment:.4}], values = [{push}] }}");
            let _ = write!(table, ", control = [{{ body = \"a\", {keys} }}]");
        }
        self.line(&format!("conservation = {{ {table} }}"));
    }

    /// The ground, contact, a joint.
    fn surroundings(&mut self, joined: bool) {
        let itself = self.dice.chance(0.1);
        let law = self.dice.pick(&["", ", law = \"cubic\", stiffness = 1e5"]);
        let friction = self.dice.pick(&[0.0, 0.5]);
        self.line(&format!("contact = {{ friction = {friction:?}, self = {itself}{law} }}"));
        if self.dice.chance(0.35) {
            let height = -self.dice.between(0.0..0.05);
            let path =
                self.dice.pick(&["", "", ", path = { kind = \"translate\", velocity = [0.2, 0.1, 0.0] }"]);
            self.line(&format!(
                "obstacle = [{{ shape = \"plane\", point = [0.0, {height:.4}, 0.0]{path} }}]"
            ));
        }
        if joined {
            let stiffness = self.dice.pick(&["1e3", "1e5"]);
            self.line(&format!(
                "joint = [{{ bodies = [\"a\", \"b\"], points = [[0.0, 0.1, 0.0], [0.0, 0.0, 0.0]], stiffness = {stiffness} }}]"
            ));
        }
    }

    fn body(&mut self, number: usize, joined: bool) {
        let matter =
            self.dice.pick(&[Matter::Solid, Matter::Solid, Matter::Solid, Matter::Cloth, Matter::Strands]);
        let name = ["a", "b"][number];
        self.line(&format!("[[body]]\nname = \"{name}\""));
        let mesh = match matter {
            Matter::Solid => {
                let cells = [0; 3].map(|_| 1 + self.dice.below(2));
                let [x, y, z] = cells.map(|cells| 0.1 * cells as f64);
                format!("generate = \"box\", cells = {cells:?}, size = [{x:?}, {y:?}, {z:?}]")
            }
            Matter::Cloth => "generate = \"cloth\", cells = [3, 2], size = [0.3, 0.2]".into(),
            Matter::Strands => {
                "generate = \"hair\", strands = 2, segments = 4, length = 0.3, radius = 0.05".into()
            }
        };
        self.line(&format!("mesh = {{ {mesh} }}"));
        self.material(matter, joined);
        if number == 1 && !joined {
            // a little above the first one, and on its way down
            self.line("position = [0.02, 0.22, 0.01]\nvelocity = [0.0, -1.5, 0.0]");
        } else {
            let velocity = self.dice.vector(0.5);
            self.line(&format!("velocity = {velocity}"));
        }
        let spin = self.dice.vector(3.0);
        self.line(&format!("angular_velocity = {spin}"));
        if self.dice.chance(0.5) {
            let stretch = [0; 3].map(|_| format!("{:.3}", self.dice.between(0.85..1.2))).join(", ");
            self.line(&format!("stretch = [{stretch}]"));
        }
        if self.dice.chance(0.5) {
            self.attach(matter);
        }
    }

    fn material(&mut self, matter: Matter, joined: bool) {
        let thin = if matter == Matter::Solid { "" } else { ", thickness = 0.002" };
        let lame = self.dice.pick(&["young_modulus = 2e4, poisson_ratio = 0.35", "mu = 1e4, lambda = 1e4"]);
        let law = match (matter, self.dice.below(7)) {
            (Matter::Strands, _) => "model = \"spring\", stiffness = 100.0".into(),
            (Matter::Cloth, 0..=2) => "model = \"arap\", mu = 1e5, bending = 1e-5".into(),
            (Matter::Cloth, 3) => "model = \"arap\", mu = 1e5, strain_limits = [0.95, 1.05]".into(),
            (Matter::Cloth, 4) => "model = \"spring\", stiffness = 200.0".into(),
            (Matter::Solid, 0) => "model = \"arap\", mu = 1e4".into(),
            (Matter::Solid, 1 | 2) => format!("model = \"corotated\", {lame}"),
            (Matter::Solid, 3) => "model = \"spring\", stiffness = 500.0".into(),
            (Matter::Solid, 4) => format!("model = \"corotated-linear\", {lame}"),
            (_, 5) => format!("model = \"{}\", {lame}", self.dice.pick(&["stvk", "neo-hookean"])),
            _ => concat!(
                "model = \"valanis-landel\", curves = { f = [[0.5, -2e4], [1.0, 0.0], [1.5, 2e4]], ",
                "h = [[0.5, -1e4], [1.0, 0.0], [1.5, 1e4]] }"
            )
            .into(),
        };
        let mut table = format!("{law}{thin}, density = 1000.0");
        if !law.contains("spring") && !law.contains("strain_limits") && self.dice.chance(0.15) {
            let creep = self.dice.pick(&["", ", creep_rate = 20.0"]);
            let _ = write!(table, ", yield_stress = 500.0{creep}");
        }
        if self.dice.chance(if joined { 0.03 } else { 0.25 }) {
            let first = self.moment();
            let second = first + self.dice.between(0.01..1.0) * self.duration;
            let factor = self.dice.pick(&[0.3, 3.0, 8.0]);
            let _ = write!(
                table,
                ", keyframes = {{ times = [{first:.4}, {second:.4}], factors = [1.0, {factor:?}] }}"
            );
        }
        self.line(&format!("material = {{ {table} }}"));
    }

    fn attach(&mut self, matter: Matter) {
        let select = match matter {
            Matter::Strands => "min = [-1.0, -0.001, -1.0], max = [1.0, 1.0, 1.0]",
            _ => self
                .dice
                .pick(&["min = [-1.0, -1.0, -1.0], max = [0.001, 1.0, 1.0]", "nearest = [0.0, 0.0, 0.0]"]),
        };
        let mut table = format!("select = {{ {select} }}, stiffness = {}", self.dice.pick(&["1e3", "1e5"]));
        let moment = self.moment();
        match self.dice.below(4) {
            0 => drop(write!(table, ", until = {moment:.4}")),
            1 => drop(write!(table, ", from = {moment:.4}")),
            2 => {
                let end = moment + 0.5 * self.duration;
                let _ = write!(table, ", from = {moment:.4}, until = {end:.4}");
            }
            _ => {}
        }
        let moment = self.moment();
        match self.dice.below(5) {
            0 => table += ", path = { kind = \"translate\", velocity = [0.3, 0.1, 0.0] }",
            1 => {
                table += ", path = { kind = \"circle\", axis = [0.0, 0.0, 1.0], radius = 0.05, period = 0.4 }"
            }
            2 => {
                let offsets = "offsets = [[0.0, 0.0, 0.0], [0.05, 0.0, 0.02]]";
                let _ = write!(
                    table,
                    ", path = {{ kind = \"keyframes\", times = [0.0, {moment:.4}], {offsets} }}"
                );
            }
            _ => {}
        }
        self.line(&format!("attach = [{{ {table} }}]"));
    }
}

/// How many cases are run: the variable of the environment, or this many.
pub fn cases(variable: &str, default: u64) -> Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("DASHPOT_FIRST_SEED").unwrap_or(0);
    first..first + number(variable).unwrap_or(default)
}
