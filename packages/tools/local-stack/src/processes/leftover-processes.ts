import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LaunchError } from '../config.ts';
import { commandOf, type Signals, signalsOf, waitUntil } from './process-table.ts';

/** The argument that identifies a process of the stack that uses `dataDir`. */
export const dataDirArgument = (dataDir: string): string => `--data-dir=${dataDir}`;

/** The arguments that make the chain of `dataDir` keep its blocks. They identify its process too. */
export const stateArguments = (dataDir: string): ['--state', string] => ['--state', join(dataDir, 'chain.json')];

export const postgresFolder = (dataDir: string): string => join(dataDir, 'postgres');

interface LeftoverProcess extends Signals {
  readonly name: string;
  readonly pid: number;
}

const STOP_TIMEOUT_MS = 8_000;
const KILL_TIMEOUT_MS = 2_000;

/** Stops the processes that a killed launcher left running on this data folder. Returns their names. A recorded process
 *  id is used only if the command line of the process names the folder, because the id may belong to another process
 *  now. */
export const stopLeftoverProcesses = async (dataDir: string): Promise<string[]> => {
  const leftovers = recordedProcesses(dataDir)
    .filter(({ pid }) => isOurs(pid, dataDir))
    .map(({ name, pid }): LeftoverProcess => ({ name, pid, ...signalsOf(name) }));
  const allEnded = () => leftovers.every(({ pid }) => !isOurs(pid, dataDir));
  for (const { name, pid, stop } of leftovers) sendSignal(name, pid, stop);
  if (!(await waitUntil(allEnded, STOP_TIMEOUT_MS))) {
    for (const { name, pid, kill } of leftovers) if (isOurs(pid, dataDir)) sendSignal(name, pid, kill);
    if (!(await waitUntil(allEnded, KILL_TIMEOUT_MS)))
      throw new LaunchError(
        `processes of an earlier start on ${dataDir} do not stop: ${leftovers.map(({ name, pid }) => `${name} (${pid})`).join(', ')}`,
      );
  }
  return leftovers.map(({ name }) => name);
};

const recordedProcesses = (dataDir: string): { name: string; pid: number }[] => {
  const processes = Object.entries(readJson(join(dataDir, 'processes.json'))).map(([name, pid]) => ({
    name,
    pid: Number(pid),
  }));
  // PostgreSQL records its process id itself, earlier than the launcher can.
  const postgres = Number(readText(join(postgresFolder(dataDir), 'postmaster.pid')).split('\n')[0]);
  return postgres > 0 && !processes.some(({ pid }) => pid === postgres)
    ? [...processes, { name: 'postgres', pid: postgres }]
    : processes;
};

const isOurs = (pid: number, dataDir: string): boolean => {
  const command = `${commandOf(pid) ?? ''} `;
  return [dataDirArgument(dataDir), `-D ${postgresFolder(dataDir)}`, stateArguments(dataDir).join(' ')].some(
    (argument) => command.includes(`${argument} `),
  );
};

const sendSignal = (name: string, pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ESRCH') return;
    throw new LaunchError(
      `${name} (${pid}) is still running since an earlier start and belongs to another user: stop it first`,
      {
        cause,
      },
    );
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
