//! Cloth by position-based dynamics: particles, distance constraints with compliance, wind.
//!
//! Müller, Heidelberger, Hennix, Ratcliff, "Position Based Dynamics", 2007; compliance and small steps
//! after Macklin, Müller, Chentanez, "XPBD", 2016, and Macklin et al., "Small Steps in Physics
//! Simulation", 2019. Single thread and fixed order: the same bits every time.

use glam::Vec3;

/// A rectangle of particles in the plane z = 0.
pub(super) struct Cloth {
    /// Particles along the length.
    pub(super) columns: usize,
    /// Particles along the height.
    pub(super) rows: usize,
    pub(super) positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    /// 0 is pinned, else 1 over the mass of a particle, 1/kg.
    inverse_masses: Vec<f32>,
    constraints: Vec<Constraint>,
    /// Distance from the pin in the same row that no particle exceeds: Kim, Chentanez, Müller, "Long
    /// Range Attachments", 2012. Without it a long cloth stretches like rubber.
    tethers: Vec<f32>,
}

struct Constraint {
    a: usize,
    b: usize,
    rest: f32,
    /// Inverse stiffness, m/N.
    compliance: f32,
}

/// Density of bunting with the air that moves along, kg per square metre.
const DENSITY: f32 = 0.3;
/// Sweeps over the constraints in a step.
const ITERATIONS: usize = 16;
/// How much of its neighbours' motion a particle takes on in a step.
const RUBBING: f32 = 0.45;
const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);
/// What is lost of the velocity in a second, per second.
const DAMPING: f32 = 1.2;
/// Density of air (kg/m³) times half the drag coefficient of a plate.
const DRAG: f32 = 1.2 * 0.5;
/// What the air that slides along drags, N·s/m³.
const FRICTION: f32 = 0.09;

impl Cloth {
    /// A cloth with its corner (0, 0) at `corner`, `length` along +X and `height` down, pinned along its
    /// first column.
    pub(super) fn pinned(columns: usize, rows: usize, corner: Vec3, length: f32, height: f32) -> Self {
        let spacing = [length / (columns - 1) as f32, height / (rows - 1) as f32];
        let mass = DENSITY * length * height / (columns * rows) as f32;
        let mut cloth = Self {
            columns,
            rows,
            positions: Vec::new(),
            velocities: vec![Vec3::ZERO; columns * rows],
            inverse_masses: Vec::new(),
            constraints: Vec::new(),
            tethers: Vec::new(),
        };
        for row in 0..rows {
            for column in 0..columns {
                let [along, down] = [column as f32 * spacing[0], row as f32 * spacing[1]];
                cloth.positions.push(corner + Vec3::new(along, -down, 0.0));
                cloth.tethers.push(along * 1.01);
                cloth.inverse_masses.push(if column == 0 { 0.0 } else { 1.0 / mass });
            }
        }
        // Threads hold, the weave shears a little, and bending is soft.
        for (steps, compliance) in
            [([(1, 0), (0, 1)], 1e-7), ([(1, 1), (1, -1)], 5e-5), ([(2, 0), (0, 2)], 4e-3)]
        {
            for (right, down) in steps {
                cloth.connect(right, down, compliance);
            }
        }
        cloth
    }

    fn connect(&mut self, right: usize, down: isize, compliance: f32) {
        for row in 0..self.rows {
            for column in 0..self.columns - right {
                let Some(below) = row.checked_add_signed(down).filter(|below| *below < self.rows) else {
                    continue;
                };
                let (a, b) = (row * self.columns + column, below * self.columns + column + right);
                let rest = self.positions[a].distance(self.positions[b]);
                self.constraints.push(Constraint { a, b, rest, compliance });
            }
        }
    }

    /// One step of `dt` seconds in `wind(position)`, metres per second.
    pub(super) fn step(&mut self, dt: f32, wind: impl Fn(Vec3) -> Vec3) {
        self.blow(dt, wind);
        let before = self.positions.clone();
        let keep = 1.0 - DAMPING * dt;
        for index in 0..self.positions.len() {
            if self.inverse_masses[index] > 0.0 {
                self.velocities[index] = (self.velocities[index] + GRAVITY * dt) * keep;
                self.positions[index] += self.velocities[index] * dt;
            }
        }
        for _ in 0..ITERATIONS {
            self.solve(dt);
        }
        for (index, before) in before.iter().enumerate() {
            self.velocities[index] = (self.positions[index] - before) / dt;
        }
        self.rub();
    }

    /// Friction inside the weave: each particle takes on some of the motion of its neighbours, which
    /// calms ripples and leaves waves alone.
    fn rub(&mut self) {
        let before = self.velocities.clone();
        for row in 0..self.rows {
            for column in 1..self.columns {
                let index = row * self.columns + column;
                let mut sum = before[index - 1];
                let mut count = 1.0;
                for (there, neighbour) in [
                    (column + 1 < self.columns, index + 1),
                    (row > 0, index.wrapping_sub(self.columns)),
                    (row + 1 < self.rows, index + self.columns),
                ] {
                    if there {
                        sum += before[neighbour];
                        count += 1.0;
                    }
                }
                self.velocities[index] += (sum / count - before[index]) * RUBBING;
            }
        }
    }

    fn solve(&mut self, dt: f32) {
        for Constraint { a, b, rest, compliance } in &self.constraints {
            let [weight_a, weight_b] = [self.inverse_masses[*a], self.inverse_masses[*b]];
            let between = self.positions[*b] - self.positions[*a];
            let length = between.length();
            let weight = weight_a + weight_b + compliance / (dt * dt);
            if length < 1e-9 || weight_a + weight_b == 0.0 {
                continue;
            }
            let correction = between * ((length - rest) / (length * weight));
            self.positions[*a] += correction * weight_a;
            self.positions[*b] -= correction * weight_b;
        }
        for index in 0..self.positions.len() {
            let pin = self.positions[index - index % self.columns];
            let away = self.positions[index] - pin;
            let length = away.length();
            if length > self.tethers[index] {
                self.positions[index] = pin + away * (self.tethers[index] / length);
            }
        }
    }

    /// Pressure of the wind on each triangle, along its normal: what moves past along the cloth does
    /// not push it.
    fn blow(&mut self, dt: f32, wind: impl Fn(Vec3) -> Vec3) {
        for row in 0..self.rows - 1 {
            for column in 0..self.columns - 1 {
                let corner = row * self.columns + column;
                for triangle in [
                    [corner, corner + self.columns, corner + 1],
                    [corner + 1, corner + self.columns, corner + self.columns + 1],
                ] {
                    let [a, b, c] = triangle.map(|index| self.positions[index]);
                    let twice_area = (b - a).cross(c - a);
                    let area = 0.5 * twice_area.length();
                    let Some(normal) = twice_area.try_normalize() else {
                        continue;
                    };
                    let moving = triangle.map(|index| self.velocities[index]).into_iter().sum::<Vec3>() / 3.0;
                    let relative = wind((a + b + c) / 3.0) - moving;
                    let across = relative.dot(normal);
                    let force = normal * (DRAG * area * across * across.abs()) + relative * (FRICTION * area);
                    for index in triangle {
                        self.velocities[index] += force * (self.inverse_masses[index] * dt / 3.0);
                    }
                }
            }
        }
    }
}
