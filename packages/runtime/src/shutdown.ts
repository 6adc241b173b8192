import type { Logger } from './logger.ts';
import { ConfigError } from './config.ts';

const STOP_WITHIN_MS = 9_000;

export interface RunningService {
  readonly log: Logger;
  /** Steps that close what was opened: stop taking work first, let go of connections last. */
  readonly close: ReadonlyArray<() => unknown>;
}

/** Runs a service: SIGTERM or SIGINT closes what `start` opened, in that order, once, and exits 0 within 10 s; before `start` is done there
 *  is nothing to finish. A fault at start is one clear line and exit code 1. */
export const runService = async (start: () => Promise<RunningService>): Promise<void> => {
  let running: RunningService | undefined;
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (!running) process.exit(0);
    if (stopping) return;
    stopping = true;
    void stop(running, signal);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  try {
    running = await start();
  } catch (error) {
    process.stderr.write(`${startFault(error)}\n`);
    process.exit(1);
  }
};

const stop = async ({ log, close }: RunningService, signal: string): Promise<void> => {
  log.info({ signal }, 'stopping');
  setTimeout(() => {
    log.error('did not stop in time');
    process.exit(1);
  }, STOP_WITHIN_MS).unref();
  for (const step of close) {
    try {
      await step();
    } catch (error) {
      log.warn({ err: error }, 'a step of stopping failed');
    }
  }
  log.info('stopped');
  process.exit(0);
};

const startFault = (error: unknown): string => {
  if (error instanceof ConfigError) return error.message;
  const { code, port } = error as { code?: string; port?: number };
  if (code === 'EADDRINUSE') return `port ${port} is taken: set PORT (with npm start: PORT_OFFSET) to a free one`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
};
