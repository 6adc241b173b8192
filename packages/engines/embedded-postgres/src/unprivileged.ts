import { execFileSync } from 'node:child_process';
import { accessSync, constants, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

const NAME = 'postgres';

/** The account that PostgreSQL runs under. PostgreSQL refuses to run as root, so for root this is the system account
 *  `postgres`, created if it is missing. For any other user it is null: PostgreSQL runs as the caller.
 *  Throws if the account cannot be created. */
export const unprivilegedAccount = (): Account | null => {
  if (process.getuid?.() !== 0) return null;
  return find() ?? create();
};

/** The command and arguments that run `file` under `account`, which must be able to reach `file` and `paths`.
 *  If a folder above them is closed to the account (a checkout in a private folder of root), `setpriv` gives it one
 *  right of root, to read and search what is closed to it, and no way to get another.
 *  Throws if `setpriv` is missing; the message says what to do. */
export const asAccount = (account: Account | null, file: string, args: readonly string[], paths: readonly string[]) => {
  const closed =
    account && [file, ...paths].map((path) => closedFolder(path, account)).find((folder) => folder !== null);
  if (!account || !closed) return { file, args, options: account ?? {} };
  const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find(isExecutable);
  if (!setpriv) {
    throw new Error(
      `${closed} is closed to the account "${NAME}" that PostgreSQL runs under. ` +
        'Start as a normal user. Or move both DATA_DIR and the project into folders that every account may enter.',
    );
  }
  return {
    file: setpriv,
    args: [...restrictions(account, rightToEnter(readFileSync('/proc/self/status', 'utf8'))), file, ...args],
    options: {},
  };
};

/** The right of root with which a process enters closed folders: `dac_read_search`. Where this process itself lacks it,
 *  as by default in a container, it is `dac_override`, which also writes. `status` is /proc/self/status. */
export const rightToEnter = (status: string): 'dac_read_search' | 'dac_override' => {
  const permitted = BigInt(`0x${/^CapPrm:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return (permitted & (1n << CAP_DAC_READ_SEARCH)) === 0n ? 'dac_override' : 'dac_read_search';
};

const CAP_DAC_READ_SEARCH = 2n;

const restrictions = ({ uid, gid }: Account, right: string): string[] => [
  `--reuid=${uid}`,
  `--regid=${gid}`,
  '--clear-groups',
  // PostgreSQL finds its programs with access(2), which ignores the right for non-root users without this.
  '--securebits=+no_setuid_fixup',
  '--no-new-privs',
  ...['--bounding-set', '--inh-caps', '--ambient-caps'].map((set) => `${set}=-all,+${right}`),
];

const find = (): Account | null => {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${NAME}:`));
  if (!line) return null;
  const [, , uid, gid] = line.split(':');
  return { uid: Number(uid), gid: Number(gid) };
};

const create = (): Account => {
  try {
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', NAME], {
      stdio: 'pipe',
    });
  } catch (cause) {
    throw new Error(
      `PostgreSQL refuses to run as root, and the account "${NAME}" could not be created. Start as a normal user.`,
      { cause },
    );
  }
  const account = find();
  if (!account) throw new Error(`the account "${NAME}" was created but is not in /etc/passwd`);
  return account;
};

/** The first folder above `path` that `account` may not search, or null if it may search all of them. */
const closedFolder = (path: string, account: Account): string | null => {
  for (let folder = dirname(realpathSync(path)); ; folder = dirname(folder)) {
    const { mode, uid, gid } = statSync(folder);
    const search = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & search) === 0) return folder;
    if (folder === join(folder, '..')) return null;
  }
};

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
