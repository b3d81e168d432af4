//! Which program this is.

/// The release.
pub const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// The git revision of the build, with `+` if files were changed since; `unknown` outside a repository.
pub const REVISION: &str = env!("OTDA_REVISION");

/// Hashes of the sources that results depend on: units of other sources are not mixed with theirs. Tables and
/// messages are not among them.
/// What every unit needs: data, draws, the protocol, the nearest neighbour.
pub const PROTOCOL: &str = env!("OTDA_PROTOCOL");
/// What transport needs besides.
pub const SOLVERS: &str = env!("OTDA_SOLVERS");
/// What the baselines and support-vector machines need besides.
pub const BASELINES: &str = env!("OTDA_BASELINES");
