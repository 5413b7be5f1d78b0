//! `cluster recovery-kit`: what the control group knows, in a sealed file; and whether such a file opens.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use serde_json::{Value, json};
use undercroft_control_plane::limits;
use undercroft_control_plane::recovery::{Contents, Kit};
use undercroft_crypto::{KitSecret, MasterKey, OsEntropy, kit, regular};
use undercroft_palace::ErrorClass;
use undercroft_palace::env::resolve;
use undercroft_vault::{Clock, SystemClock, rfc3339};
use zeroize::Zeroizing;

use super::access::Fleet;
use super::given;
use crate::args::KitArgs;
use crate::context::Context;
use crate::error::{Failure, Outcome};

/// Fewest characters of the passphrase of a new kit. Whoever has the file can try passphrases for as long as they like.
const SHORTEST: usize = 12;
/// Bytes of a key file.
const KEY_BYTES: usize = 32;

pub(in crate::commands) fn run(args: &KitArgs, context: &mut Context) -> Outcome {
    match (&args.out, &args.check) {
        (Some(path), _) => make(args, path, context),
        (_, Some(path)) => check(args, path, context),
        // The parser demands one of the two.
        (None, None) => Err(Failure::invalid("name a file with --out or --check")),
    }
}

/// What the operator gave to seal or open with.
enum Given {
    Passphrase(Zeroizing<String>),
    KeyFile(MasterKey),
}

impl Given {
    fn of(args: &KitArgs, context: &Context) -> Outcome<Self> {
        if let Some(path) = &args.key_file {
            return key_file(path).map(Self::KeyFile);
        }
        if let Some(path) = &args.passphrase_file {
            return given::first_line("--passphrase-file", path).map(Self::Passphrase);
        }
        let declared = resolve::recovery_passphrase(&context.environment).accept();
        let declared = declared.map_err(undercroft_palace::Error::Declaration)?;
        declared.map(|text| Self::Passphrase(Zeroizing::new(text))).ok_or_else(|| {
            Failure::invalid(
                "a recovery kit is sealed: declare UNDERCROFT_RECOVERY_PASSPHRASE, or name a file with --passphrase-file or --key-file",
            )
        })
    }

    fn secret(&self) -> KitSecret<'_> {
        match self {
            Self::Passphrase(text) => KitSecret::Passphrase(text.as_bytes()),
            Self::KeyFile(key) => KitSecret::KeyFile(key),
        }
    }

    fn refuse_short(&self) -> Outcome {
        match self {
            Self::Passphrase(text) if text.chars().count() < SHORTEST => Err(Failure::invalid(format!(
                "the passphrase of a recovery kit needs at least {SHORTEST} characters; use a longer one, or --key-file"
            ))),
            _ => Ok(()),
        }
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Passphrase(_) => "the passphrase",
            Self::KeyFile(_) => "the key file",
        }
    }
}

fn key_file(path: &Path) -> Outcome<MasterKey> {
    let unusable = |problem: &str| Failure::invalid(format!("--key-file {}: {problem}", path.display()));
    let file = regular::open(path).map_err(|error| unusable(&error.to_string()))?;
    let about = file.metadata().map_err(|error| unusable(&error.to_string()))?;
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o077 != 0 {
        return Err(unusable("others can read it; change that: chmod 600 FILE"));
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(KEY_BYTES + 1));
    let read = file.take(KEY_BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| unusable(&error.to_string()))?;
    MasterKey::from_bytes(&bytes)
        .map_err(|_| unusable("a key file has exactly 32 bytes; draw one: head -c 32 /dev/urandom > FILE"))
}

fn make(args: &KitArgs, path: &Path, context: &mut Context) -> Outcome {
    // Everything that can be wrong here is found before the state is asked for.
    let given = Given::of(args, context)?;
    given.refuse_short()?;
    given::refuse_taken(path)?;
    let key = resolve::orchestrator_key(&context.environment).accept();
    let key = key.map_err(undercroft_palace::Error::Declaration)?.map(Zeroizing::new);
    let now = u64::try_from(SystemClock.now_micros() / 1_000_000)
        .map_err(|_| Failure::invalid("this machine's clock stands before 1970; set it"))?;
    let fleet = Fleet::of(&args.fleet, context, "cluster status")?;
    let state =
        fleet.fetch(if args.stale { "/admin/recovery-kit?stale=true" } else { "/admin/recovery-kit" })?;
    let sealed = kit::seal(given.secret(), &Kit::new(now, state, key)?.encode(), &OsEntropy)?;
    given::write_new(path, &sealed)?;
    // It counts once it was read back, and opened as it will be on the day when it is needed.
    let contents = opened(path, &given)?.contents();
    if context.out.is_json() {
        return context.out.object(&object(path, sealed.len(), &contents));
    }
    let (path, bytes) = (path.display(), sealed.len());
    context.out.stored_line(&format!(
        "Recovery kit written and read back: {path} (0600, {bytes} bytes), sealed under {}.",
        given.name()
    ))?;
    lines(&contents).iter().try_for_each(|line| context.out.line(line))?;
    context.out.line(
        "Not in it: the fleet's master key and the CA's folder. Keep copies of them, each in another place.",
    )?;
    context
        .out
        .line("What is purged later lives on in it: after a purge make a new kit and destroy this one.")
}

fn check(args: &KitArgs, path: &Path, context: &mut Context) -> Outcome {
    let given = Given::of(args, context)?;
    let contents = opened(path, &given)?.contents();
    if context.out.is_json() {
        let bytes = fs::metadata(path).map(|about| about.len()).unwrap_or_default();
        return context.out.object(&object(path, bytes as usize, &contents));
    }
    context.out.stored_line(&format!("RECOVERY KIT OK: {}", path.display()))?;
    lines(&contents).iter().try_for_each(|line| context.out.line(line))
}

fn opened(path: &Path, given: &Given) -> Outcome<Kit> {
    let file = read(path).map_err(|error| {
        let class = match error.kind() {
            std::io::ErrorKind::NotFound => ErrorClass::NotFound,
            _ => ErrorClass::Unavailable,
        };
        Failure::Refused {
            class,
            message: format!("cannot read the recovery kit {}: {error}", path.display()),
        }
    })?;
    Ok(Kit::decode(&kit::open(given.secret(), &file)?)?)
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    /// What is around the largest state.
    const AROUND: u64 = 4096;
    let most = limits::SNAPSHOT_BYTES as u64 + AROUND;
    let file = regular::open(path)?;
    let length = file.metadata()?.len();
    if length > most {
        return Err(std::io::Error::other(format!("it is over {most} bytes, as no kit is")));
    }
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn object(path: &Path, bytes: usize, contents: &Contents) -> Value {
    json!({ "path": path.display().to_string(), "bytes": bytes, "contents": contents })
}

fn lines(contents: &Contents) -> Vec<String> {
    let moment = |seconds: u64| rfc3339(i64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000));
    let Contents { members, nodes, shards, tenants, vaults, dropped, generations, .. } = contents;
    let key = if contents.orch_key {
        "in it"
    } else {
        "NOT in it: declare UNDERCROFT_ORCH_KEY when you make a kit, or keep a copy of it; without it every token is dead"
    };
    vec![
        format!("cluster:      {}", contents.cluster),
        format!(
            "made:         {}, newest decision {}",
            moment(contents.made_at),
            moment(contents.last_write)
        ),
        format!(
            "tenants:      {tenants}, with {vaults} vaults, and {dropped} dropped ones that archives may need"
        ),
        format!(
            "generations:  {generations} of keys, sealed for nodes; {} credentials, {} witnesses",
            contents.credentials, contents.witnesses
        ),
        format!(
            "fleet:        {shards} shards, {nodes} nodes, {members} members, map version {}",
            contents.map_version
        ),
        format!("token key:    {key}"),
    ]
}
