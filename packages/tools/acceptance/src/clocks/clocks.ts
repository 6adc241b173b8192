import { chmodSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reportSkipped } from '@cpg/local-chain';

/** A process of a stack with a clock of its own, by the folder of its package. PostgreSQL shares that of the
 *  launcher. */
const FILES = {
  gateway: 'gateway',
  orders: 'orders',
  payments: 'payments',
  dispatcher: 'webhook-dispatcher',
  eventstore: 'embedded-eventstore',
  kafka: 'embedded-kafka',
  postgres: 'local-stack',
} as const;

export type Clock = keyof typeof FILES;

export const SERVICES: readonly Clock[] = ['gateway', 'orders', 'payments', 'dispatcher'];
export const ALL_CLOCKS = Object.keys(FILES) as readonly Clock[];

export interface Clocks {
  /** Sets clocks of running and later processes: how far they are ahead of this process's, in seconds. */
  readonly set: (clocks: readonly Clock[], aheadSeconds: number) => void;
  /** The environment of a launcher whose processes have these clocks. */
  readonly env: NodeJS.ProcessEnv;
  readonly remove: () => void;
}

/** Clocks that differ from that of this process, by libfaketime. Only wall clocks are changed: as on a machine whose
 *  clock is set, timers go on. */
export const createClocks = (): Clocks => {
  if (!LIBRARY) throw new Error('libfaketime is missing');
  const folder = mkdtempSync(join(tmpdir(), 'cpg-clocks-'));
  // PostgreSQL runs under another account.
  chmodSync(folder, 0o755);
  const fileOf = (clock: Clock) => join(folder, FILES[clock]);
  const set: Clocks['set'] = (clocks, aheadSeconds) => {
    for (const clock of clocks) {
      const file = fileOf(clock);
      writeFileSync(`${file}.new`, `${aheadSeconds < 0 ? '' : '+'}${aheadSeconds}`);
      renameSync(`${file}.new`, file);
    }
  };
  set(ALL_CLOCKS, 0);
  return {
    set,
    env: {
      LD_PRELOAD: LIBRARY,
      NODE_OPTIONS: `--import ${new URL('own-clock.mjs', import.meta.url).href}`,
      CLOCKS_FOLDER: folder,
      FAKETIME_TIMESTAMP_FILE: fileOf('postgres'),
      // Each question reads the file, so that a change counts at once.
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      // Files keep their true times.
      NO_FAKE_STAT: '1',
    },
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
      removeLeftovers();
    },
  };
};

/** Removes the shared memory of ended processes. libfaketime leaves it behind when they are killed, and a later process
 *  with the same id could not start. */
const removeLeftovers = (): void => {
  for (const name of readdirSync('/dev/shm')) {
    const pid = /^(?:sem\.faketime_sem|faketime_shm)_(\d+)$/.exec(name)?.[1];
    if (pid && !existsSync(`/proc/${pid}`)) rmSync(join('/dev/shm', name), { force: true });
  }
};

/** The file of libfaketime, which Debian puts below a folder named after the processor; null if it is missing. */
const findLibrary = (): string | null => {
  if (process.env.LIBFAKETIME) return process.env.LIBFAKETIME;
  const folders = ['/usr/lib', '/usr/lib64'].filter((folder) => existsSync(folder));
  return (
    folders
      .flatMap((folder) => [folder, ...readdirSync(folder).map((name) => join(folder, name))])
      .map((folder) => join(folder, 'faketime/libfaketimeMT.so.1'))
      .find((file) => existsSync(file)) ?? null
  );
};

const LIBRARY = process.platform === 'linux' ? findLibrary() : null;

if (!LIBRARY)
  reportSkipped('tests of wrong clocks are skipped: libfaketime is missing; on Debian, apt-get install faketime');

/** Whether tests can set the clocks of a stack. */
export const canSetClocks = LIBRARY !== null;
