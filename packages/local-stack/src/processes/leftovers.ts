import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LaunchError } from '../launch-error.ts';
import { commandOf, waitUntil } from './process-table.ts';
import { type Signals, signalsOf } from './signals.ts';

/** The argument by which a process of a stack is known for what it is. */
export const markOf = (dataDir: string): string => `--data-dir=${dataDir}`;

export const postgresFolder = (dataDir: string): string => join(dataDir, 'postgres');

interface Leftover extends Signals {
  readonly name: string;
  readonly pid: number;
}

const ASKED_WITHIN_MS = 8_000;
const ENDED_WITHIN_MS = 2_000;

/** Ends what a launcher that was killed left running on this data folder. An id in its files counts only while the process behind
 *  it carries the folder's name. Returns the names of what was ended. */
export const endLeftovers = async (dataDir: string): Promise<string[]> => {
  const left = recorded(dataDir)
    .filter(({ pid }) => isOurs(pid, dataDir))
    .map(({ name, pid }): Leftover => ({ name, pid, ...signalsOf(name) }));
  const gone = () => left.every(({ pid }) => !isOurs(pid, dataDir));
  for (const { name, pid, ask } of left) signal(name, pid, ask);
  if (!(await waitUntil(gone, ASKED_WITHIN_MS))) {
    for (const { name, pid, insist } of left) if (isOurs(pid, dataDir)) signal(name, pid, insist);
    if (!(await waitUntil(gone, ENDED_WITHIN_MS)))
      throw new LaunchError(
        `what runs on ${dataDir} since an earlier start does not end: ${left.map(({ name, pid }) => `${name} (${pid})`).join(', ')}`,
      );
  }
  return left.map(({ name }) => name);
};

const recorded = (dataDir: string): { name: string; pid: number }[] => {
  const processes = Object.entries(readJson(join(dataDir, 'processes.json'))).map(([name, pid]) => ({
    name,
    pid: Number(pid),
  }));
  // PostgreSQL writes down its own id, earlier than we can.
  const postgres = Number(readText(join(postgresFolder(dataDir), 'postmaster.pid')).split('\n')[0]);
  return postgres > 0 && !processes.some(({ pid }) => pid === postgres)
    ? [...processes, { name: 'postgres', pid: postgres }]
    : processes;
};

const isOurs = (pid: number, dataDir: string): boolean => {
  const command = `${commandOf(pid) ?? ''} `;
  return [markOf(dataDir), `-D ${postgresFolder(dataDir)}`].some((mark) => command.includes(`${mark} `));
};

const signal = (name: string, pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ESRCH') return;
    throw new LaunchError(`${name} (${pid}) still runs since an earlier start, under another account: end it first`, {
      cause,
    });
  }
};

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

const readJson = (path: string): Record<string, unknown> => {
  try {
    return JSON.parse(readText(path)) as Record<string, unknown>;
  } catch {
    return {};
  }
};
