//! Which program this is.

/// The release.
pub const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// The git revision of the build, with `+` if files were changed since; `unknown` outside a repository.
pub const REVISION: &str = env!("OTDA_REVISION");

// Hashes of the sources that results depend on: units of other sources are not mixed with theirs. Readers are not among
// them, because units depend on a checksum of what was read, nor are tables.

/// What is drawn or generated for a trial.
pub const DRAWS: &str = env!("OTDA_DRAWS");
/// What every unit needs besides: the protocol and the nearest neighbour.
pub const PROTOCOL: &str = env!("OTDA_PROTOCOL");
/// What transport needs besides.
pub const SOLVERS: &str = env!("OTDA_SOLVERS");
/// What the baselines and support-vector machines need besides.
pub const BASELINES: &str = env!("OTDA_BASELINES");
